"""Another language, style, format or tag scheme than the one that is named is said so."""

import json
import os
import warnings
from pathlib import Path

import pytest

from phonemic import InputError
from phonemic.tasks import custom, tagging

TEXTS = {"vi": "Sáng nay bé ăn xôi, mưa to.", "zh": "今天天气很好，银行不开门。"}


class TestDecoding:
    def test_an_encoding_knows_its_language(self, vi, zh):
        for own_one, other in ((vi, zh), (zh, vi)):
            encoding = own_one.encode(TEXTS[own_one.lang])
            with pytest.raises(ValueError, match=f"an Encoding of {own_one.lang} cannot be decoded .* of {other.lang}"):
                other.decode(encoding)
            with pytest.raises(ValueError, match="cannot be decoded"):
                other.decode(own_one.encode_batch([TEXTS[own_one.lang]])[0])
            assert own_one.decode(encoding)

    @pytest.mark.parametrize("to", [None, "ipa"])
    def test_styles(self, vi, zh, to):
        for tokenizer in (vi, zh):
            ids = tokenizer.encode(TEXTS[tokenizer.lang]).ids
            with pytest.raises(ValueError, match="no style of tone marks is called 'bogus': choose new"):
                tokenizer.decode(ids, to, "bogus")
            with pytest.raises(ValueError, match="no style of tone marks"):
                tokenizer.spell(int(ids[0]), "bogus")


@pytest.mark.usefixtures("in_tmp_path")
class TestCommands:
    @pytest.mark.parametrize(("lang", "name"), [("vi", "Vietnamese"), ("zh", "Mandarin")])
    def test_encode_says_that_hardly_a_syllable_is_of_the_language(self, lang, name):
        pytest.importorskip("pyarrow", reason="needs the arrow extra")
        from cli_helpers import run

        for written, text in TEXTS.items():
            Path(f"{written}.txt").write_text(f"{text}\n" * 5, "utf-8")
        other = "zh" if lang == "vi" else "vi"
        error = run("encode", f"{other}.txt", "o.parquet", "--lang", lang).stderr
        assert f"positions are {name} syllables: is the text {name}?" in error
        assert run("encode", f"{lang}.txt", "p.parquet", "--lang", lang).stderr == ""

    def test_another_format(self):
        pytest.importorskip("spacy", reason="needs the spacy extra")
        from spacy_phonemic.__main__ import main

        Path("a.conll").write_text("Nguyễn B-PER\nDu I-PER\nviết O\n\nHà B-LOC\nNội I-LOC\n", "utf-8")
        entry = {"text": "Hà Nội", "label": {"LOC": {"Hà Nội": [[0, 5]]}}}
        Path("a.json").write_text(f"{json.dumps(entry, ensure_ascii=False)}\n" * 5, "utf-8")
        for file, form in (("a.conll", "weibo"), ("a.json", "conll"), ("a.json", "weibo"), ("a.conll", "conllu")):
            assert main(["convert", form, file, "o.spacy", "--lang", "vi"]) == 1
            assert "o.spacy" not in os.listdir()
        assert main(["convert", "conll", "a.conll", "o.spacy", "--lang", "vi"]) == 0


class TestStrayTags:
    """As lines 62392 and 64414 of a published file: they cost 3,821 sentences."""

    @pytest.fixture
    def file(self, tmp_path):
        lines = ["张 B-NAME", "三 E-NAME", "在 O", "", "中 M-ORG", "国 M-ORG", "人 E-ORG", "", "好 E-TITLE", "的 O", ""]
        (tmp_path / "a.bmes").write_text("\n".join(lines), "utf-8")
        return tmp_path / "a.bmes"

    @pytest.fixture
    def published(self, tmp_path):
        """3,822 sentences, in one of which two tags are stray, as CoNLL and as JSON lines; and the words of it."""
        plain = [("张", "B-NAME"), ("三", "E-NAME"), ("在", "O"), ("中", "B-ORG"), ("国", "E-ORG"), ("好", "O")]
        stray = [("中", "M-ORG"), ("国", "E-ORG"), ("好", "E-TITLE"), ("的", "O")]
        sentences = [*[plain] * 2000, stray, *[plain] * 1821]
        with open(tmp_path / "a.conll", "w", encoding="utf-8") as conll, open(tmp_path / "a.jsonl", "w") as lines:
            for one in sentences:
                conll.write("".join(f"{word} {tag}\n" for word, tag in one) + "\n")
                words, tags = zip(*one, strict=True)
                lines.write(json.dumps({"words": words, "tags": tags}) + "\n")
        return [tmp_path / "a.conll", tmp_path / "a.jsonl"]

    def test_no_other_sentence_is_lost(self, published):
        for file in published:
            with pytest.warns(tagging.StrayTagWarning, match="^2 tags go on with a span that has not begun"):
                examples = list(self.made(file).parse([file]))
            assert len(examples) == 3822
            assert sum(len(one.spans) for one in examples) == 2 * 3821 + 2
            assert [one.text for one in examples].count("中国好的") == 1
            with pytest.raises(InputError, match=rf"{file.name}:\d+: 'M-ORG' continues with no ORG before it"):
                custom.dataset("sequence-labelling", lang="zh", train=file, dev=file, strict=True)

    def test_a_tag_that_is_none_makes_no_other_task(self, published):
        """It is told, with its line: the file is not taken for one of parts of speech."""
        for file in published:
            file.write_text(file.read_text("utf-8").replace("E-TITLE", "TITLE"), "utf-8")
            with pytest.raises(InputError, match=rf"{file.name}:\d+: 'TITLE' is not a tag"):
                self.made(file)

    def test_spacy_says_each(self, published, capsys, tmp_path):
        pytest.importorskip("spacy", reason="needs the spacy extra")
        from spacy_phonemic.__main__ import main

        file, out = published[0], tmp_path / "o.spacy"
        assert main(["convert", "conll", str(file), str(out), "--lang", "zh", "--strict"]) == 1
        assert not out.exists()
        assert "'M-ORG' continues with no ORG before it" in capsys.readouterr().err
        assert main(["convert", "conll", str(file), str(out), "--lang", "zh"]) == 0
        told = capsys.readouterr()
        assert "2 tags go on with a span that has not begun" in told.err
        assert "3822 sentences" in told.out
        assert "1 problems" in told.out

    def made(self, file, **options):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", tagging.StrayTagWarning)
            return custom.dataset("sequence-labelling", lang="zh", train=file, dev=file, **options)

    def test_each_begins_a_span_and_is_counted(self, file):
        made = self.made(file)
        with pytest.warns(
            tagging.StrayTagWarning, match=r"^2 tags .*a\.bmes:5: 'M-ORG', .*a\.bmes:9: 'E-TITLE'; strict"
        ) as told:
            examples = list(made.parse([file]))
        assert len(told) == 1
        spans = [[(one.text[span.start : span.end], span.label) for span in one.spans] for one in examples]
        assert spans == [[("张三", "NAME")], [("中国人", "ORG")], [("好", "TITLE")]]

    def test_strict_refuses(self, file):
        with pytest.raises(InputError, match=r"a\.bmes:5: 'M-ORG' continues with no ORG before it"):
            custom.dataset("sequence-labelling", lang="zh", train=file, dev=file, strict=True)


def test_what_cannot_be_added_changes_nothing(tmp_path):
    pytest.importorskip("transformers", reason="needs the model extra")
    from phonemic_bert import PhonemicBertTokenizer

    tokenizer = PhonemicBertTokenizer("vi")
    tokenizer.save_pretrained(tmp_path / "before")
    for wrong in (
        {"additional_special_tokens": ["<e>"]},
        {"cls_token": "<s>"},
        {"cls_token": "[SEP]"},
        {"pad_token": "x"},
    ):
        with pytest.raises(ValueError, match="the vocabulary is fixed"):
            tokenizer.add_special_tokens(wrong)
    with pytest.raises(ValueError, match="the vocabulary is fixed"):
        tokenizer.add_tokens(["x"])
    assert tokenizer.add_special_tokens({"cls_token": "[CLS]"}) == 0
    tokenizer.save_pretrained(tmp_path / "after")
    for path in (tmp_path / "before").iterdir():
        assert (tmp_path / "after" / path.name).read_bytes() == path.read_bytes()
