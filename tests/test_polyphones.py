"""All readings of a character, and how common each is."""

import pytest
from click.testing import CliRunner
from pypinyin.constants import PINYIN_DICT

from phonemic import readings_of
from phonemic.cli.transcribe import transcribe


def test_the_commonest_reading_comes_first():
    assert list(readings_of("行"))[:2] == ["xíng", "háng"]
    assert next(iter(readings_of("的", to="numbers"))) == "de5"
    assert readings_of("人") == {"rén": 1.0}
    assert readings_of("长", to="zhuyin").keys() >= {"ㄔㄤˊ", "ㄓㄤˇ"}


@pytest.mark.parametrize("char", "行长重得还乐都血薄單長樂還")
def test_shares_add_up_and_nothing_that_pypinyin_has_is_missing(char):
    shares = readings_of(char)
    assert sum(shares.values()) == pytest.approx(1, abs=0.005)
    assert list(shares.values()) == sorted(shares.values(), reverse=True)
    assert len(shares) > 1
    assert {*PINYIN_DICT[ord(char)].split(",")} <= shares.keys()


def test_traditional_characters_have_the_shares_of_simplified_ones():
    assert readings_of("长").items() <= readings_of("長").items()
    assert readings_of("髮")["fà"] == 1.0


@pytest.mark.parametrize("text", ["", "a", "行长", "。", "ㄅ"])
def test_anything_but_one_han_character_is_refused(text):
    with pytest.raises(ValueError, match="one Han character"):
        readings_of(text)


@pytest.mark.parametrize("char", ["𠮷", "兙"])
def test_a_character_whose_reading_is_not_known_has_none(char):
    assert readings_of(char) == {}
    assert CliRunner().invoke(transcribe, ["--lang", "zh", "--all", f"{char}a人"]).output == f"{char}\n人\trén 100.0%\n"


def test_the_command_shows_them():
    done = CliRunner().invoke(transcribe, ["--lang", "zh", "--all", "行人。"])
    lines = done.output.splitlines()
    assert len(lines) == 2
    assert lines[0].startswith("行\txíng ")
    assert lines[1] == "人\trén 100.0%"
    for more in (["--markup"], ["--readings", "context"], ["--erhua"]):
        done = CliRunner().invoke(transcribe, ["--lang", "zh", "--all", *more, "行"])
        assert "no option of how a text is read" in " ".join(done.output.split())
    assert "--all is for Mandarin" in CliRunner().invoke(transcribe, ["--lang", "vi", "--all", "a"]).output
