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


def test_the_command_reads_them():
    done = CliRunner().invoke(transcribe, ["--lang", "zh", "--markup", "银行{yín xíng}"])
    assert done.output == "yín xíng\n"
    done = CliRunner().invoke(transcribe, ["--lang", "zh", "--markup", "行{x}"])
    assert done.exit_code == 1
    assert "--markup is for Mandarin" in CliRunner().invoke(transcribe, ["--lang", "vi", "--markup", "a"]).output
