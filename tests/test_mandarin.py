"""Pinyin against pypinyin's own analysis, and readings in context against pypinyin, character by character."""

import json
import lzma
import unicodedata
from functools import cache

import numpy as np
import pytest

from phonemic import Tokenizer, mandarin, reference
from phonemic.errors import PhraseError
from phonemic.inventory import NATIVE
from phonemic.options import TokenizerOptions

pypinyin = pytest.importorskip("pypinyin")
from pypinyin.contrib.tone_convert import to_finals, to_initials, to_tone3  # noqa: E402

NEUTRAL = "[EMPTY]"

EXAMPLES = {
    "gē": ("k", "ɤ", "˥˥"), "guāng": ("k", "uaŋ", "˥˥"), "liú": ("l", "iou", "˧˥"), "duì": ("t", "uei", "˥˩"),
    "lùn": ("l", "uɘn", "˥˩"), "yī": (NEUTRAL, "i", "˥˥"), "wū": (NEUTRAL, "u", "˥˥"), "yuè": (NEUTRAL, "yɛ", "˥˩"),
    "qù": ("t͡ɕʰ", "y", "˥˩"), "juǎn": ("t͡ɕ", "yɛn", "˨˩˦"), "lǜ": ("l", "y", "˥˩"), "lüè": ("l", "yɛ", "˥˩"),
    "zǐ": ("t͡s", "ɹ̩", "˨˩˦"), "shí": ("ʂ", "ɻ̩", "˧˥"), "rì": ("ʐ", "ɻ̩", "˥˩"), "mǐ": ("m", "i", "˨˩˦"),
    "ér": (NEUTRAL, "aɻ", "˧˥"), "bō": ("p", "wo", "˥˥"), "ma": ("m", "a", NEUTRAL), "wēng": (NEUTRAL, "uɘŋ", "˥˥"),
    "wòng": (NEUTRAL, "uɘŋ", "˥˩"), "xiōng": ("ɕ", "iʊŋ", "˥˥"), "yo": (NEUTRAL, "io", NEUTRAL), "ń": (NEUTRAL, "n̩", "˧˥"),
    "ḿ": (NEUTRAL, "m̩", "˧˥"), "ńg": (NEUTRAL, "ŋ̩", "˧˥"), "hng": ("x", "ŋ̩", NEUTRAL), "hm": ("x", "m̩", NEUTRAL),
    "ê̄": (NEUTRAL, "ɛ", "˥˥"), "lv4": ("l", "y", "˥˩"), "lu:e4": ("l", "yɛ", "˥˩"), "hang2": ("x", "aŋ", "˧˥"),
    "de5": ("t", "ɤ", NEUTRAL), "NÜ3": ("n", "y", "˨˩˦"),
}  # fmt: skip


@pytest.mark.parametrize("pinyin", EXAMPLES)
def test_pinyin(pinyin):
    assert mandarin.factorize(pinyin) == EXAMPLES[pinyin]


@pytest.mark.parametrize("pinyin", ["", "zz", "hang6", "há2", "yii", "háńg", "er2r", "b", "jong1", "行", "bn1", "2"])
def test_not_pinyin(pinyin):
    with pytest.raises(ValueError, match="not"):
        mandarin.factorize(pinyin)


@cache
def all_syllables():
    lexicon = mandarin.lexicon()
    return {*lexicon.characters.values(), *(text for texts in lexicon.phrases.values() for text in texts)}


def test_onsets_and_rimes_partition_syllables_as_pypinyin_does():
    """Our onset is a function of pypinyin's initial and our rime of its initial and final, and the other way round."""
    onsets, rimes = {}, {}
    for text in all_syllables():
        triple, tone = mandarin.factorize(text), to_tone3(text, neutral_tone_with_five=True)[-1]
        assert triple.tone == mandarin.TONES[int(tone)]
        initial, final = to_initials(text), to_finals(text)
        if triple.rime in ("m̩", "n̩", "ŋ̩", "io") or (final == "ong" and not initial):
            continue  # pypinyin has no finals for the syllabic nasals, none of its own for yo, and keeps wong
        onsets.setdefault(initial, set()).add(triple.onset)
        apical = {"z": 1, "c": 1, "s": 1, "zh": 2, "ch": 2, "sh": 2, "r": 2}.get(initial, 0) if final == "i" else 0
        rimes.setdefault((final, apical), set()).add(triple.rime)
    assert all(len(names) == 1 for names in [*onsets.values(), *rimes.values()])
    assert len({name for names in onsets.values() for name in names}) == len(onsets) == 22
    assert len({name for names in rimes.values() for name in names}) == len(rimes)


def test_pinyin_survives_the_round_trip():
    for text in all_syllables() - {"wòng"}:
        triple = mandarin.factorize(text)
        assert mandarin.spell(triple) == text
        assert mandarin.factorize(mandarin.spell(triple, numbers=True)) == triple
    with pytest.raises(ValueError, match="no pinyin syllable"):
        mandarin.spell(("t͡ɕ", "ʊŋ", "˥˥"))


@pytest.mark.parametrize(
    ("text", "pinyin"),
    [
        ("银行行长", "yín háng háng zhǎng"), ("重庆重要", "chóng qìng zhòng yào"), ("音乐快乐", "yīn yuè kuài lè"),
        ("一心一意", "yì xīn yí yì"), ("龍門石窟", "lóng mén shí kū"), ("嗯哼", "ń hēng"),
        ("我们，abc 3", "wǒ men , abc 3"),
    ],
)  # fmt: skip
def test_readings_in_context(zh, text, pinyin):
    assert zh.decode(zh.encode(text)) == pinyin


def test_a_dangling_prefix_is_read_as_pypinyin_reads_it(zh):
    """At the end of a run that breaks off inside a phrase, pypinyin looks for no shorter phrase inside it."""
    lexicon = mandarin.lexicon()
    prefixes = {phrase[:end] for phrase in lexicon.phrases for end in range(2, len(phrase))} - set(lexicon.phrases)
    tried = 0
    for prefix in sorted(prefixes):
        inside = any(prefix[at : at + 2] in lexicon.phrases for at in range(1, len(prefix) - 1))
        starts = any(prefix[:end] in lexicon.phrases for end in range(2, len(prefix)))
        if inside and not starts:
            tried += 1
            assert zh.encode(prefix).ids.tolist() == packed_readings(zh, prefix)
    assert tried > 100


@cache
def _pack(lang, pinyin):
    return Tokenizer(lang).vocab.pack(mandarin.factorize(pinyin))


def packed_readings(zh, text):
    """pypinyin's reading of every character, packed; -1 where it gives none."""
    readings = pypinyin.lazy_pinyin(text, style=pypinyin.Style.TONE, errors=list)
    assert len(readings) == len(text)
    return [-1 if pinyin == char else _pack("zh", pinyin) for pinyin, char in zip(readings, text, strict=True)]


FILES = [
    "zh/raw/laws.txt.xz", "zh/raw/lctt.txt.xz", "zh/raw/weekly.txt.xz", "zh/ud_gsd/zh_gsd-ud-train-older.conllu",
    "zh/ud_gsd/zh_gsd-ud-dev.conllu", "zh/ud_gsd/zh_gsd-ud-test.conllu", "zh/ud_gsdsimp/zh_gsdsimp-ud-dev.conllu",
    "zh/ud_gsdsimp/zh_gsdsimp-ud-test.conllu", "zh/weibo_ner/weiboNER_2nd_conll.train", "zh/cpp/dev.sent",
    "zh/tnews/dev.json", "zh/tnews/unlabeled.json", "zh/afqmc/dev.json", "zh/afqmc/test.json", "zh/ocnli/dev.json",
    "zh/ocnli/train.10k.json", "zh/cluener/train.json", "zh/cluener/dev.json", "zh/cluener/test.json",
    "zh/cluewsc2020/train.json", "zh/cmrc2018/cmrc2018_dev.json", "zh/c3/c3-d-train.json", "zh/c3/c3-m-train.json",
    "zh/csl_ydli/dev.tsv", "zh/csl_ydli/test.tsv",
]  # fmt: skip
#: Compatibility ideographs: test_compatibility_ideographs_are_read_as_what_they_are_equal_to says why.
EQUAL_TO_ANOTHER = frozenset(mandarin.compatibility_ideographs())
#: Characters read of each file, of which a fifth is compared, 2 million in all: pypinyin takes minutes for them.
LIMIT = {"zh/raw/laws.txt.xz": 1_000_000, "zh/raw/lctt.txt.xz": 1_000_000, "zh/c3/c3-m-train.json": 500_000}


def read_text(path, limit):
    with (lzma.open if path.suffix == ".xz" else open)(path, "rt", encoding="utf-8") as file:
        text = file.read(limit)
    return json.dumps(json.loads(text), ensure_ascii=False) if "\\u" in text and path.suffix == ".json" else text


def test_readings_equal_pypinyins_on_a_million_characters(zh, data):
    compared = 0
    for name in FILES:
        text = read_text(data(name), LIMIT.get(name, 400_000))
        text = text[: len(text) // 10]
        for start in range(0, len(text), 50_000):
            chunk = text[start : start + 50_000]
            encoding = zh.encode(chunk)
            ours = np.full(len(chunk), -1)
            native = encoding.kinds == NATIVE
            ours[encoding.spans[native, 0]] = encoding.ids[native]
            theirs = np.array(packed_readings(zh, chunk))
            theirs[[at for at, char in enumerate(chunk) if char in EQUAL_TO_ANOTHER]] = -2
            different = np.flatnonzero((ours != theirs) & (theirs != -2))
            assert not len(different), (name, [chunk[at - 5 : at + 5] for at in different[:3]])
            compared += len(chunk)
    assert compared > 950_000


def test_compatibility_ideographs_are_read_as_what_they_are_equal_to(zh):
    """The one difference from pypinyin, which has no reading for 1,000 of the 1,002: NFC turns them into these."""
    pairs = mandarin.compatibility_ideographs()
    assert sum(unicodedata.normalize("NFC", char) == other for char, other in pairs.items()) == 1002
    for char, other in pairs.items():
        assert zh.encode(char).ids.tolist() == zh.encode(other).ids.tolist()
    assert zh.encode("\uf90a\u5c6c").ids.tolist() == zh.encode("金屬").ids.tolist()
    assert zh.decode(zh.encode("\uf99a行")) == zh.decode(zh.encode("連行")) == "lián xíng"


@pytest.mark.parametrize(
    "options", [{}, {"readings": "context"}, {"sandhi": True, "erhua": True}, {"fallback": "packed"}]
)
def test_radicals_and_enclosed_characters_are_the_characters_they_stand_for(options):
    """As text from PDFs and lists has them."""
    tokenizer = Tokenizer("zh", phrases={"行用": "hang2 yong4"}, **options)
    for text, meant in (
        ("⽤⼾⼀⻓⼤", "用户一长大"), ("银⾏⾏⻓", "银行行长"), ("不⼀样", "不一样"), ("⼈⺠⽇报", "人民日报"), ("㈠㊁㊂", "一二三"), ("⾏⽤", "行用"),
        ("⼀⼼⼀意", "一心一意"), ("🈚🉐㊙", "無得秘"),
    ):  # fmt: skip
        assert tokenizer.encode(text).ids.tolist() == tokenizer.encode(meant).ids.tolist(), text
        assert tokenizer.encode_batch([text * 30])[0].ids.tolist() == tokenizer.encode(meant * 30).ids.tolist()
        rows = reference.encode(text, "zh", phrases={"行用": ["hang2", "yong4"]}, **options)
        assert [row.triple for row in rows] == tokenizer.encode(text).triples
    assert tokenizer.phrases == Tokenizer("zh", phrases={"⾏⽤": "hang2 yong4"}).phrases
    radicals = [char for char in map(chr, range(0x2E80, 0x2FD6)) if unicodedata.category(char) == "So"]
    assert {char for char in radicals if char not in mandarin.compatibility_ideographs()} == {"\u2e80"}


def test_a_han_character_without_reading_is_unknown(zh):
    without = [char for char in map(chr, range(0x30000, 0x31350)) if char not in mandarin.lexicon().characters]
    assert without
    assert zh.encode("".join(without)).tokens == ["[UNK]"] * len(without)


@pytest.mark.parametrize("readings", ["pypinyin", "context"])
def test_letters_and_digits_of_a_phrase_stand_for_themselves(readings):
    """As CC-CEDICT writes them: A股 [A gu3], 卡拉OK [ka3 la1 O K]."""
    own = Tokenizer("zh", readings=readings, phrases={"A股行": "A gu3 hang2", "卡拉OK": ["ka3", "la1", "O", "k"]})
    assert own.decode(own.encode("看A股行情")) == "kàn a gǔ háng qíng"
    for text in ("a股行", "Ａ股行", "ａ股行"):
        assert own.decode(own.encode(text)) == "a gǔ háng", text
    assert own.decode(own.encode("A股，行，B股行")) == "a gǔ , xíng , b gǔ xíng"
    assert own.encode("卡拉ok长").spans.tolist() == [[at, at + 1] for at in range(5)]
    assert own.phrases["卡拉OK"] == "ka3 la1 O K"
    assert TokenizerOptions.from_json(own.options.to_json(), "here").phrases == own.phrases


@pytest.mark.parametrize(
    ("phrase", "pinyin", "message"),
    [("A股", "B gu3", "'A' stands for itself"), ("A", "A", "one or more Han"), ("A.股", "A . gu3", "one or more Han")],
)
def test_letters_of_a_phrase_that_are_refused(phrase, pinyin, message):
    with pytest.raises(PhraseError, match=message):
        Tokenizer("zh", phrases={phrase: pinyin})


def test_letters_of_a_phrase_are_not_packed():
    with pytest.raises(ValueError, match="needs fallback='character'"):
        Tokenizer("zh", phrases={"A股": "A gu3"}, fallback="packed")
