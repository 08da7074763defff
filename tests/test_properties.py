"""Properties that hold for every string, and the core held equal to its plain-Python twin."""

import unicodedata

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from phonemic import Tokenizer, reference, vietnamese
from phonemic.characters import IGNORABLE, JAMO, MARK, SPACE, kind_of
from phonemic.reading.context import reader

TOKENIZERS = {lang: Tokenizer(lang) for lang in ("vi", "zh")}
CONTEXT = Tokenizer("zh", readings="context")
SPOKEN = Tokenizer("zh", readings="context", sandhi=True, erhua=True)
#: Those that read the same whatever the normal form and the case.
READERS = (*TOKENIZERS.values(), CONTEXT, Tokenizer("zh", sandhi=True, erhua=True), SPOKEN)

VIETNAMESE = "aăâeêioôơuưyáàảãạắằẳẵặấầẩẫậéèẻẽẹếềểễệíìỉĩịóòỏõọốồổỗộớờởỡợúùủũụứừửữựýỳỷỹỵbcdđghklmnpqrstvxfjwz"
HAN = "银行长重庆不了了之一做二休中国人的地得都好干樂龍門\uf900\uf95c\U00020000\U0002f802\U00030000〇"
MARKS = "\u0300\u0301\u0303\u0309\u0323\u0302\u0306\u031b\u0308\u0327\u0340\u034f\u200b\u200d\u00ad\ufe0f\U000e0100"
ODD = "\0\x1f\x85\ufeff\ud800\udfff가\u1100\u1161\u11a8ßİıſKÅﬁ①²Ⅷ½👨‍👩‍👧🇻🇳☝🏽1٣９。，“”…《》_-.@#\u3000\t\n "

syllable_like = st.text(st.sampled_from(VIETNAMESE + VIETNAMESE.upper() + MARKS + " _."), max_size=12)
phrases = st.sampled_from(
    ["银行行长", "不了了之", "一不做", "重庆银行", "音樂", "不可", "了解", "一心一意", "得了", "中国人民"]
)
chinese_like = st.lists(
    st.one_of(
        phrases, phrases.map(lambda text: text[:-1]), st.text(st.sampled_from(HAN + MARKS + " ，a1"), max_size=4)
    ),
    max_size=6,
).map("".join)
odd = st.text(st.sampled_from(ODD + MARKS + "aơ银ệ"), max_size=12)
texts = st.lists(st.one_of(st.text(max_size=12), odd, syllable_like, chinese_like), max_size=4).map("".join)

NASTY = [
    "", " ", "\u0301", " \u0301a", "a\u0301\u0301", "o\u0323\u0302", "o\u0302\u0323", "o\u0302\u031b", "kợ\u200bz", "ti\u00adếng",
    "quốc\ufe0f", "COVID-19", "👩🏽‍🚀", "\ud83d\ude00", "\0", "\u1161", "한국어 tiếng", "tôi是", "h2o", "银\u200b行", "银\ufe00行",
    "不了了", "一不做", "\U0002f800", "İSTANBUL ıſ", "\u212b\u2126\u212a", "\x1c\x1da", "a" * 100, "á" * 300, "ngh" * 50,
    "不了了" * 30,
]  # fmt: skip


#: Beside letters that have other forms or cases, characters whose readings vary.
BESIDE = [
    "café行", "Beyoncé为", "José重", "한국还", "行\u1112\u1161\u11ab长", "银行и长x好", "银行И长X好", "会计Ⅱ行", "行\u037e长", "が行",
    "か\u3099か\u3099重が长", "\U0002f999行", "行\uf90a长", "\uf91a著", "音\uf95c重", "\U0002f99f名", "看\U0002f99f", "\U0002f96a重",
    "\uf96e公好龙", "行\u200b\u0301\u0301业", "\u0301行\ufe0f长\U000e0100", "\U0001d15e重\U0001d165", "著" + "e\u0301" * 31 + "這",
    "著" + "é" * 32 + "這", "這" + "각" * 31 + "著",
]  # fmt: skip


def nasty(test):
    for text in NASTY:
        test = example(text)(test)
    return test


def beside(test):
    for text in BESIDE:
        test = example(text)(test)
    return test


#: Han characters whose readings vary, between anything else.
varied = st.one_of(st.sampled_from("行长重为还著的地得好"), odd, st.text(max_size=3))
varying = st.lists(varied, max_size=8).map("".join)


def rows(tokenizer, encoding):
    unpack = tokenizer.vocab.unpack
    columns = zip(encoding.ids.tolist(), encoding.spans.tolist(), encoding.word_ids.tolist(), strict=True)
    return [(unpack(packed), start, end, word, packed >> 24) for packed, (start, end), word in columns]


@nasty
@given(texts)
def test_core_equals_reference(text):
    for lang, tokenizer in TOKENIZERS.items():
        assert rows(tokenizer, tokenizer.encode(text)) == reference.encode(text, lang)


STRICT, JOINED = Tokenizer("vi", strict=True), Tokenizer("vi", word_joiner="_")
PACKED = Tokenizer("vi", fallback="packed")
OWN = {"银行长": ["yin2", "xing2", "chang2"], "行": ["xing4"], "不了": ["bu4", "le5"], "𰀀龍": ["a1", "long2"]}
WITH_PHRASES = Tokenizer("zh", phrases=OWN)
#: Phrases with letters and digits, which stand for themselves, in every place.
LETTERED = {"A长": ["A", "zhang3"], "行1": ["hang2", "1"], "A1银": ["A", "1", "yin4"], "不A了": ["bu4", "A", "liao3"]}
lettered = st.text(st.sampled_from("aA1ａ１长行银不了一長́️ _，b２"), max_size=10)
LETTERED_OPTIONS = [
    {"readings": readings, **spoken}
    for readings in ("pypinyin", "context")
    for spoken in ({}, {"sandhi": True, "erhua": True})
]
WITH_LETTERS = [Tokenizer("zh", phrases=LETTERED, **options) for options in LETTERED_OPTIONS]
WITH_FORMS = {
    readings: Tokenizer("zh", phrases=LETTERED, readings=readings, form=True) for readings in ("pypinyin", "context")
}


@nasty
@given(texts)
def test_core_equals_reference_with_options(text):
    assert rows(STRICT, STRICT.encode(text)) == reference.encode(text, "vi", strict=True)
    assert rows(JOINED, JOINED.encode(text)) == reference.encode(text, "vi", joiner="_")
    assert rows(WITH_PHRASES, WITH_PHRASES.encode(text)) == reference.encode(text, "zh", phrases=OWN)


@example("一ａ")
@example("银银长長1不A了一ａ")
@given(lettered)
def test_core_equals_reference_by_phrases_with_letters(text):
    for options, tokenizer in zip(LETTERED_OPTIONS, WITH_LETTERS, strict=True):
        expected = reference.encode(text, "zh", phrases=LETTERED, **options)
        assert rows(tokenizer, tokenizer.encode(text)) == expected, options
    for tokenizer in WITH_FORMS.values():
        assert tokenizer.decode(tokenizer.encode(text)) == text


def test_a_letter_behind_any_character_is_read_once():
    """The set of pairs that may be in a phrase holds some that are in none, such as 一ａ."""
    for char in map(chr, range(0x4E00, 0x9FA6)):
        for letter in "ａA1":
            for tokenizer in WITH_LETTERS[:2]:
                assert len(tokenizer.encode(f"{char}{letter}").ids) == 2


@nasty
@beside
@given(st.one_of(texts, varying))
def test_core_equals_reference_in_context(text):
    assert rows(CONTEXT, CONTEXT.encode(text)) == reference.encode(text, "zh", readings="context")
    spoken = reference.encode(text, "zh", readings="context", sandhi=True, erhua=True)
    assert rows(SPOKEN, SPOKEN.encode(text)) == spoken


@pytest.mark.parametrize("text", ["café行", "Beyoncé为", "José重", "한국还", "银行и长x好"])
def test_what_stands_beside_is_seen_alike_in_every_form(text):
    ids = CONTEXT.encode(text).ids.tolist()
    for other in (unicodedata.normalize("NFD", text), text.upper(), unicodedata.normalize("NFD", text.upper())):
        assert CONTEXT.encode(other).ids.tolist() == ids


def test_every_character_is_seen_alike_in_every_form():
    look, beyond = reader().look, (*range(0x20000, 0x110000, 89), *range(0x2F800, 0x2FA20))  # most are of one kind
    for char in map(chr, (*range(0x20000), *beyond)):
        if kind_of(char) in (MARK, IGNORABLE, JAMO):
            continue
        assert look(unicodedata.normalize("NFC", char)[0]) == look(unicodedata.normalize("NFD", char)[0]) == look(char)
        if one_to_one(char):
            assert look(char.upper()) == look(char.lower()) == look(char)


@nasty
@given(texts)
def test_spans_are_ordered_disjoint_and_cover_every_character(text):
    for tokenizer in TOKENIZERS.values():
        encoding = tokenizer.encode(text)
        flat = encoding.spans.reshape(-1).tolist()
        assert flat == sorted(flat)
        assert all(start < end for start, end in encoding.spans.tolist())
        assert not flat or (flat[0] >= 0 and flat[-1] <= len(text))
        covered = {at for start, end in encoding.spans.tolist() for at in range(start, end)}
        outside = {kind_of(char) for at, char in enumerate(text) if at not in covered}
        assert outside <= {SPACE, IGNORABLE, MARK}
        assert not any(text[at].isspace() for at in covered)
        assert len(encoding) <= len(text)


@nasty
@given(texts)
def test_mandarin_has_one_position_a_character(text):
    own = [char for char in text if kind_of(char) not in (SPACE, IGNORABLE, MARK, JAMO)]
    encoding = TOKENIZERS["zh"].encode(text)
    starts = [text[start] for start in encoding.spans[:, 0].tolist() if kind_of(text[start]) != JAMO]
    assert starts == own


@nasty
@beside
@given(st.one_of(texts, varying))
def test_normal_forms_give_the_same_ids(text):
    text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    for tokenizer in READERS:
        ids = tokenizer.encode(text).ids.tolist()
        assert tokenizer.encode(unicodedata.normalize("NFC", text)).ids.tolist() == ids
        assert tokenizer.encode(unicodedata.normalize("NFD", text)).ids.tolist() == ids


def one_to_one(text):
    """The text without the characters whose upper or lower case is not one character of the same kind (ß, ﬁ, U+0345)."""
    return "".join(
        char for char in text if len(char.upper()) == len(char.lower()) == 1 and kind_of(char.upper()) == kind_of(char)
    )


@nasty
@beside
@given(st.one_of(texts, varying))
def test_case_does_not_matter(text):
    text = one_to_one(text)
    for tokenizer in READERS:
        ids = tokenizer.encode(text).ids.tolist()
        for other in (text.upper(), text.lower(), text.swapcase()):
            assert tokenizer.encode(other).ids.tolist() == ids


@nasty
@given(texts)
def test_word_ids_are_indices_into_the_split_text(text):
    for tokenizer in TOKENIZERS.values():
        encoding = tokenizer.encode(text)
        words = text.split()
        for (start, end), word in zip(encoding.spans.tolist(), encoding.word_ids.tolist(), strict=True):
            assert text[start:end] in words[word]
            assert len(text[:start].split()) - (start > 0 and not text[start - 1].isspace()) == word


@given(st.lists(texts, max_size=8), st.integers(1, 4))
def test_a_batch_equals_single_texts_on_any_number_of_threads(many, threads):
    for tokenizer in TOKENIZERS.values():
        batch = tokenizer.encode_batch(many, num_threads=threads, spans=True, word_ids=True)
        assert len(batch) == len(many)
        for encoding, text in zip(batch, many, strict=True):
            single = tokenizer.encode(text)
            assert encoding == single
            assert np.array_equal(encoding.spans, single.spans)
            assert np.array_equal(encoding.word_ids, single.word_ids)


#: Long enough for the batch loop to remember syllables, and full of syllables to remember.
FILLER = "quốc giếng hoà quo\u0302\u0301c QUỐC zô covid (20.11, 3%) - " * 400


@given(st.lists(texts, max_size=6), st.sampled_from(["", "🎉", "é", "a"]))
def test_a_batch_that_remembers_syllables_equals_single_texts(many, ending):
    """Texts of 1, 2 and 4 bytes a character share one memory; so do the strict and the lenient reading not."""
    many = [FILLER, *many, *(text + ending for text in many), "a" + FILLER[:50] + ending, "hoa", "hoa🎉", *many]
    for tokenizer in (TOKENIZERS["vi"], STRICT, JOINED, PACKED):
        batch = tokenizer.encode_batch(many, spans=True, word_ids=True)
        assert np.array_equal(tokenizer.encode_batch(many).ids, batch.ids)
        for encoding, text in zip(batch, many, strict=True):
            single = tokenizer.encode(text)
            assert encoding == single
            assert np.array_equal(encoding.spans, single.spans)
            assert np.array_equal(encoding.word_ids, single.word_ids)


@pytest.mark.parametrize(
    "around", ["\u3000hoa-x ", "hoa\u3000-x ", "-\u3000hoa ", "\u2581hoa ", "hoa\u2581 ", "\u2581zo "]
)
def test_wide_spaces_and_joiners_are_no_part_of_a_remembered_syllable(around):
    """They stand among the code units that the batch loop looks up as one."""
    text = around * 4000
    for tokenizer in (TOKENIZERS["vi"], Tokenizer("vi", word_joiner="\u2581")):
        batch, single = tokenizer.encode_batch([text], spans=True, word_ids=True), tokenizer.encode(text)
        assert np.array_equal(batch.spans, single.spans)
        assert np.array_equal(batch.word_ids, single.word_ids)


@nasty
@given(texts)
def test_decoding_is_stable(text):
    vi = TOKENIZERS["vi"]
    spelled = vi.decode(vi.encode(text))
    assert vi.decode(vi.encode(spelled)) == spelled


words = st.sampled_from(
    [*vietnamese.spellings(), "covid", "th", "ng", "b", "iê", "tiê", "x", "19", "-", ".", "🙂", "qu", "gi"]
)


@given(st.lists(words, max_size=8), st.booleans())
def test_vietnamese_decodes_to_text_with_the_same_ids(many, glued):
    vi = TOKENIZERS["vi"]
    ids = vi.encode(("" if glued else " ").join(many)).ids.tolist()
    assert vi.encode(vi.decode(ids)).ids.tolist() == ids


@nasty
@given(texts)
def test_pinyin_determines_the_ids(text):
    zh = TOKENIZERS["zh"]
    for packed, kind in zip(zh.encode(text).ids, zh.encode(text).kinds, strict=True):
        if kind == 0:
            assert zh.factorize(zh.decode([packed])) == zh.vocab.unpack(packed)


@pytest.mark.parametrize("lang", TOKENIZERS)
def test_every_code_point_alone_equals_the_reference_and_its_normal_forms(lang):
    tokenizer = TOKENIZERS[lang]
    points = [chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000]
    batch = tokenizer.encode_batch(points, spans=True)
    composed = tokenizer.encode_batch([unicodedata.normalize("NFC", char) for char in points])
    decomposed = tokenizer.encode_batch([unicodedata.normalize("NFD", char) for char in points])
    assert np.array_equal(batch.ids, composed.ids)
    assert np.array_equal(batch.ids, decomposed.ids)
    assert np.array_equal(batch.offsets, composed.offsets)
    assert np.array_equal(batch.offsets, decomposed.offsets)
    lengths = np.array([kind_of(char) not in (SPACE, IGNORABLE, MARK) for char in points])
    assert np.array_equal(batch.lengths, lengths)
    for char in points[:0x3400] + points[0x4E00:0x4F00] + points[0xA000:0x11000:7]:
        assert rows(tokenizer, tokenizer.encode(char)) == reference.encode(char, lang)
