"""Readings that a text states itself."""

import pytest
from click.testing import CliRunner

from phonemic import PinyinError, Tokenizer
from phonemic.cli.transcribe import transcribe
from phonemic.reading.markup import unmarked, with_readings

ZH = Tokenizer("zh")


def test_stated_readings_are_taken_out_of_the_text():
    text, stated = unmarked("去银行{yín háng}，不行{xíng}长")
    assert text == "去银行，不行长"
    assert stated == {(1, 3): "yín háng", (5, 6): "xíng"}
    assert unmarked("去银行") == ("去银行", {})


@pytest.mark.parametrize("readings", ["pypinyin", "context"])
def test_they_win_over_what_would_be_read(readings):
    tokenizer = Tokenizer("zh", readings=readings)
    text, stated = unmarked("银行{yin2 xing2}，行{hang2}")
    encoding = tokenizer.encode(text)
    changed = with_readings(encoding, stated)
    assert tokenizer.decode(changed) == "yín xíng , háng"
    assert changed.text == text
    assert changed.spans.tolist() == encoding.spans.tolist()
    assert changed.word_ids.tolist() == encoding.word_ids.tolist()
    assert tokenizer.decode(encoding) != "yín xíng , háng"  # which is left as it was
    row = with_readings(tokenizer.encode_batch([text], spans=True)[0], stated)
    assert row.ids.tolist() == changed.ids.tolist()


@pytest.mark.parametrize("text", ["行{hang}{xing}", "{hang2}", "行{}", "行{yin2 hang2}", "行{hxng}"])
def test_what_cannot_be_meant_is_refused(text):
    with pytest.raises(PinyinError, match=r"character \d+: '\{"):
        unmarked(text)


@pytest.mark.parametrize("span", [(0, 1), (0, 2), (1, 3), (3, 4), (2, 9)])
def test_spans_hold_the_syllables_that_are_stated(span):
    with pytest.raises(ValueError, match="state the readings of whole syllables"):
        with_readings(ZH.encode("a行。"), {span: "hang2"})
    with pytest.raises(ValueError, match="Mandarin only"):
        with_readings(Tokenizer("vi").encode("tiếng"), {(0, 5): "hang2"})


@pytest.mark.parametrize("pinyin", ["háng", "gu3"])  # 行 has a rank among the first, and none among the second
def test_with_forms_no_text_is_lost(pinyin):
    tokenizer = Tokenizer("zh", form=True)
    encoding = tokenizer.encode("他行了")
    changed = with_readings(encoding, {(1, 2): pinyin})
    assert tokenizer.decode(changed.ids) == "他行了"
    assert tokenizer.decode(changed.ids, to="pinyin").split()[1] in ("háng", "gǔ")
    own = Tokenizer("zh", form=True, phrases={"他行": f"ta1 {pinyin}"}).encode("他行了")
    assert changed.ids.tolist() == own.ids.tolist()
    assert changed.spans.tolist() == own.spans.tolist()
    assert changed.word_ids.tolist() == own.word_ids.tolist()
    assert with_readings(changed, {(1, 2): "xíng"}).ids.tolist() == encoding.ids.tolist()


@pytest.mark.parametrize(
    ("text", "span", "apart", "merged"),
    [
        ("花儿{huār}开", (0, 2), "huā ér kāi", "huār kāi"),
        ("一点儿{yì dianr3}", (0, 3), "yì diǎn ér", "yì diǎnr"),
        ("花兒{hua1 r5}", (0, 2), "huā ér", "huār"),
        ("女儿{nǚ ér}", (0, 2), "nǚ ér", "nǚ ér"),
    ],
)
def test_erhua_is_of_two_characters(text, span, apart, merged):
    plain, stated = unmarked(text)
    assert list(stated) == [span]
    assert ZH.decode(with_readings(ZH.encode(plain), stated)) == apart
    own = Tokenizer("zh", erhua=True)
    assert own.decode(with_readings(own.encode(plain), stated)) == merged


@pytest.mark.parametrize(
    ("text", "span", "read"),
    [
        ("买A股{A gǔ}", (1, 3), "mǎi a gǔ"),
        ("唱Ｋ歌{k ge1}", (1, 3), "chàng k gē"),
        ("AA制{A A zhì}", (0, 3), "aa zhì"),
        ("看NBA行{NBA háng}", (1, 5), "kàn nba háng"),
        ("第3行{3 háng}", (1, 3), "dì 3 háng"),
        ("a啊{a}", (1, 2), "a a"),
    ],
)
@pytest.mark.parametrize("options", [{}, {"form": True}, {"fallback": "packed"}])
def test_letters_and_digits_stay_as_they_are(text, span, read, options):
    tokenizer = Tokenizer("zh", **options)
    plain, stated = unmarked(text)
    assert list(stated) == [span]
    encoding = tokenizer.encode(plain)
    changed = with_readings(encoding, stated)
    assert [syllable.text for syllable in changed.syllables] == [syllable.text for syllable in encoding.syllables]
    if options.get("form"):
        assert tokenizer.decode(changed) == plain
    elif not options:
        assert tokenizer.decode(changed) == read


@pytest.mark.parametrize("options", [{}, {"form": True}, {"erhua": True}, {"sandhi": True}])
def test_many_readings_at_once_are_those_one_by_one(options):
    text = "他行长，花儿重𠮷K歌，" * 3
    stated = {(at, at + len(own)): pinyin for own, pinyin in {"行长": "háng zhǎng", "重": "chóng", "他": "tuō"}.items()
              for at in range(len(text)) if text.startswith(own, at)}  # fmt: skip
    together = one_by_one = Tokenizer("zh", **options).encode(text)
    for place, pinyin in stated.items():
        one_by_one = with_readings(one_by_one, {place: pinyin})
    together = with_readings(together, stated)
    assert together.ids.tolist() == one_by_one.ids.tolist()
    assert together.spans.tolist() == one_by_one.spans.tolist()
    assert together.word_ids.tolist() == one_by_one.word_ids.tolist()


def test_what_is_no_encoding_or_no_readings_is_refused():
    with pytest.raises(TypeError, match="not str and dict"):
        with_readings("行", {})
    with pytest.raises(TypeError, match="not Encoding and NoneType"):
        with_readings(ZH.encode("行"), None)
    with pytest.raises(TypeError, match="not NoneType"):
        unmarked(None)


@pytest.mark.parametrize("text", ["好。{hǎo}", "银 行{yín háng}", "A行{háng háng}"])
def test_the_command_says_what_is_no_syllable(text):
    done = CliRunner().invoke(transcribe, ["--lang", "zh", "--markup", text])
    assert isinstance(done.exception, PinyinError)  # which the program prints in one line
    assert "state the readings of whole syllables" in str(done.exception)


def test_the_command_names_the_text(tmp_path):
    path = tmp_path / "texts.txt"
    path.write_text("好\n行{x}\n", "utf-8")
    done = CliRunner().invoke(transcribe, ["--lang", "zh", "--markup", str(path)])
    assert str(done.exception).startswith("text 2: character 1: '{x}'")


def test_the_command_reads_them():
    done = CliRunner().invoke(transcribe, ["--lang", "zh", "--markup", "银行{yín xíng}"])
    assert done.output == "yín xíng\n"
    done = CliRunner().invoke(transcribe, ["--lang", "zh", "--markup", "行{x}"])
    assert done.exit_code == 1
    assert "--markup is for Mandarin" in CliRunner().invoke(transcribe, ["--lang", "vi", "--markup", "a"]).output
