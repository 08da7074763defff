"""Vietnamese as it is spoken, against WikiPron's transcriptions."""

import csv
import re
from collections import defaultdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phonemic import Tokenizer, vietnamese
from phonemic.writing.dialects import DIALECTS, pronounce, rules

VI = Tokenizer("vi")
SYLLABLES = sorted(vietnamese.spellings())


def transcriptions(path):
    """Every word with all its transcriptions, each a tuple of syllables of tokens."""
    found = defaultdict(set)
    with path.open(encoding="utf-8", newline="") as file:
        for word, phones in csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            found[word].add("".join(phones.split()))
    return found


def written(word, dialect):
    return VI.decode(VI.encode(word), to="ipa", dialect=dialect).replace(" ", "")


def alike(phones):
    """The same for transcriptions that agree: sounds that the table's notes say are heard as well are one."""
    for one, other in (("kʰ", "x"), ("ʂ", "s"), ("⁽ʷ⁾", "w"), ("⁽ʷ", "w"), ("⁾", "")):
        phones = phones.replace(one, other)
    return phones


@pytest.mark.parametrize("dialect", DIALECTS)
def test_wikipron(data, dialect):
    """At least 99.5 % of the words that are Vietnamese syllables; docs/reference/dialects.md names the rest."""
    words = transcriptions(data(f"vi/dialects/wikipron-{dialect}-dev.tsv"))
    ours = {word: found for word, found in words.items() if not VI.encode(word).kinds.any()}
    assert len(ours) > 0.97 * len(words)
    wrong = [word for word, found in ours.items() if alike(written(word, dialect)) not in set(map(alike, found))]
    assert len(wrong) <= 0.005 * len(ours), wrong[:40]


@given(st.sampled_from(SYLLABLES), st.sampled_from(["", "\u0300", "\u0301", "\u0309", "\u0303", "\u0323"]))
def test_every_syllable_is_pronounced(spelling, mark):
    triple = vietnamese.factorize(re.sub("([aeiouyăâêôơư])", rf"\1{mark}", spelling, count=1))
    for dialect in DIALECTS:
        onset, rime, tone = pronounce(triple, dialect)
        assert rime
        assert re.fullmatch("[˥˦˧˨˩ˀ]+ʔ?", tone)
        assert onset or dialect == "saigon"
        assert VI.decode([VI.vocabulary.pack(triple)], to="ipa", dialect=dialect) == onset + rime + tone


@pytest.mark.parametrize(
    ("dialect", "same", "others"),
    [
        ("hanoi", "da gia ra", "xa"),
        ("hanoi", "trong chong", "giong"),
        ("hanoi", "sưu siu xiu", "sêu"),
        ("hanoi", "quốc cuốc", "cốc"),
        ("hue", "ngã ngả", "ngá"),
        ("hue", "an ang", "am"),
        ("hue", "mặt mặc", "mặp"),
        ("saigon", "ngã ngả", "ngạ"),
        ("saigon", "qua hoa", "khoa"),
        ("saigon", "va da gia", "ra"),
        ("saigon", "lan lang", "lam"),
        ("saigon", "inh in", "im"),
        ("saigon", "un ung", "um"),
        ("saigon", "chiêm chim", "chiên"),
    ],
)
def test_mergers(dialect, same, others):
    """Published ones: d/gi/r, ch/tr and ưu/iu in the north; hỏi/ngã, n/ng and t/c in the centre and south."""
    first, *rest = (written(word, dialect) for word in same.split())
    assert set(rest) == {first}
    assert written(others, dialect) != first


def test_what_is_no_syllable_stays():
    text = "COVID-19 ở Huế"
    assert VI.decode(VI.encode(text), to="ipa", dialect="hue") == "covid - 19 ʔəː˧˨ hwej˨˩˦"


def test_what_does_not_fit_is_refused():
    ids = VI.encode("giếng")
    with pytest.raises(ValueError, match="unknown dialect 'dalat': choose one of hanoi, hue, saigon"):
        VI.decode(ids, to="ipa", dialect="dalat")
    with pytest.raises(ValueError, match="a dialect is written in IPA"):
        VI.decode(ids, to="spelling", dialect="hue")
    with pytest.raises(ValueError, match="dialects are Vietnamese"):
        Tokenizer("zh").decode([], to="ipa", dialect="hue")
    with pytest.raises(ValueError, match="no Vietnamese syllable"):
        pronounce(("b", "b", "˧˧"), "hue")


def test_the_table_has_everything_once():
    kinds = [(rule.part, rule.symbol, rule.where) for rule in rules()]
    assert len(kinds) == len(set(kinds))
    spelled = [vietnamese.factorize(spelling) for spelling in SYLLABLES]
    for part, symbols in zip(
        ("onset", "rime"), zip(*((one.onset, one.rime) for one in spelled), strict=True), strict=True
    ):
        assert {symbol for kind, symbol, where in kinds if kind == part and not where} == set(symbols)


def test_the_page_has_the_rules():
    from dialect_tables import PAGE, filled

    assert PAGE.read_text("utf-8") == filled(PAGE.read_text("utf-8")), "python tests/dialect_tables.py"
