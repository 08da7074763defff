"""spaCy's own operations on Docs, with arrays stored in them and without."""

import hashlib
import json
import pickle
from pathlib import Path

import numpy as np
import pytest

import phonemic
from phonemic import OtherTablesWarning, Tokenizer

spacy = pytest.importorskip("spacy")
from spacy.tokens import Doc, DocBin  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:spacy", "ignore::DeprecationWarning:weasel")

from spacy_helpers import NLP, PLAIN_VI, VI, ZH, check, pipeline, run_script  # noqa: E402


@pytest.mark.parametrize("store", [False, True])
class TestDocs:
    """spaCy's own operations on Docs; with arrays in them and without."""

    def test_bytes(self, store, vi):
        doc = pipeline("vi", store=store)(VI)
        check(doc, vi)
        check(Doc(pipeline("vi").vocab).from_bytes(doc.to_bytes()), vi)
        check(Doc(spacy.blank("vi", config=PLAIN_VI).vocab).from_bytes(doc.to_bytes()), vi)

    @pytest.mark.parametrize("user_data", [False, True])
    def test_doc_bin(self, store, zh, user_data):
        nlp = pipeline("zh", store=store)
        docs = list(nlp.pipe([ZH, "", "行"] * 3))
        read = DocBin().from_bytes(DocBin(docs=docs, store_user_data=user_data).to_bytes())
        for doc in read.get_docs(spacy.blank("zh").vocab):
            check(doc, zh)

    def test_pickle_and_copy(self, store, zh):
        doc = pipeline("zh", store=store)(ZH)
        for made in (pickle.loads(pickle.dumps(doc)), doc.copy()):
            assert made.text == ZH
            check(made, zh)

    @pytest.mark.filterwarnings("ignore:.*W101")
    def test_joined_and_cut(self, store, vi):
        nlp = pipeline("vi", store=store)
        docs = list(nlp.pipe([VI, "giếng nước", ""]))
        check(Doc.from_docs(docs), vi)
        for copy in (False, True):
            doc = docs[0][1:4].as_doc(copy_user_data=copy)
            assert doc.text.strip() == "giếng ở quốc"
            check(doc, vi)

    def test_retokenized(self, store, vi):
        doc = pipeline("vi", store=store)("Hoà bình và chiếngiếng")
        _ = doc[0]._.rime
        with doc.retokenize() as retokenizer:
            retokenizer.merge(doc[0:2])
        check(doc, vi)
        assert (doc[0].text, doc[0]._.rime) == ("Hoà bình", "u̯a iɲ")
        with doc.retokenize() as retokenizer:
            retokenizer.split(doc[0], ["Hoà b", "ình"], [doc[1], doc[1]])
        check(doc, vi)
        assert [token._.rime for token in doc][:2] == ["u̯a iɲ", ""]  # a syllable belongs to the token it begins in

    def test_several_processes(self, store, vi, tmp_path):
        """Forked without stored arrays, and spawned with them."""
        code = (
            "import multiprocessing, spacy, json, sys\n"
            "if __name__ == '__main__':\n"
            "    multiprocessing.set_start_method(sys.argv[1], force=True)\n"
            "    nlp = spacy.blank('vi', config={'nlp': {'tokenizer': "
            "{'@tokenizers': 'spacy_phonemic.SyllableTokenizer.v1'}}})\n"
            f"    nlp.add_pipe('phonemic', config={{'strict': True, 'store': {store}}})\n"
            "    docs = nlp.pipe(['hoc giếng', 'ka', ''] * 20, n_process=2, batch_size=7)\n"
            "    print(json.dumps([doc._.ipa for doc in docs]))\n"
        )
        done = run_script(tmp_path, code, "spawn" if store else "fork")
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout) == ["zieŋ˧˥", "", ""] * 20


def test_stored_arrays_are_what_a_reader_without_the_component_gets(vi):
    doc = pipeline("vi", store=True)(VI)
    kept = Doc(spacy.blank("en").vocab).from_bytes(doc.to_bytes())
    check(kept, vi)
    positions = kept.user_data["._.", "phonemic", None, None]["positions"]
    assert np.array_equal(positions[:, 0], vi.encode(VI).ids)
    assert np.array_equal(positions[:, 1:], vi.encode(VI).spans)


def test_stored_arrays_name_the_tables_that_they_were_made_by(vi):
    doc = pipeline("vi", store=True)(VI)
    stored = doc.user_data["._.", "phonemic", None, None]
    tables = Path(phonemic.__file__).parent / "lexicon" / "tables-vi.bin"
    assert stored["tables"] == {"vi": hashlib.sha256(tables.read_bytes()).hexdigest()[:8]}
    stored["tables"] = {"vi": "0" * 8}
    other = Doc(spacy.blank("en").vocab).from_bytes(doc.to_bytes())
    with pytest.warns(OtherTablesWarning, match=r"a Doc's stored positions: was saved with other tables \(vi\)"):
        check(other, vi)
    stored["tables"] = 5
    check(Doc(spacy.blank("vi").vocab).from_bytes(doc.to_bytes()), vi)


@pytest.mark.parametrize(
    "wrong", [[1], {"lang": "vi"}, {"lang": "xx", "crc": 0, "positions": np.zeros((1, 3), np.int32)}]
)
def test_damaged_user_data_is_read_anew(vi, wrong):
    doc = pipeline("vi")(VI)
    made = doc.copy()
    made.user_data["._.", "phonemic", None, None] = wrong
    check(made, vi)


def test_a_doc_is_encoded_once(monkeypatch):
    nlp = spacy.blank("vi", config=PLAIN_VI)
    nlp.add_pipe("phonemic")
    calls = []
    encode = Tokenizer.encode
    monkeypatch.setattr(Tokenizer, "encode", lambda self, text: calls.append(text) or encode(self, text))
    doc = nlp(VI)
    assert calls == []
    assert len([(token._.onset, token._.ipa, token._.is_syllable) for token in doc]) > 5
    assert calls == [VI]


def test_a_stored_batch_is_one_call(monkeypatch):
    nlp = spacy.blank("vi", config=PLAIN_VI)
    nlp.add_pipe("phonemic", config={"store": True})
    calls = []
    encode = Tokenizer.encode_batch
    monkeypatch.setattr(Tokenizer, "encode_batch", lambda self, *a, **k: calls.append(a) or encode(self, *a, **k))
    list(nlp.pipe([VI] * 100))
    assert len(calls) == 1


def test_a_dead_doc_leaves_nothing_behind():
    from spacy_phonemic.reading import _readings

    before = len(_readings["phonemic"])
    for doc in NLP["vi"].pipe([VI] * 50):
        _ = doc._.ipa
    del doc
    assert len(_readings["phonemic"]) <= before + 1


def test_a_doc_that_was_asked_before_it_was_filled():
    nlp = pipeline("vi")
    doc = Doc(nlp.vocab)
    assert len(doc._.phonemic) == 0
    doc.from_bytes(nlp.make_doc("Hà Nội").to_bytes())
    assert [token._.rime for token in doc] == ["a", "oi̯"]
    assert doc._.phonemic is doc._.phonemic
