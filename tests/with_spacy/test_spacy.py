"""The spaCy component on every tokenizer and through everything that spaCy does with Docs and pipelines."""

import doctest
import json
import pickle
import re
import subprocess
import sys
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.requirements import Requirement

from phonemic import SavedTokenizerError, Tokenizer, distance

spacy = pytest.importorskip("spacy")
from spacy.matcher import Matcher  # noqa: E402
from spacy.tokens import Doc, Span, Token  # noqa: E402

from spacy_phonemic.attributes import NAMES  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:spacy", "ignore::DeprecationWarning:weasel")

from spacy_helpers import (  # noqa: E402
    NLP,
    PLAIN_VI,
    SYLLABLES,
    VI,
    ZH,
    check,
    install,
    pipeline,
    said_by_installed,
    spacy_command,
)


def test_needs_no_import():
    code = (
        "import spacy, sys; nlp = spacy.blank('zh'); before = 'torch' in sys.modules; nlp.add_pipe('phonemic'); "
        "print([t._.ipa for t in nlp('行长')]); assert ('torch' in sys.modules) == before"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['xaŋ˧˥', 't͡ʂaŋ˨˩˦']"


def test_the_tutorial():
    page = Path(__file__).parents[2] / "docs" / "tutorials" / "spacy-sounds.md"
    blocks = re.findall(r"```pycon\n(.*?)```", page.read_text("utf-8"), re.DOTALL)
    test = doctest.DocTestParser().get_doctest(
        "\n".join(blocks), {}, "docs/tutorials/spacy-sounds.md", "docs/tutorials/spacy-sounds.md", 0
    )
    result = doctest.DocTestRunner().run(test)
    assert result.attempted > 25
    assert not result.failed


class TestTokenizers:
    def test_syllables(self, vi, zh):
        check(pipeline("vi")(VI), vi)
        check(pipeline("zh")(ZH), zh)

    def test_comma_in_the_token(self, vi):
        nlp = spacy.blank("vi", config=PLAIN_VI)
        nlp.add_pipe("phonemic")
        doc = nlp("Việt Nam, hoà bình.")
        assert [token.text for token in doc] == ["Việt", "Nam,", "hoà", "bình."]
        check(doc, vi)
        assert (doc[1]._.rime, doc[1]._.is_syllable, doc[0]._.is_syllable) == ("am", False, True)

    def test_words_that_hold_spaces(self, vi):
        pytest.importorskip("pyvi", reason="needs pyvi, spaCy's Vietnamese word segmenter")
        nlp = spacy.blank("vi")
        nlp.add_pipe("phonemic")
        doc = nlp("Sinh viên trường đại học bách khoa Hà Nội")
        assert any(" " in token.text for token in doc)
        check(doc, vi)
        assert all(len(token._.rime.split(" ")) == len(token.text.split(" ")) for token in doc)

    @pytest.mark.parametrize("segmenter", ["char", "jieba"])
    def test_chinese_segmenters(self, zh, segmenter):
        if segmenter == "jieba":
            pytest.importorskip("jieba", reason="needs jieba, a Chinese word segmenter")
        nlp = spacy.blank("zh", config={"nlp": {"tokenizer": {"segmenter": segmenter}}})
        nlp.add_pipe("phonemic")
        doc = nlp(ZH)
        check(doc, zh)
        assert doc._.ipa.startswith("in˧˥ xaŋ˧˥ xaŋ˧˥ t͡ʂaŋ˨˩˦")

    def test_pkuseg(self, zh, tmp_path):
        spacy_pkuseg = pytest.importorskip("spacy_pkuseg", reason="needs spacy-pkuseg, a Chinese word segmenter")
        sample = tmp_path / "words.txt"
        sample.write_text("银行 行长 觉得 还 不错 ， 了不起 。\n他 去 银行 了 。\n" * 5, encoding="utf-8")
        spacy_pkuseg.train(str(sample), str(sample), str(tmp_path / "model"), train_iter=2)
        nlp = spacy.blank("zh", config={"nlp": {"tokenizer": {"segmenter": "pkuseg"}}})
        nlp.tokenizer.initialize(pkuseg_model=str(tmp_path / "model"), pkuseg_user_dict="default")
        nlp.add_pipe("phonemic")
        doc = nlp(ZH)
        assert [token.text for token in doc][:2] == ["银行", "行长"]
        check(doc, zh)

    def test_words_given_by_hand(self, zh):
        nlp = pipeline("zh")
        check(nlp(Doc(nlp.vocab, words=["银行", "行长", "A1", "\u3000", "好"], spaces=[False] * 5)), zh)

    def test_english_tokens_and_empty_docs(self, vi):
        nlp = spacy.blank("en")
        nlp.add_pipe("phonemic", config={"lang": "vi"})
        doc = nlp("The cat's mèo sat.")
        check(doc, vi)
        assert (doc[1]._.onset, doc[1]._.rime, doc[1]._.is_syllable) == ("k", "at", True)  # lenient: an unmarked cát
        assert [doc[2]._.get(name) for name in ("onset", "rime", "tone", "ipa", "is_syllable")] == [
            "",
            "",
            "",
            "",
            False,
        ]
        for text in ("", " ", "\n\n", "\u0301", "🎉"):
            check(nlp(text), vi)

    @given(st.text(st.characters(exclude_categories=["Cs"]) | st.sampled_from("aệ ị_\u0301银行　\n"), max_size=30))
    def test_syllable_tokenizer_loses_nothing(self, text):
        for lang in ("vi", "zh"):
            doc = NLP[lang](text)
            assert doc.text == text
            check(doc, NLP[lang].tokenizer.tokenizer)
            for token in doc:
                if token._.is_syllable:
                    assert [token.text] == [syllable.text for syllable in token._.syllables]

    def test_syllable_tokenizer(self):
        nlp = spacy.blank("vi", config=SYLLABLES)
        doc = nlp(VI)
        assert [token.text for token in doc] == [
            *["Cái", "giếng", "ở", "quốc", "lộ", ",", "COVID", "-", "19", "🎉", " ", "hoà", "bình"]
        ]  # fmt: skip
        assert [doc.text for doc in nlp.tokenizer.pipe([VI, "", ZH] * 200)] == [VI, "", ZH] * 200
        joined = {"nlp": {"tokenizer": {**SYLLABLES["nlp"]["tokenizer"], "word_joiner": "_"}}}
        assert [token.text for token in spacy.blank("vi", config=joined)("hoà_bình")] == ["hoà", "_", "bình"]
        with pytest.raises(ValueError, match="SyllableTokenizer reads 'vi' and 'zh', not 'en'"):
            spacy.blank("en", config=SYLLABLES)

    def test_the_tokenizers_reading_is_not_taken_for_another(self):
        nlp = spacy.blank("zh", config=SYLLABLES)
        nlp.add_pipe("phonemic", config={"phrases": {"行长": "xing2 chang2"}})
        assert nlp("行长")._.ipa == "ɕiŋ˧˥ t͡ʂʰaŋ˧˥"


class TestOptions:
    def test_language(self):
        nlp = spacy.blank("en")
        with pytest.raises(ValueError, match=r"'en'.*config=\{'lang': 'vi'\}"):
            nlp.add_pipe("phonemic")
        with pytest.raises(ValueError, match="unknown language 'fr'"):
            nlp.add_pipe("phonemic", config={"lang": "fr"})

    def test_strict_and_joiner(self):
        assert pipeline("vi")("hoc")[0]._.is_syllable
        assert not pipeline("vi", strict=True)("hoc")[0]._.is_syllable
        nlp = spacy.blank("vi", config=PLAIN_VI)
        nlp.add_pipe("phonemic", config={"word_joiner": "_"})
        assert [len(token._.syllables) for token in nlp("hoà_bình")] == [2]

    def test_phrases_are_saved(self, tmp_path):
        nlp = pipeline("zh", phrases={"行长": "xing2 chang2"})
        nlp.to_disk(tmp_path / "pipeline")
        assert spacy.load(tmp_path / "pipeline")("行长")._.ipa == "ɕiŋ˧˥ t͡ʂʰaŋ˧˥"

    @pytest.mark.parametrize("name", ["phonemic", "phonemic_matcher"])
    def test_a_config_names_no_file(self, name, tmp_path):
        file = tmp_path / "own.tsv"
        file.write_text("secret", encoding="utf-8")
        with pytest.raises(TypeError, match=r"a config holds readings as phrases, not a file .*own\.tsv") as raised:
            spacy.blank("zh").add_pipe(name, config={"phrases": str(file)})
        assert "secret" not in str(raised.value)
        made = {"@tokenizers": "spacy_phonemic.SyllableTokenizer.v1", "phrases": str(file)}
        with pytest.raises(TypeError, match="a config holds readings as phrases"):
            spacy.blank("zh", config={"nlp": {"tokenizer": made}})

    def test_attributes_have_other_names_where_a_plugin_owns_them(self):
        Token.set_extension("tone", default="mine", force=True)
        try:
            with pytest.raises(
                ValueError, match=r"token\._\.tone .*another plugin.*'attrs': {'tone': 'phonemic_tone'}"
            ):
                pipeline("vi")
            doc = pipeline("vi", attrs={"tone": "thanh"})("giếng")
            assert (doc[0]._.tone, doc[0]._.thanh, doc[0]._.rime) == ("mine", "˧˥", "ieŋ")
        finally:
            Token.remove_extension("tone")
            pipeline("vi")
        assert pipeline("vi")("giếng")[0]._.tone == "˧˥"

    def test_two_languages_in_one_pipeline(self):
        nlp = spacy.blank("zh")
        nlp.add_pipe("phonemic")
        nlp.add_pipe("phonemic", name="viet", config={"lang": "vi", "attrs": {name: f"vi_{name}" for name in NAMES}})
        doc = nlp("giếng 行")
        assert doc._.vi_phonemic.vocabulary.lang == "vi"
        assert [token._.vi_rime for token in doc if token._.vi_rime] == ["ieŋ"]
        assert doc[-1]._.rime == "iŋ"

    @pytest.mark.parametrize(
        "attrs", [{}, {"phonemic": "other"}, {name: f"vi_{name}" for name in NAMES if name != "rime"}]
    )
    def test_two_that_differ_share_no_attributes(self, attrs):
        nlp = pipeline("zh")
        with pytest.raises(
            ValueError, match=r"'viet' reads in another way .*than 'phonemic'.* rime.* already: give each"
        ):
            nlp.add_pipe("phonemic", name="viet", config={"lang": "vi", "attrs": attrs})
        assert nlp.pipe_names == ["phonemic"]
        check(nlp("行长"), Tokenizer("zh"))
        nlp.add_pipe("phonemic", name="same", config={"attrs": attrs})
        assert nlp.pipe_names == ["phonemic", "same"]
        nlp = pipeline("zh")
        nlp.replace_pipe("phonemic", "phonemic", config={"lang": "vi"})
        check(nlp("giếng"), Tokenizer("vi"))

    @pytest.mark.parametrize(
        ("attrs", "message"),
        [({"ton": "x"}, "no attribute 'ton'"), ({"tone": "a b"}, "no"), ({"tone": "rime"}, "two attributes")],
    )
    def test_wrong_names(self, attrs, message):
        with pytest.raises(ValueError, match=message):
            pipeline("vi", attrs=attrs)

    def test_unread_docs_say_what_to_do(self):
        with pytest.raises(ValueError, match=r"nlp\.add_pipe"):
            _ = spacy.blank("en")("hello")[0]._.onset

    def test_analysis(self):
        analysis = pipeline("vi").analyze_pipes()
        assert analysis["attrs"]["token._.onset"] == {"assigns": ["phonemic"], "requires": []}
        assert "doc._.phonemic" in analysis["summary"]["phonemic"]["assigns"]
        assert not analysis["problems"]["phonemic"]
        assert all(Token.has_extension(name.split(".")[-1]) for name in analysis["attrs"] if name.startswith("token"))


class TestMatcher:
    def patterns(self, **values):
        matcher = Matcher(NLP["vi"].vocab)
        matcher.add("found", [[{"_": values}]])
        doc = NLP["vi"]("hoa nhà toà hoà tan giếng")
        return [doc[start].text for _, start, _ in matcher(doc)]

    def test_exact(self):
        assert self.patterns(rime="u̯a") == ["hoa", "toà", "hoà"]
        assert self.patterns(rime="u̯a", tone="˨˩") == ["toà", "hoà"]
        assert self.patterns(onset="h", rime="u̯a", tone="˧˧") == ["hoa"]

    def test_predicates(self):
        assert self.patterns(onset={"IN": ["h", "z"]}) == ["hoa", "hoà", "giếng"]
        assert self.patterns(rime={"REGEX": "a$"}) == ["hoa", "nhà", "toà", "hoà"]
        assert self.patterns(tone={"NOT_IN": ["˨˩"]}, is_syllable=True) == ["hoa", "tan", "giếng"]


class TestPipelines:
    def test_disk_and_bytes(self, tmp_path, vi):
        nlp = pipeline("vi", strict=True, word_joiner="_")
        nlp.to_disk(tmp_path / "pipeline")
        for loaded in (
            spacy.load(tmp_path / "pipeline"),
            spacy.blank("vi", config=nlp.config).from_bytes(nlp.to_bytes()),
        ):
            assert loaded.pipe_names == ["phonemic"]
            assert loaded.get_pipe("phonemic").tokenizer == Tokenizer("vi", strict=True, word_joiner="_")
            check(loaded("hoc_sinh giếng"), Tokenizer("vi", strict=True, word_joiner="_"))
            assert loaded.tokenizer.tokenizer == vi

    @pytest.mark.parametrize("kind", ["bytes", "disk"])
    def test_the_options_of_a_tokenizer_that_was_loaded_are_saved(self, kind, tmp_path):
        text = "abc hello world"
        packed = {
            "nlp": {"tokenizer": {"@tokenizers": SYLLABLES["nlp"]["tokenizer"]["@tokenizers"], "fallback": "packed"}}
        }
        nlp, other = spacy.blank("vi", config=SYLLABLES), spacy.blank("vi", config=packed)
        if kind == "bytes":
            nlp.tokenizer.from_bytes(other.tokenizer.to_bytes())
        else:
            other.tokenizer.to_disk(tmp_path / "tokenizer")
            nlp.tokenizer.from_disk(tmp_path / "tokenizer")
        nlp.to_disk(tmp_path / "pipeline")
        want = len(Tokenizer("vi", fallback="packed").encode(text))
        for made in (nlp, spacy.load(tmp_path / "pipeline")):
            assert len(made(text)._.phonemic) == len(Doc(made.vocab, text.split())._.phonemic) == want

    def test_config_round_trip(self, zh):
        nlp = pipeline("zh", phrases={"行长": "xing2 chang2"})
        made = spacy.util.load_model_from_config(spacy.util.load_config_from_str(nlp.config.to_str()), auto_fill=True)
        assert made("行长")._.ipa == "ɕiŋ˧˥ t͡ʂʰaŋ˧˥"

    def test_pickle(self, vi):
        check(pickle.loads(pickle.dumps(pipeline("vi")))(VI), vi)

    def test_two_languages_in_one_process(self, vi, zh):
        check(NLP["vi"](VI + ZH), vi)
        check(NLP["zh"](VI + ZH), zh)
        assert NLP["vi"]("giếng")[0]._.rime == "ieŋ"

    def test_registered_again(self, vi):
        code = (
            "import importlib, spacy, spacy_phonemic.attributes, spacy_phonemic.component as component\n"
            "importlib.reload(spacy_phonemic.attributes); importlib.reload(component)\n"
            "nlp = spacy.blank('zh'); nlp.add_pipe('phonemic'); nlp.remove_pipe('phonemic'); nlp.add_pipe('phonemic')\n"
            "print(nlp('行')[0]._.ipa)"
        )
        assert (
            subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "ɕiŋ˧˥\n"
        )

    def test_initialize(self, vi):
        nlp = pipeline("vi", strict=True)
        nlp.vocab.lookups.remove_table("phonemic")
        nlp.initialize()
        assert not nlp("hoc")[0]._.is_syllable

    def test_package(self, tmp_path):
        """Packed with ``spacy package``, installed in a folder of its own, loaded by name in another process."""
        nlp = pipeline("vi", strict=True)
        nlp.meta.update(name="demo", version="0.1.0")
        nlp.to_disk(tmp_path / "pipeline")
        done = spacy_command("package", tmp_path / "pipeline", tmp_path, "--build", "none")
        assert done.returncode == 0, done.stderr
        install(tmp_path / "vi_demo-0.1.0", tmp_path / "site", {"spacy"})
        said, _ = said_by_installed(tmp_path / "site", "vi_demo", "hoc giếng")
        assert said == [False, True]


class TestRequirements:
    def test_a_tokenizer_alone_needs_spacy(self):
        assert Requirement(*spacy.blank("vi", config=SYLLABLES).meta["requirements"]).extras == {"spacy"}

    def test_what_the_pipeline_asks_for_is_kept(self):
        nlp = spacy.blank("vi", config=PLAIN_VI)
        nlp.meta["requirements"] = ["pyvi>=0.1", "phonemic[arrow]==0.1.0"]
        nlp.add_pipe("phonemic")
        assert [*map(Requirement, nlp.meta["requirements"])] == [
            Requirement("pyvi>=0.1"),
            Requirement("phonemic[arrow,spacy]==0.1.0"),
        ]


def words_of(path):
    """The sentences of a treebank: the words, and whether a space follows each."""
    for block in path.read_text(encoding="utf-8").strip().split("\n\n"):
        rows = [line.split("\t") for line in block.splitlines() if line[0] != "#"]
        rows = [row for row in rows if row[0].isdigit()]
        yield [row[1] for row in rows], ["SpaceAfter=No" not in row[9] for row in rows]


@pytest.mark.parametrize(
    ("folder", "lang", "sentences"),
    [("vi/ud_vtb", "vi", 333), ("zh/ud_gsd", "zh", 500), ("zh/ud_gsdsimp", "zh", 100)],
)
def test_treebanks(data, folder, lang, sentences, request):
    """Every tenth sentence."""
    tokenizer, vocab, count = request.getfixturevalue(lang), NLP[lang].vocab, 0
    for path in sorted(data(folder).glob("*.conllu")):
        for words, spaces in islice(words_of(path), 0, None, 10):
            doc = Doc(vocab, words=words, spaces=spaces)
            NLP[lang].get_pipe("phonemic")(doc)
            check(doc, tokenizer)
            assert [doc.text[token.idx : token.idx + len(token)] for token in doc] == words
            count += 1
    assert count == sentences


def test_version_of_attributes_on_all_three():
    assert {"syllables", "ipa"} <= {name for name in NAMES if Span.has_extension(name) and Doc.has_extension(name)}


# --- the packed fallback


@pytest.mark.parametrize("config", [SYLLABLES, PLAIN_VI], ids=["syllables", "spaCy's"])
def test_packed_fallback(config, tmp_path):
    """Attributes of foreign words are as by default; what begins in a token is found by its span."""
    text = "Dịch COVID-19 ở quốc lộ, iphone15pro 2024"
    nlp = spacy.blank("vi", config=config)
    nlp.add_pipe("phonemic", config={"fallback": "packed", "store": True})
    tokenizer = Tokenizer("vi", fallback="packed")
    nlp.to_disk(tmp_path)
    loaded = spacy.load(tmp_path)
    copied = spacy.blank("vi", config=config)
    copied.add_pipe("phonemic")
    copied.from_bytes(nlp.to_bytes())
    for made in (nlp, loaded, copied):
        doc = made(text)
        check(doc, tokenizer)
        covid = next(token for token in doc if token.text.startswith("COVID"))
        assert [syllable.text for syllable in covid._.syllables][:2] == ["COV", "ID"]
        assert (covid._.onset, covid._.rime, covid._.tone, covid._.ipa) == ("", "", "", "")
        assert not covid._.is_syllable
        check(doc[2:6].as_doc(), tokenizer)
    plain = pipeline("vi")
    assert [token.text for token in spacy.blank("vi", config=config)(text)] == [token.text for token in nlp(text)]
    assert plain(text)._.phonemic != nlp(text)._.phonemic


def test_packed_fallback_of_the_tokenizer(tmp_path):
    config = {"nlp": {"tokenizer": SYLLABLES["nlp"]["tokenizer"] | {"fallback": "packed"}}}
    nlp, text = spacy.blank("vi", config=config), "covid19 ở Hà Nội kkk"
    nlp.to_disk(tmp_path)
    for made in (nlp, spacy.load(tmp_path)):
        doc = made(text)
        assert [token.text for token in doc] == [token.text for token in spacy.blank("vi", config=SYLLABLES)(text)]
        check(doc, Tokenizer("vi", fallback="packed"))


def test_options_saved_one_by_one(tmp_path):
    """As saved pipelines had them before: each option a field, a row of the lookups' table."""
    nlp = pipeline("vi")
    component = nlp.get_pipe("phonemic")
    component.from_bytes(json.dumps({"lang": "vi", "strict": True, "word_joiner": None, "phrases": {}}).encode())
    assert component.tokenizer == Tokenizer("vi", strict=True)
    nlp.vocab.lookups.remove_table("phonemic")
    nlp.vocab.lookups.add_table("phonemic", {"lang": "vi", "strict": True, "word_joiner": "", "phrases": {}})
    vocab = spacy.vocab.Vocab().from_bytes(nlp.vocab.to_bytes())
    check(Doc(vocab, ["hoc"]), Tokenizer("vi", strict=True))


class TestTwoComponents:
    """Two components of one vocab, with the same name for their attributes."""

    def test_each_reads_what_goes_through_it(self):
        one, other = pipeline("vi", strict=True), spacy.blank("vi", vocab=(nlp := pipeline("vi")).vocab)
        other.add_pipe("phonemic", config={"strict": True})
        for _ in range(2):
            assert nlp("hoc")[0]._.is_syllable
            assert not other("hoc")[0]._.is_syllable
            assert not one("hoc")[0]._.is_syllable
        first = nlp("hoc")
        check(first, Tokenizer("vi"))
        check(other.get_pipe("phonemic")(first), Tokenizer("vi", strict=True))

    def test_what_went_through_none_is_refused_as_long_as_both_live(self):
        nlp = pipeline("vi")
        other = spacy.blank("vi", vocab=nlp.vocab)
        other.add_pipe("phonemic", config={"strict": True})
        with pytest.raises(ValueError, match="two components of this vocab read Docs as 'phonemic' in different ways"):
            _ = nlp.make_doc("hoc")[0]._.rime
        other.remove_pipe("phonemic")
        check(nlp.make_doc("hoc"), Tokenizer("vi"))

    def test_a_component_is_asked_before_the_tokenizer(self):
        nlp = spacy.blank("vi", config=SYLLABLES)
        check(nlp("hoc"), Tokenizer("vi"))
        nlp.add_pipe("phonemic", config={"strict": True})
        check(nlp.make_doc("hoc"), Tokenizer("vi", strict=True))
        check(nlp("hoc"), Tokenizer("vi", strict=True))

    def test_in_other_processes(self):
        nlp = pipeline("vi", strict=True)
        for doc in nlp.pipe(["hoc giếng", "giếng"], n_process=2):
            check(doc, Tokenizer("vi", strict=True))


class TestDialects:
    """IPA as it is spoken; onset, rime and tone stay the spelling's."""

    def test_ipa_of_a_dialect(self, tmp_path):
        nlp, plain = pipeline("vi", dialect="saigon"), pipeline("vi")
        nlp.to_disk(tmp_path)
        for made in (nlp, spacy.load(tmp_path), pickle.loads(pickle.dumps(nlp))):
            for doc in (made("giếng sâu"), made.make_doc("giếng sâu"), Doc(made.vocab, ["giếng", "sâu"])):
                assert [token._.ipa for token in doc] == ["jiəŋ˦˥", "ʂəw˧˧"]
                assert doc._.ipa == "jiəŋ˦˥ ʂəw˧˧"
                assert [token._.rime for token in doc] == [token._.rime for token in plain("giếng sâu")]
        assert plain("giếng")[0]._.ipa == "zieŋ˧˥"

    def test_stored(self):
        nlp = pipeline("vi", dialect="hue", store=True)
        doc = Doc(nlp.vocab).from_bytes(nlp("giếng").to_bytes())
        assert doc[0]._.ipa == "jiəŋ˦˧˥"
        assert Doc(spacy.vocab.Vocab()).from_bytes(nlp("giếng").to_bytes())[0]._.ipa == "zieŋ˧˥"

    def test_refused(self):
        with pytest.raises(ValueError, match="unknown dialect 'dalat'"):
            pipeline("vi", dialect="dalat")
        with pytest.raises(ValueError, match="dialects are Vietnamese"):
            pipeline("zh", dialect="hue")
        state = json.loads(pipeline("vi").get_pipe("phonemic").to_bytes()) | {"dialect": "dalat"}
        with pytest.raises(SavedTokenizerError, match="dalat"):
            pipeline("vi").get_pipe("phonemic").from_bytes(json.dumps(state).encode())


@pytest.mark.parametrize(
    "forge",
    [
        lambda kept: kept["positions"].__setitem__((0, 0), -1),
        lambda kept: kept["positions"].__setitem__((0, 0), 0xFF),
        lambda kept: kept["positions"].__setitem__((1, 0), 0x7FFFFFFF),
        lambda kept: kept["positions"].__setitem__((1, 1), 99),
        lambda kept: kept["positions"].__setitem__((1, 2), 99),
        lambda kept: kept["positions"].__setitem__((0, 1), -1),
        lambda kept: kept.update(positions=kept["positions"].tolist()),
        lambda kept: kept.update(positions=kept["positions"][:, :2]),
        lambda kept: kept.update(positions=None),
        lambda kept: kept.update(lang=[]),
        lambda kept: kept.update(lang="en"),
        lambda kept: kept.update(crc=None),
    ],
)
def test_a_forged_doc_is_read_anew(forge):
    nlp = pipeline("zh", store=True)
    doc = nlp("你好吗")
    expected = doc._.phonemic
    [kept] = [value for key, value in doc.user_data.items() if "phonemic" in key]
    forge(kept)
    forged = Doc(nlp.vocab).from_bytes(doc.to_bytes())
    assert forged._.phonemic == expected
    assert [token._.ipa for token in forged] == [token._.ipa for token in doc]
    assert distance(forged._.phonemic, doc._.phonemic) == 0


@pytest.mark.parametrize("between", ["\u200b", "\ufeff"])
def test_a_zero_width_space_parts_syllables_and_tokens_keep_their_sounds(between):
    text = f"Ở Hà{between}Nội."
    doc = pipeline("vi")(text)
    assert doc.text == text
    assert " ".join(token._.ipa for token in doc if token._.ipa) == "ɘ˧˩ ha˨˩ noi̯˧ˀ˩"
    nlp = spacy.blank("vi", config=SYLLABLES)
    nlp.add_pipe("phonemic")
    doc = nlp(text)
    assert doc.text == text
    assert [token.text for token in doc if token._.is_syllable] == ["Ở", "Hà", "Nội"]
