"""Phrase tables: what goes in comes out, the longest is found, and text of phrases is read as by the reference."""

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from phonemic import Tokenizer, mandarin, reference
from phonemic.inventory import vocabulary
from phonemic.lexicon import phrases
from phonemic.lexicon.phrases import PhraseTable, phrases_of
from phonemic.lexicon.tables import tables_of

#: A few characters, so that phrases share beginnings and lie across one another; three beyond the basic plane.
FEW = "一不了之银行长\U00020000\U00020001\U0002a6d6"
few_phrases = st.dictionaries(st.text(st.sampled_from(FEW), min_size=2, max_size=7), st.integers(0, 40), max_size=30)


def built(made, changing=None):
    """The table of phrases whose readings follow from a number, and the phrases."""
    known = {phrase: [number + at for at in range(len(phrase))] for phrase, number in made.items()}
    return PhraseTable.build(known, changing=changing), known


def code_of(table, char):
    code = ord(char)
    if code < 0x10000:
        return int(table.codes[code])
    return int(table.astral_codes[int(table.astral_index[(code >> 8) - 256]) << 8 | code & 255])


#: Characters whose readings are their code points, those of the basic plane and the others each from 0 on.
ALONE = {
    "bmp": np.arange(0x10000, dtype=np.uint32),
    "astral": np.arange(1 << 20, dtype=np.uint32),
    "astral_index": np.arange(4096, dtype=np.uint16),
}


class TestTable:
    @given(few_phrases.filter(bool))
    def test_what_goes_in_comes_out(self, made):
        table, known = built(made)
        assert phrases_of(table.sections("own"), "own") == known

    @given(few_phrases.filter(bool), st.data())
    def test_only_readings_that_differ_are_kept(self, made, data):
        changing = data.draw(st.sets(st.sampled_from(sorted(made))))
        table, known = built(made, changing)
        found = phrases_of(table.sections("own") | ALONE, "own")
        default = {char: ord(char) if ord(char) < 0x10000 else ord(char) - 0x10000 for char in FEW}
        assert found == {
            phrase: readings if phrase in changing else [default[char] for char in phrase]
            for phrase, readings in known.items()
        }
        assert len(table.readings) == len({reading for phrase in changing for reading in known[phrase]})

    @given(few_phrases.filter(bool), st.text(st.sampled_from(FEW + "\ue000"), max_size=12))
    def test_a_walk_finds_the_beginnings_that_there_are(self, made, text):
        """A unit is reached by each beginning of a phrase that others share, and by no other text."""
        table, known = built(made)
        shared = {
            phrase[:end]
            for phrase in known
            for end in range(1, len(phrase) + 1)
            if end == 1 or sum(other.startswith(phrase[: end - 1]) for other in known) > 1
        }
        node, end = code_of(table, text[0]) if text else 0, 1
        while node and end < len(text):
            code, unit = code_of(table, text[end]), int(table.units[node])
            if not code or unit & phrases.LEAF:
                break
            following = (unit >> 32) + code
            if int(table.units[following]) % phrases.MOST_UNITS != node:
                break
            node, end = following, end + 1
            assert text[:end] in shared
        if node and end < len(text) and not int(table.units[node]) & phrases.LEAF:
            assert text[: end + 1] not in shared

    def test_an_alias_shares_its_characters_code(self):
        table = PhraseTable.build({"金行": [1, 2]}, {"\uf90a": "金", "\uf900": "豈"})
        assert table.codes[0xF90A] == table.codes[ord("金")] > 0
        assert table.codes[0xF900] == 0

    def test_too_many(self, monkeypatch):
        monkeypatch.setattr(phrases, "MOST_UNITS", 100)
        many = {one + other: [1, 2] for one in FEW for other in FEW}
        with pytest.raises(ValueError, match=r"too many phrases: 10 characters \(65,535 fit\), \d+ units \(100 fit\)"):
            PhraseTable.build(many)

    def test_the_lexicons_phrases(self):
        pytest.importorskip("pypinyin")
        pack = vocabulary("zh").pack
        expected = {
            phrase: [pack(mandarin.factorize(text)) for text in texts]
            for phrase, texts in mandarin.lexicon().phrases.items()
        }
        assert phrases_of(tables_of("zh")) == expected

    def test_every_phrase_is_read_as_the_lexicon_says(self, zh):
        known = phrases_of(tables_of("zh"))
        batch = zh.encode_batch(list(known))
        assert batch.ids.tolist() == [reading for readings in known.values() for reading in readings]


@pytest.fixture(scope="module")
def pieces():
    """The parts of crafted texts."""
    pytest.importorskip("pypinyin")
    zh, known = Tokenizer("zh"), phrases_of(tables_of("zh"))
    changing = [phrase for phrase in sorted(known) if zh.encode_batch(list(phrase)).ids.tolist() != known[phrase]]
    assert len(changing) == 8756
    beginnings = sorted({phrase[:end] for phrase in known for end in range(2, len(phrase))} - set(known))
    aliases = {other: char for char, other in mandarin.compatibility_ideographs().items()}
    odd = ["".join(aliases.get(char, char) for char in phrase) for phrase in changing]
    odd = [phrase for phrase in odd if any(char in aliases.values() for char in phrase)]
    longest = [phrase for phrase in sorted(known) if len(phrase) > 5]
    assert all([beginnings, odd, longest])
    return {"changing": changing, "known": sorted(known), "beginnings": beginnings, "aliases": odd, "longest": longest}


def crafted(pieces, dice):
    """A text of pieces that lie end to end, or across one another."""
    text = ""
    for _ in range(dice.randrange(1, 12)):
        piece = dice.choice(pieces[dice.choice(list(pieces))])
        across = [other for other in dice.sample(pieces["known"], 300) if text and other[0] == text[-1]]
        if across and dice.random() < 0.5:
            piece = across[0][1:]
        text += piece[: dice.randrange(1, len(piece) + 1)] if dice.random() < 0.2 else piece
        text += dice.choice(["", "", "", "", "，", " ", "\u0301", "a", "\U00020000", "\ufe0f", "猱"])
    return text


def rows(tokenizer, encoding):
    unpack = tokenizer.vocab.unpack
    columns = zip(encoding.ids.tolist(), encoding.spans.tolist(), encoding.word_ids.tolist(), strict=True)
    return [(unpack(packed), start, end, word, 0) for packed, (start, end), word in columns]


class TestCraftedText:
    def test_equals_the_reference(self, zh, pieces):
        arrow = pytest.importorskip("phonemic.arrow", reason="needs the arrow extra", exc_type=Exception)
        dice = random.Random(17)
        texts = [crafted(pieces, dice) for _ in range(400)]
        for text in texts:
            assert rows(zh, zh.encode(text)) == reference.encode(text, "zh"), ascii(text)
        expected = [zh.encode(text).ids.tolist() for text in texts]
        assert arrow.encode(arrow.pa.array(texts), zh).to_pylist() == expected
        long = "".join(texts)
        assert rows(zh, zh.encode(long)) == reference.encode(long, "zh")

    def test_equals_the_reference_with_own_phrases(self, pieces):
        """A user's phrases begin and end within the lexicon's, share long beginnings, and give characters other readings."""
        dice = random.Random(18)
        for _ in range(25):
            own = {}
            for _ in range(dice.randrange(1, 30)):
                source = crafted(pieces, dice)
                cut = "".join(char for char in source if 0x4E00 <= ord(char) < 0x9FA6)
                start = dice.randrange(len(cut) or 1)
                phrase = cut[start : start + dice.choice([1, 1, 2, 2, 3, 5, 9])]
                own |= {phrase: ["yi1"] * len(phrase)} if phrase else {}
            tokenizer = Tokenizer("zh", phrases=own)
            for _ in range(20):
                text = crafted({**pieces, "own": sorted(own)} if own else pieces, dice)
                assert rows(tokenizer, tokenizer.encode(text)) == reference.encode(text, "zh", phrases=own), ascii(text)

    def test_a_lexicons_phrase_keeps_its_reading_where_a_user_gives_its_characters_others(self, zh):
        own = Tokenizer("zh", phrases={"人": "yi1", "们": "yi1"})
        assert own.encode("人们").ids.tolist() == zh.encode("人们").ids.tolist()
        assert own.encode("人").ids.tolist() == own.encode("们").ids.tolist() != zh.encode("人").ids.tolist()

    def test_longest_own_phrases_that_share_their_beginnings(self):
        own = {"一" * length + "丁": ["er4"] * (length + 1) for length in range(1, 64)}
        tokenizer = Tokenizer("zh", phrases=own)
        for text in ("一" * 200, "一" * 200 + "丁", ("一" * 63 + "丁") * 3, "一" * 62 + "七" + "一" * 64 + "丁"):
            assert rows(tokenizer, tokenizer.encode(text)) == reference.encode(text, "zh", phrases=own)
