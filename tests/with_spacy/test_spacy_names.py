"""A component whose attributes have other names, or that another pipeline lends, is the one that everything follows."""

import numpy as np
import pytest

spacy = pytest.importorskip("spacy")
from spacy.tokens import Doc, DocBin  # noqa: E402
from spacy.vocab import Vocab  # noqa: E402

from spacy_phonemic import rhymes  # noqa: E402
from spacy_phonemic.columns import token_columns  # noqa: E402
from spacy_phonemic.noise import with_mark_errors  # noqa: E402
from spacy_phonemic.reading import reading_of  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:spacy")

#: A reading that no default has, and names under which other plugins own nothing.
PHRASES = {"phrases": {"他行": "ta1 hang2"}}
OWN = {"attrs": {"phonemic": "own_phonemic"}}


def pipeline(lang="zh", **config):
    nlp = spacy.blank(lang)
    nlp.add_pipe("phonemic", config=config)
    return nlp


@pytest.mark.parametrize("tokenizer", [{}, {"@tokenizers": "spacy_phonemic.SyllableTokenizer.v1"}])
def test_features_follow_a_component_with_another_name(tokenizer):
    nlp = spacy.blank("zh", config={"nlp": {"tokenizer": tokenizer}} if tokenizer else {})
    nlp.add_pipe("phonemic", config=OWN | PHRASES)
    doc, usual = nlp("他行"), pipeline(**PHRASES)("他行")
    assert reading_of(doc).encoding.ids.tolist() == doc._.own_phonemic.ids.tolist() == usual._.phonemic.ids.tolist()
    columns = [token_columns(each, ["NORM"], ["syllable"])[-1] for each in (doc, usual)]
    assert columns[0].tolist() == columns[1].tolist()
    assert rhymes(doc[1], usual[1])
    assert not rhymes(doc[1], spacy.blank("zh")("行")[0])


def test_errors_in_training_follow_it():
    nlp = pipeline("vi", **OWN, word_joiner="_")
    [written] = with_mark_errors([nlp("sinh_viên trường đại_học")], 0.9, np.array([True]))
    assert reading_of(written).way.tokenizer.word_joiner == "_"


def test_the_encoder_follows_it():
    pytest.importorskip("torch")
    vectors = []
    for config in (PHRASES, OWN | PHRASES):
        nlp = pipeline(**config)
        encoder = {"@architectures": "spacy_phonemic.PhonemicBert.v1", "preset": "micro"}
        nlp.add_pipe("phonemic_transformer", config={"model": encoder})
        spacy.util.fix_random_seed(0)
        nlp.initialize()
        vectors.append(nlp("他行").tensor)
    assert np.allclose(*vectors)
    [positions] = nlp.get_pipe("phonemic_transformer").positions([nlp("他行")])
    assert positions.ids.tolist() == nlp("他行")._.own_phonemic.ids.tolist()


def test_a_saved_pipeline_knows_the_name(tmp_path):
    pipeline(**OWN, **PHRASES).to_disk(tmp_path / "pipeline")
    nlp = spacy.blank("zh", config={"nlp": {"tokenizer": {"@tokenizers": "spacy_phonemic.SyllableTokenizer.v1"}}})
    nlp.add_pipe("phonemic", config=OWN | PHRASES)
    nlp.to_disk(tmp_path / "syllables")
    loaded = [spacy.load(tmp_path / name) for name in ("pipeline", "syllables")]
    vocabs = [*(each.vocab for each in loaded), Vocab().from_disk(tmp_path / "pipeline" / "vocab")]
    docs = [*(nlp("他行") for nlp in loaded), *(Doc(vocab, ["他", "行"], [False, False]) for vocab in vocabs)]
    assert [reading_of(doc).encoding.triples[1].onset for doc in docs] == ["x"] * 5


def test_two_other_names_are_told_apart_by_nobody():
    nlp = pipeline(**OWN)
    others = {name: f"second_{name}" for name in ("phonemic", "onset", "rime", "tone", "ipa", "syllables")}
    others |= {name: f"second_{name}" for name in ("is_syllable", "reading", "rhymes")}
    nlp.add_pipe("phonemic", name="second", config={"attrs": others, "sandhi": True})
    doc = nlp("他行")
    with pytest.raises(ValueError, match=r"as 'own_phonemic' and as 'second_phonemic'.*leave 'phonemic' out"):
        rhymes(doc[0], doc[1])
    doc[1:2]._.second_reading = "háng"
    assert [doc[:]._.reading, doc[:]._.second_reading] == ["tā xíng", "tā háng"]


def test_a_sourced_component_reads_all_docs_of_its_new_pipeline():
    source, nlp = pipeline(**PHRASES), spacy.blank("zh")
    nlp.add_pipe("phonemic", source=source)
    doc = nlp("他行")
    assert doc[:]._.reading == "tā háng"
    [saved] = DocBin(docs=[doc]).get_docs(nlp.vocab)
    for each in (nlp.make_doc("他行"), doc[:].as_doc(), saved, *nlp.pipe(["他行"] * 3, n_process=2)):
        assert each[:]._.reading == "tā háng"


def test_a_component_that_is_given_a_doc_of_another_pipeline_changes_nothing_there():
    nlp, other = pipeline(), pipeline(**PHRASES)
    options = dict(nlp.vocab.lookups.get_table("phonemic"))
    assert other(nlp.make_doc("他行"))[:]._.reading == "tā háng"
    assert nlp.make_doc("他行")[:]._.reading == nlp("他行")[:].as_doc()[:]._.reading == "tā xíng"
    assert dict(nlp.vocab.lookups.get_table("phonemic")) == options


@pytest.mark.filterwarnings("error::UserWarning")  # which the other process tells of
def test_other_processes_of_a_sourced_component_warn():
    source, nlp = pipeline(**PHRASES), spacy.blank("zh")
    nlp.add_pipe("phonemic", source=source)
    with pytest.raises(ValueError, match=r"read without its options: .*spacy\.load\(\.\.\., vocab=nlp\.vocab\)"):
        list(nlp.pipe(["他行"], n_process=2))
