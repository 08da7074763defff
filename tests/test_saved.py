"""Files that are read back: one clear error for each that is damaged, and no path that is named there is opened."""

import json
import os
import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phonemic import SavedTokenizerError, Tokenizer

pytestmark = pytest.mark.filterwarnings("ignore::phonemic.OtherTablesWarning")  # of damaged digests
SECRET = "root:x:0:0:top secret"
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    path = tmp_path_factory.mktemp("saved") / "tokenizer.json"
    Tokenizer("zh", word_joiner="_", phrases={"银行": "yin2 hang2", "行": "xing2"}, fallback="packed").save(path)
    return path


def written(path, state):
    path.write_text(json.dumps(state), "utf-8")
    return path


def names(error, path):
    assert str(path) in str(error)


@pytest.fixture
def secret(tmp_path):
    path = tmp_path / "secret"
    path.write_text(SECRET + "\n银行\tyin2 xing2\n", "utf-8")
    return path


class TestTokenizer:
    def test_no_path_of_phrases_is_followed(self, saved, secret, tmp_path):
        state = json.loads(saved.read_bytes())
        for phrases in (str(secret), [str(secret)], {"path": str(secret)}):
            with pytest.raises(SavedTokenizerError) as raised:
                Tokenizer.load(written(tmp_path / "t.json", state | {"phrases": phrases}))
            assert "top secret" not in str(raised.value)

    @pytest.mark.skipif(os.name != "posix", reason="needs a FIFO")
    def test_nothing_is_opened(self, saved, tmp_path):
        os.mkfifo(tmp_path / "pipe")  # to open it would wait for ever
        state = json.loads(saved.read_bytes())
        with pytest.raises(SavedTokenizerError, match="phrases is of type str"):
            Tokenizer.load(written(tmp_path / "t.json", state | {"phrases": str(tmp_path / "pipe")}))

    @given(st.sampled_from(["lang", "strict", "word_joiner", "phrases", "fallback", "format", "vocabulary_checksum"]),
           json_values)  # fmt: skip
    def test_other_values(self, saved, field, value):
        path = saved.with_name("mutated.json")
        state = json.loads(saved.read_bytes())
        written(path, state | {field: value})
        try:
            made = Tokenizer.load(path)
        except SavedTokenizerError as error:
            names(error, path)
        else:
            assert made.encode("银行").ids.tolist()

    def test_cut_and_changed_anywhere(self, saved):
        whole, path, chance = saved.read_bytes(), saved.with_name("mutated.json"), random.Random(1)
        for at in range(len(whole)):
            for data in (whole[:at], whole[:at] + bytes([chance.randrange(256)]) + whole[at + 1 :]):
                path.write_bytes(data)
                try:
                    Tokenizer.load(path).encode("银行")
                except SavedTokenizerError as error:
                    names(error, path)

    @pytest.mark.parametrize(
        "data", [b"[" * 100_000, b'{"a":' * 100_000, b"1" * 10_000, b"", b"\xff\xfe", b"null", b"[]"]
    )
    def test_nothing_like_it(self, tmp_path, data):
        (tmp_path / "t.json").write_bytes(data)
        with pytest.raises(SavedTokenizerError, match=r"t\.json"):
            Tokenizer.load(tmp_path / "t.json")


class TestOthers:
    def test_spacy(self, secret):
        pytest.importorskip("spacy", reason="needs the spacy extra")
        import spacy

        nlp = spacy.blank("zh", config={"nlp": {"tokenizer": {"@tokenizers": "spacy_phonemic.SyllableTokenizer.v1"}}})
        component = nlp.add_pipe("phonemic", config={"lang": "zh"})
        state = json.loads(component.to_bytes())
        for wrong in (state | {"phrases": str(secret)}, state | {"strict": 1}, {}, [], 1):
            with pytest.raises(SavedTokenizerError) as raised:
                component.from_bytes(json.dumps(wrong).encode())
            assert "top secret" not in str(raised.value)
        import srsly

        for options in (["zh", False, None, str(secret), "character"], ["zz"], 5):
            with pytest.raises(SavedTokenizerError) as raised:
                nlp.tokenizer.from_bytes(srsly.msgpack_dumps({"options": options}))
            assert "top secret" not in str(raised.value)

    def test_nltk(self, secret):
        nltk_phonemic = pytest.importorskip("nltk_phonemic", reason="needs the nltk extra")
        made = nltk_phonemic.PhonemicTagger("zh", phrases={"银行": "yin2 xing2"})
        again = nltk_phonemic.PhonemicTagger.decode_json_obj(made.encode_json_obj())
        assert again.tag(["银行"]) == made.tag(["银行"])
        for wrong in (["zh", False, None, str(secret), None, "character"], ["zh"], {}, None):
            with pytest.raises(SavedTokenizerError) as raised:
                nltk_phonemic.PhonemicTagger.decode_json_obj(wrong)
            assert "top secret" not in str(raised.value)

    def test_a_checkpoint(self, secret, tmp_path):
        pytest.importorskip("transformers", reason="needs the model extra")
        from phonemic_bert import PhonemicBertTokenizer

        PhonemicBertTokenizer("zh").save_pretrained(tmp_path)
        path = tmp_path / "phonemic.json"
        written(path, json.loads(path.read_bytes()) | {"phrases": str(secret)})
        with pytest.raises(SavedTokenizerError, match="phrases is of type str") as raised:
            PhonemicBertTokenizer.from_pretrained(tmp_path)
        assert "top secret" not in str(raised.value)


def parses(data):
    try:
        json.loads(data)
    except ValueError:
        return False
    return True


@pytest.mark.usefixtures("empty_figures")
class TestCorpus:
    @pytest.fixture
    def corpus(self, tmp_path):
        pytest.importorskip("pyarrow", reason="needs the corpus extra")
        pytest.importorskip("matplotlib", reason="needs the corpus extra")
        from phonemic.corpus import Options, Threads, prepare

        (tmp_path / "in.txt").write_text("Sáng nay bé ăn xôi.\n" * 50, "utf-8")
        self.make = lambda out: prepare(
            [str(tmp_path / "in.txt")], out, Options(Tokenizer("vi"), shard_bytes=300), Threads(1)
        )
        self.make(tmp_path / "corpus")
        return tmp_path / "corpus"

    @pytest.mark.parametrize(
        "name", ["../in.txt", "/etc/passwd", "a/b.parquet", "..", "", ".", "a\0b", "C:x", "a\\b", 5, None]
    )
    def test_no_name_leaves_the_folder(self, corpus, name):
        from phonemic.corpus import open_corpus
        from phonemic.errors import InputError

        manifest = json.loads((corpus / "manifest.json").read_bytes())
        manifest["shards"][0]["file"] = name
        written(corpus / "manifest.json", manifest)
        with pytest.raises(InputError, match=r"manifest\.json, shard 0"):
            open_corpus(corpus)

    @pytest.mark.parametrize("name", ["../victim", "/victim", "sub/victim"])
    def test_finishing_moves_nothing_out_or_in(self, corpus, name, tmp_path, monkeypatch):
        """partial/finish.json says which file gets which name."""
        from phonemic.corpus import preparation
        from phonemic.errors import InputError

        def stop(*arguments):
            raise OSError("stopped")

        with monkeypatch.context() as patch:
            patch.setattr(preparation, "write_report", stop)
            with pytest.raises(OSError, match="stopped"):
                self.make(tmp_path / "out")
        path = tmp_path / "out/partial/finish.json"
        plan = json.loads(path.read_bytes())
        (tmp_path / "out/victim").write_text("precious")
        (tmp_path / "victim").write_text("precious")
        for names in ({name: "shard-00000.parquet"}, {"plan.json": name}):
            written(path, plan | {"names": names})
            with pytest.raises(InputError, match="cannot be the name of a file of this folder"):
                self.make(tmp_path / "out")
        assert (tmp_path / "victim").read_text() == (tmp_path / "out/victim").read_text() == "precious"

    def test_damaged_manifests_are_one_error(self, corpus):
        from phonemic.corpus import open_corpus
        from phonemic.errors import InputError

        path, chance = corpus / "manifest.json", random.Random(2)
        whole = path.read_bytes()
        state = json.loads(whole)
        mutants = [whole[:at] for at in range(0, len(whole), 7)]
        mutants += [
            bytes(chance.randrange(256) if chance.random() < 0.002 else byte for byte in whole) for _ in range(300)
        ]
        for field in state:
            for value in (None, [], {}, "x", 5, [5], [{}], {"a": 1}):
                mutants.append(json.dumps(state | {field: value}).encode())
                mutants.append(json.dumps({name: old for name, old in state.items() if name != field}).encode())
        for data in mutants:
            path.write_bytes(data)
            try:
                list(open_corpus(corpus, verify=True))
            except InputError as error:
                names(error, corpus)

    def test_what_the_command_tells_of_a_finished_corpus(self, corpus):
        from phonemic.errors import InputError

        path = corpus / "manifest.json"
        state = json.loads(path.read_text("utf-8"))
        totals, source = state["totals"], state["sources"][0]
        mutants = [
            state | {"totals": totals | {field: value}}
            for field in totals
            for value in (None, "x", [5], 0.5, {"empty": "x"})
        ]
        mutants += [state | {"totals": {name: totals[name] for name in totals if name != field}} for field in totals]
        mutants += [state | {"sources": [source | {"damaged": value}]} for value in (None, "x", 5, [5], {"a": 1})]
        for mutant in [*mutants, {name: value for name, value in state.items() if name != "totals"}]:
            written(path, mutant)
            with pytest.raises(InputError) as error:
                self.make(corpus)
            names(error.value, corpus)

    def test_damaged_records_are_one_error(self, corpus, tmp_path, monkeypatch):
        from phonemic.corpus import preparation
        from phonemic.errors import InputError

        def stop(*arguments):
            raise OSError("stopped")

        with monkeypatch.context() as patch:
            patch.setattr(preparation, "_finish", stop)
            with pytest.raises(OSError, match="stopped"):
                self.make(tmp_path / "out")
        files = sorted((tmp_path / "out/partial").glob("*.json"))
        assert len(files) > 3
        chance = random.Random(3)
        for path in files:
            whole = path.read_bytes()
            for at in chance.sample(range(len(whole)), 12):
                for data in (whole[:at], whole[:at] + b"]" + whole[at + 1 :]):
                    if parses(data):
                        continue  # the byte was one of a name, say
                    path.write_bytes(data)
                    with pytest.raises(InputError):
                        self.make(tmp_path / "out")
            path.write_bytes(whole)
        Path(files[0]).write_bytes(files[0].read_bytes())
        assert self.make(tmp_path / "out")["shards"]
