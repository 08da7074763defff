"""The packed fallback: letters that touch, and digits that touch, up to three to a position."""

import pickle
import random
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from test_properties import NASTY, ODD, OWN, rows, texts, words

from phonemic import Tokenizer, inventory, mandarin, metrics, pack, reference, vietnamese
from phonemic.characters import fold
from phonemic.inventory import FALLBACK, NATIVE, SPECIAL, UNKNOWN, characters_of, fallback_triple, kinds_of
from phonemic.units import separators, units

PLAIN = {lang: Tokenizer(lang) for lang in ("vi", "zh")}
PACKED = {lang: Tokenizer(lang, fallback="packed") for lang in ("vi", "zh")}

foreign = st.text(
    st.sampled_from("bcdzwfaaoơđ11230٣²１Ⓐⓑ🄫Ⅷéñ'ʻ-_. \u0301\u0302\u031b\u200b🙂银行hoà是" + ODD[:6]), max_size=24
)
any_text = st.one_of(texts, foreign, st.tuples(foreign, texts).map("".join))

MORE = ["covid", "covid19", "COVID-19", "zzzzzzz", "zz z", "a1b2c3", "１2３4", "3１２ ", "9 9 ", "ⓐbc", "b\u200bc\ufe0fd", "zo\u0302\u031bz", "1\u03012",
        "oʻzbek", "привет abc", "thứ2b", "𝐚𝐛𝐜𝐝", "ⓩ9 ", "bc\u3000d", "u23", "5km", "\u2581bc"]  # fmt: skip


def each(test):
    for text in [*NASTY, *MORE]:
        test = example(text)(test)
    return test


@pytest.mark.parametrize(
    ("text", "tokens", "spans"),
    [
        ("covid", "cov id", [(0, 3), (3, 5)]),
        ("COVID-19 ở", "cov id - 19 |ɘ|˧˩", [(0, 3), (3, 5), (5, 6), (6, 8), (9, 10)]),
        ("covid19", "cov id 19", [(0, 3), (3, 5), (5, 7)]),
        ("2024", "202 4", [(0, 3), (3, 4)]),
        ("kkk kkkk", "kk k kk kk", [(0, 2), (2, 3), (4, 6), (6, 8)]),
        ("bc d", "bc d", [(0, 2), (3, 4)]),
        ("b\u0301cd", "bcd", [(0, 4)]),
        ("...", ". . .", [(0, 1), (1, 2), (2, 3)]),
        ("wi-fi", "wi - fi", [(0, 2), (2, 3), (3, 5)]),
        ("bπc", "b [UNK] c", [(0, 1), (1, 2), (2, 3)]),
    ],
)
def test_what_shares_a_position(text, tokens, spans):
    encoding = PACKED["vi"].encode(text)
    assert encoding.tokens == tokens.split(" ")
    assert encoding.spans.tolist() == [list(span) for span in spans]


def test_mandarin_packs_letters_and_digits():
    encoding = PACKED["zh"].encode("银行ATM机2024年，pa")
    assert [token for token in encoding.tokens if "|" not in token] == ["atm", "202", "4", ",", "pa"]
    assert [syllable.text for syllable in encoding] == [*"银行", "ATM", "机", "202", "4", "年", "，", "pa"]
    assert encoding.kinds[-1] == FALLBACK  # (p, a, [EMPTY]) would be the neutral syllable pa
    assert PACKED["zh"].decode(encoding) == "yín háng atm jī 2024 nián , pa"


def test_the_marks_of_a_letter_of_the_fallback_still_make_it():
    assert PACKED["vi"].encode("zơz zo\u031bz zo\u0302\u031bz").tokens == ["zơz"] * 3


def test_one_character_is_as_by_default():
    for text in ("z", "1", ".", "🙂"):
        assert PACKED["vi"].encode(text) == PLAIN["vi"].encode(text)


# --- for any text


@each
@given(any_text)
def test_core_equals_reference(text):
    for lang, tokenizer in PACKED.items():
        assert rows(tokenizer, tokenizer.encode(text)) == reference.encode(text, lang, fallback="packed")


JOINED = Tokenizer("vi", strict=True, word_joiner="_", fallback="packed")
WIDE_JOINED = Tokenizer("vi", word_joiner="\u2581", fallback="packed")
WITH_PHRASES = Tokenizer("zh", word_joiner="_", phrases=OWN, fallback="packed")


@each
@given(any_text)
def test_core_equals_reference_with_options(text):
    assert rows(JOINED, JOINED.encode(text)) == reference.encode(text, "vi", True, "_", fallback="packed")
    assert rows(WIDE_JOINED, WIDE_JOINED.encode(text)) == reference.encode(
        text, "vi", joiner="\u2581", fallback="packed"
    )
    expected = reference.encode(text, "zh", joiner="_", phrases=OWN, fallback="packed")
    assert rows(WITH_PHRASES, WITH_PHRASES.encode(text)) == expected


@each
@given(any_text)
def test_it_is_the_default_with_some_positions_put_together(text):
    """The same syllables, the same characters and words; a packed position is letters or digits that touch."""
    for lang, tokenizer in PACKED.items():
        plain, packed = PLAIN[lang].encode(text), tokenizer.encode(text)
        at = 0
        for triple, kind, (start, end), word in zip(
            packed.triples, packed.kinds.tolist(), packed.spans.tolist(), packed.word_ids.tolist(), strict=True
        ):
            count = len(characters_of(triple)) if kind == FALLBACK else 1
            here = slice(at, at + count)
            assert (plain.kinds[here] == kind).all()
            spans = plain.spans[here].tolist()
            assert (spans[0][0], spans[-1][1]) == (start, end)
            assert all(one[1] == other[0] for one, other in pairwise(spans))
            assert set(plain.word_ids[here].tolist()) == {word}
            if kind == FALLBACK:
                characters = "".join(one.onset for one in plain.triples[here])
                assert triple == fallback_triple(characters)
                assert count == 1 or characters.isalpha() or characters.isdigit()
            else:
                assert triple == plain.triples[at]
            at += count
        assert at == len(plain)


@each
@given(any_text)
def test_units_are_those_of_the_default(text):
    for lang, tokenizer in PACKED.items():
        found = [list(units(one.encode_batch([text], spans=True))) for one in (tokenizer, PLAIN[lang])]
        assert found[0] == found[1]


@each
@given(any_text)
def test_decoding_is_stable(text):
    for tokenizer in (PACKED["vi"], JOINED):
        spelled = tokenizer.decode(tokenizer.encode(text))
        assert tokenizer.decode(tokenizer.encode(spelled)) == spelled


@given(
    st.lists(st.one_of(words, st.sampled_from(["zzz", "zzzz", "bcd", "12", "345", "b1"])), max_size=8), st.booleans()
)
def test_vietnamese_decodes_to_text_with_the_same_ids(many, glued):
    for tokenizer in (PACKED["vi"], Tokenizer("vi", strict=True, fallback="packed")):
        ids = tokenizer.encode(("" if glued else " ").join(many)).ids.tolist()
        assert tokenizer.encode(tokenizer.decode(ids)).ids.tolist() == ids


def test_the_default_tokenizer_writes_packed_ids_too():
    assert PLAIN["vi"].decode(PACKED["vi"].encode("covid - 2024 bc d")) == "covid - 2024 bcd"
    assert PACKED["vi"].decode(PACKED["vi"].encode("covid - 2024 bc d")) == "covid - 2024 bc d"


# --- every way in

FILLER = "quốc giếng abc bcd COVID zz 12 1２ ab １２３ th tp.hcm vs " * 300


@given(st.lists(any_text, max_size=5), st.sampled_from(["", "🎉", "é", "a"]), st.integers(1, 3))
def test_batches_threads_and_the_memory_of_runs_change_nothing(many, ending, threads):
    many = [FILLER, *many, *(text + ending for text in many), "a" + FILLER[:60] + ending, *many]
    for tokenizer in (PACKED["vi"], PACKED["zh"], WIDE_JOINED):
        batch = tokenizer.encode_batch(many, threads, spans=True, word_ids=True)
        bare = tokenizer.encode_batch(many, threads)
        assert np.array_equal(batch.ids, bare.ids)
        assert np.array_equal(batch.offsets, bare.offsets)
        for encoding, text in zip(batch, many, strict=True):
            single = tokenizer.encode(text)
            assert encoding == single
            assert np.array_equal(encoding.spans, single.spans)
            assert np.array_equal(encoding.word_ids, single.word_ids)


@given(st.lists(any_text, max_size=5))
def test_arrow(many):
    pa = pytest.importorskip("pyarrow", reason="Arrow arrays need pyarrow")
    from phonemic import arrow

    many = [text.encode("utf-8", "replace").decode() for text in [FILLER, *many, *many]]
    for tokenizer in PACKED.values():
        found = arrow.encode(pa.array(many, pa.large_string()), tokenizer, num_threads=2)
        batch = tokenizer.encode_batch(many)
        assert np.array_equal(found.values.to_numpy(), batch.ids)
        assert np.array_equal(found.offsets.to_numpy(), batch.offsets)


@pytest.mark.parametrize("lang", PACKED)
def test_every_code_point_between_letters_and_between_digits(lang):
    tokenizer = PACKED[lang]
    points = [
        chr(code)
        for code in [*range(0x3400), *range(0xA000, 0xD800), *range(0xF900, 0x11000), *range(0x1CC00, 0x1F200)]
    ]
    for around in ("bz", "19"):
        many = [around[0] + char + around[1] for char in points]
        batch = tokenizer.encode_batch(many, spans=True, word_ids=True)
        for encoding, text in list(zip(batch, many, strict=True))[lang == "zh" :: 3]:
            if fold(text[1]) is not None or text[1].isspace() or encoding.kinds[-1] != FALLBACK:
                assert rows(tokenizer, encoding) == reference.encode(text, lang, fallback="packed")


# --- never a syllable


@pytest.mark.parametrize("lang", PACKED)
def test_no_position_of_the_fallback_has_the_ids_of_a_syllable_or_of_a_single_character(lang):
    vocab = inventory.vocabulary(lang)
    letters = [symbol for symbol in vocab.by_role("fallback") if symbol.isalpha()]
    digits = [symbol for symbol in vocab.by_role("fallback") if symbol.isdigit()]
    single = {vocab.pack((symbol,) * 3) for symbol in vocab.by_role("fallback")}
    packed = {}
    for kind in (letters, digits):
        for size in (2, 3):
            for characters in map("".join, product(kind, repeat=size)):
                if characters != 3 * characters[0]:
                    triple = fallback_triple(characters)
                    assert characters_of(triple) == characters
                    packed[vocab.pack(triple)] = characters
    assert len(packed) == {"vi": 38_083, "zh": 19_316}[lang]
    onsets, rimes, tones = ({vocab.id(symbol) for symbol in vocab.by_role(role)} for role in ("onset", "rime", "tone"))
    empty = {inventory.EMPTY_ID}
    native = pack([list(ids) for ids in product(onsets | empty, rimes, tones | empty)])
    special = pack([[symbol] * 3 for symbol in range(6)])
    assert not set(native.tolist()) & (packed.keys() | single)
    assert not set(special.tolist()) & (packed.keys() | single)
    assert not packed.keys() & single
    assert (kinds_of(np.array([*packed, *single], np.int32)) == FALLBACK).all()
    assert (kinds_of(native) == NATIVE).all()
    assert kinds_of(special).tolist() == [SPECIAL, UNKNOWN, *[SPECIAL] * 4]
    # A position that begins a run: what is a syllable by itself follows three letters that are none.
    for start in ("", "bcd" if lang == "vi" else "abc"):
        many = [start + characters for characters in packed.values()]
        for encoding, characters in zip(PACKED[lang].encode_batch(many), packed.values(), strict=True):
            if encoding.kinds[0] == FALLBACK and not (start and characters.isdigit()):
                assert encoding.ids[-1] == vocab.pack(fallback_triple(characters))
                assert encoding.tokens[-1] == characters


def test_no_syllable_is_packed():
    for text in [*vietnamese.spellings(), *(text.upper() for text in vietnamese.spellings())]:
        assert PACKED["vi"].encode(text) == PLAIN["vi"].encode(text)
    chars = "".join(mandarin.lexicon().characters)
    assert PACKED["zh"].encode(chars) == PLAIN["zh"].encode(chars)


def test_a_position_holds_one_to_three_characters():
    for wrong in ("", "abcd", "aaa", "a1", "..", "a-b"):
        with pytest.raises(ValueError, match="share a position"):
            fallback_triple(wrong)


# --- the option


def test_the_option_is_kept(tmp_path):
    tokenizer = Tokenizer("vi", strict=True, word_joiner="_", fallback="packed")
    assert repr(tokenizer) == "Tokenizer('vi', strict=True, word_joiner='_', fallback='packed')"
    tokenizer.save(tmp_path / "tokenizer.json")
    for same in (pickle.loads(pickle.dumps(tokenizer)), Tokenizer.load(tmp_path / "tokenizer.json")):
        assert same == tokenizer
        assert hash(same) == hash(tokenizer)
        assert same.fallback == "packed"
        assert same.encode("covid").tokens == ["cov", "id"]
    assert tokenizer != Tokenizer("vi", strict=True, word_joiner="_")
    assert Tokenizer("vi").fallback == "character"
    with pytest.raises(ValueError, match="unknown fallback 'byte': choose one of character, packed"):
        Tokenizer("vi", fallback="byte")


# --- measures


def test_measures_count_positions_and_keep_to_the_units():
    many = ["covid ở Hà Nội 2024", "银行ATM机2024"]
    for lang, tokenizer in PACKED.items():
        plain, packed = metrics.Statistics(PLAIN[lang]), metrics.Statistics(tokenizer)
        plain.update(many)
        packed.update(many)
        assert packed.positions == len(tokenizer.encode(many[0])) + len(tokenizer.encode(many[1])) < plain.positions
        for name in ("units", "average_input_length", "types", "token_coverage", "type_coverage"):
            assert getattr(packed, name) == getattr(plain, name)


# --- words read together


def test_words_are_read_together_and_no_position_lies_in_two():
    words = ["银", "行AT", "M", "", "\u0301机", "20", "24", "年"]
    assert separators(words, PLAIN["zh"]) == [""] * 8
    assert separators(words, PACKED["zh"]) == ["", "", " ", "", "", "", " ", ""]
    assert separators(["covid", "19"], PACKED["vi"]) == ["", " "]


@given(st.lists(foreign, max_size=6))
def test_no_position_lies_in_two_words(many):
    tokenizer = PACKED["zh"]
    text, starts = "", []
    for word, gap in zip(many, separators(many, tokenizer), strict=True):
        starts.append(len(text + gap))
        text += gap + word
    encoding = tokenizer.encode(text)
    for start, end in encoding.spans[encoding.kinds == FALLBACK].tolist():
        letters = [at for at in range(start, end) if fold(text[at])]
        assert not any(letters[0] < cut <= letters[-1] for cut in starts)


def test_random_texts_of_every_width():
    """Strings of 1, 2 and 4 bytes a character."""
    rng = random.Random(7)
    for extra in ("", "ơ", "🙂"):
        text = "".join(rng.choices("bcdz12 .aé" + extra, k=5000))
        for lang, tokenizer in PACKED.items():
            assert rows(tokenizer, tokenizer.encode(text)) == reference.encode(text, lang, fallback="packed")
            batch = tokenizer.encode_batch([text] * 5, spans=True, word_ids=True)
            assert rows(tokenizer, batch[4]) == reference.encode(text, lang, fallback="packed")
