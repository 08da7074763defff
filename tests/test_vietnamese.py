"""Vietnamese spelling against the attested lists, an independent IPA, and the spellings that people get wrong."""

import csv
import lzma
import unicodedata
from collections import defaultdict

import numpy as np
import pytest

from phonemic import Tokenizer, vietnamese
from phonemic.metrics import Statistics

FLAT, GRAVE, ACUTE, HOOK, TILDE, DOT = (symbol for symbol, _ in vietnamese.TONES.values())

SPECIAL = {
    # gi and what follows it
    "gì": ("z", "i", GRAVE), "gìn": ("z", "in", GRAVE), "giêng": ("z", "ieŋ", FLAT), "giếng": ("z", "ieŋ", ACUTE),
    "giết": ("z", "iet", ACUTE), "giặt": ("z", "ăt", DOT), "gia": ("z", "a", FLAT), "giũ": ("z", "u", TILDE),
    "giê": ("z", "e", FLAT), "giữa": ("z", "ɯɘ", TILDE), "giường": ("z", "ɯɘŋ", GRAVE),
    # qu
    "quốc": ("k", "u̯ok", ACUTE), "quyển": ("k", "u̯ien", HOOK), "quy": ("k", "u̯i", FLAT), "qui": ("k", "u̯i", FLAT),
    "quơ": ("k", "u̯ɘ", FLAT), "quýnh": ("k", "u̯iɲ", ACUTE), "quạu": ("k", "u̯ău̯", DOT), "quăng": ("k", "u̯ăŋ", FLAT),
    "cuốc": ("k", "uok", ACUTE), "qua": ("k", "u̯a", FLAT), "cua": ("k", "uo", FLAT),
    # medials
    "hoàng": ("h", "u̯aŋ", GRAVE), "khuya": ("x", "u̯ie", FLAT), "khuyên": ("x", "u̯ien", FLAT),
    "khuỷu": ("x", "u̯iu̯", HOOK), "khuều": ("x", "u̯eu̯", GRAVE), "ngoèo": ("ŋ", "u̯ɛu̯", GRAVE),
    "thuở": ("tʰ", "u̯ɘ", HOOK), "huơ": ("h", "u̯ɘ", FLAT),
    # long vowels
    "xoong": ("s", "ɔːŋ", FLAT), "soóc": ("ʂ", "ɔːk", ACUTE),
    # no onset
    "yêu": ("[EMPTY]", "ieu̯", FLAT), "yên": ("[EMPTY]", "ien", FLAT), "ia": ("[EMPTY]", "ie", FLAT),
    "uya": ("[EMPTY]", "u̯ie", FLAT), "ưa": ("[EMPTY]", "ɯɘ", FLAT), "oẳn": ("[EMPTY]", "u̯ăn", HOOK),
    "oanh": ("[EMPTY]", "u̯aɲ", FLAT), "uỵch": ("[EMPTY]", "u̯ic", DOT), "ạ": ("[EMPTY]", "a", DOT),
    "ỵ": ("[EMPTY]", "i", DOT), "Ý": ("[EMPTY]", "i", ACUTE), "Ỷ": ("[EMPTY]", "i", HOOK),
    # a before y and u
    "tay": ("t", "ăi̯", FLAT), "tai": ("t", "ai̯", FLAT), "cau": ("k", "ău̯", FLAT), "cao": ("k", "au̯", FLAT),
    # place names
    "Đắk": ("d", "ăk", ACUTE), "Lắk": ("l", "ăk", ACUTE), "Kon": ("k", "ɔn", FLAT), "Tum": ("t", "um", FLAT),
    "Pác": ("p", "ak", ACUTE), "Bó": ("b", "ɔ", ACUTE), "Sa": ("ʂ", "a", FLAT), "Pa": ("p", "a", FLAT),
    "pin": ("p", "in", FLAT), "pê": ("p", "e", FLAT),
    # a stop without its mark, and c g ng k before the wrong vowel
    "hoc": ("h", "ɔk", FLAT), "ka": ("k", "a", FLAT), "ce": ("k", "ɛ", FLAT), "ge": ("ɣ", "ɛ", FLAT),
    "ngê": ("ŋ", "e", FLAT),
}  # fmt: skip

SAME = [
    ("hoà", "hòa"), ("thuỷ", "thủy"), ("khoẻ", "khỏe"), ("hoàng", "hòang"), ("thuở", "thủơ"), ("kỹ", "kĩ"), ("lý", "lí"),
    ("quý", "quí"), ("quả", "qủa"), ("già", "gìa"), ("Đắk", "Ðắk"), ("Đắk", "Ɖắk"), ("ĐẮK", "đắk"), ("Giếng", "gIẾNG"),
]  # fmt: skip

#: Entries of the lists that are no syllables: a missing horn or mark, a letter too many, one too few, a foreign word.
TYPING_ERRORS = {
    "luong-sorted.txt": set(),
    "duc-filtered.txt": {
        "khuắng", "khyển", "neon", "ngườ", "quoàng", "quoạng", "quoắt", "quuyết",
    },
    "attested-vietnamese-syllables.txt": set(),
}  # fmt: skip


@pytest.mark.parametrize("spelling", SPECIAL)
def test_special_spelling(vi, spelling):
    (syllable,) = vi.syllables(spelling)
    assert vi.encode(spelling).triples == [SPECIAL[spelling]]
    assert syllable.ipa == "".join(SPECIAL[spelling]).replace("[EMPTY]", "")
    assert (syllable.text, syllable.start, syllable.end) == (spelling, 0, len(spelling))


@pytest.mark.parametrize(("one", "other"), SAME)
def test_two_spellings_of_one_syllable(vi, one, other):
    assert vi.encode(one).ids.tolist() == vi.encode(other).ids.tolist()
    assert len(vi.encode(one)) == 1


@pytest.mark.parametrize(
    "text",
    [
        "Ea", "mưo", "áá", "qa", "gh", "ng", "qu\u0308a", "bń", "zô", "wa", "fo", "luônnn", "nữạ", "vọị", "zậy", "fải",
        "wá", "qá", "qán", "đuọc", "buòn", "nhièu", "quyét", "nghành", "lýnh",
    ],
)  # fmt: skip
def test_no_syllable(vi, text):
    assert vietnamese.factorize(text) is None
    assert len(vi.encode(text)) == len(unicodedata.normalize("NFC", text))
    assert not any(syllable.is_native for syllable in vi.syllables(text))


@pytest.mark.parametrize(
    ("typed", "meant"),
    [("truờng", "trường"), ("đuợc", "được"), ("đưọc", "được"), ("hưong", "hương"), ("Nguời", "người"), ("ruợu", "rượu"),
     ("giuờng", "giường"), ("gưom", "gươm"), ("thưòng", "thường"), ("TRUỜNG", "trường"),
     ("uớc", "ước"), ("ngưoi", "ngươi")],
)  # fmt: skip
def test_one_horn_is_read_as_two(vi, typed, meant):
    """Before a coda no other rime is written so: in the lenient reading only."""
    for form in ("NFC", "NFD"):
        text = unicodedata.normalize(form, typed)
        assert vi.encode(text).ids.tolist() == vi.encode(meant).ids.tolist()
        if typed.lower() != meant:
            assert vietnamese.factorize(text, strict=True) is None
            assert len(vi.encode(text)) == 1
            assert vi.decode(vi.encode(text)) == meant


def test_one_horn_without_a_coda_stays(vi):
    assert vi.encode("thuở huơ quơ quờn").triples == [
        ("tʰ", "u̯ɘ", "˧˩"), ("h", "u̯ɘ", "˧˧"), ("k", "u̯ɘ", "˧˧"), ("k", "u̯ɘn", "˨˩"),
    ]  # fmt: skip
    assert len(vi.encode("mưo")) == 3


@pytest.mark.parametrize("text", ["hoc", "đep", "thich", "ka", "ko", "ce", "ge", "nge", "Đăk", "dyn", "qu", "qun"])
def test_the_strict_reading_rejects(text):
    assert vietnamese.factorize(text) is not None
    assert vietnamese.factorize(text, strict=True) is None
    assert len(Tokenizer("vi", strict=True).encode(text)) == len(text)


@pytest.mark.parametrize("text", ["học", "đẹp", "kẻ", "ghe", "nghe", "Đắk", "hòang", "quýnh", "gì"])
def test_the_strict_reading_accepts(text):
    assert vietnamese.factorize(text, strict=True) == vietnamese.factorize(text) is not None


def syllable_list(path):
    return [word for line in path.read_text("utf-8").splitlines() if (word := line.split(",")[0].strip())]


@pytest.mark.parametrize("name", TYPING_ERRORS)
def test_every_attested_syllable_is_native(vi, data, name):
    words = syllable_list(data(f"vi/syllables/{name}"))
    batch = vi.encode_batch(words)
    rejected = {word for word, encoding in zip(words, batch, strict=True) if len(encoding) != 1 or encoding.kinds[0]}
    assert rejected == TYPING_ERRORS[name]


def test_fertility_of_the_dictionary_is_one(vi, data):
    statistics = Statistics(vi)
    statistics.update(syllable_list(data("vi/syllables/luong-sorted.txt")))
    assert statistics.fertility == 1.0
    assert statistics.type_coverage == statistics.token_coverage == 1.0


@pytest.mark.parametrize("name", TYPING_ERRORS)
def test_spell_gives_a_standard_spelling(data, name):
    """Equal to the entry, or to it after the known free choices; always read as the same syllable."""
    odd = {}
    for word in set(syllable_list(data(f"vi/syllables/{name}"))) - TYPING_ERRORS[name]:
        triple = vietnamese.factorize(word)
        spelled = vietnamese.spell(triple), vietnamese.spell(triple, "old")
        assert [vietnamese.factorize(text) for text in spelled] == [triple, triple]
        bare, tone = vietnamese.strip_tone(word)
        bare = bare.replace("uơng", "ương")  # typed with one horn
        choices = {bare, bare.replace("y", "i"), bare.replace("i", "y")}  # i/y
        choices |= {
            "q" + text[1:].replace("o", "u", 1) for text in choices if text[0] in "ck"
        }  # coa -> qua, kuênh -> quênh
        choices |= {"c" + text[1:] for text in choices if text[0] in "kq"} | {"k" + text[1:] for text in choices}
        choices |= {text[:-1] + "c" for text in choices if text[-1] == "k"} | {"cu" + text[2:] for text in choices}
        choices |= {"gh" + text[1:] for text in choices} | {"ngh" + text[2:] for text in choices}
        if not {vietnamese.strip_tone(text) for text in spelled} <= {(text, tone) for text in choices}:
            odd[word] = spelled
    assert odd == {}


@pytest.mark.parametrize(
    ("word", "new", "old"),
    [
        ("hoà", "hoà", "hòa"), ("thuỷ", "thuỷ", "thủy"), ("khoẻ", "khoẻ", "khỏe"), ("quà", "quà", "quà"),
        ("quý", "quý", "quý"), ("già", "già", "già"), ("hoàng", "hoàng", "hoàng"), ("mía", "mía", "mía"),
        ("muối", "muối", "muối"), ("khuỷu", "khuỷu", "khuỷu"), ("ngoằn", "ngoằn", "ngoằn"), ("ngoài", "ngoài", "ngoài"),
        ("thuở", "thuở", "thuở"), ("lửa", "lửa", "lửa"), ("được", "được", "được"), ("yến", "yến", "yến"),
        ("giữa", "giữa", "giữa"), ("soóc", "soóc", "soóc"), ("nghỉ", "nghỉ", "nghỉ"), ("gì", "gì", "gì"),
    ],
)  # fmt: skip
def test_tone_mark_placement(vi, word, new, old):
    packed = int(vi.encode(word).ids[0])
    assert vi.spell(packed) == new
    assert vi.spell(packed, "old") == old
    assert vi.spell(vi.vocab.unpack(packed)) == vi.spell(vi.encode(word).components[0]) == new


def test_spell_refuses_what_no_syllable_has(vi):
    with pytest.raises(ValueError, match="no Vietnamese syllable"):
        vi.spell(("b", "b", FLAT))
    with pytest.raises(ValueError, match="no Vietnamese syllable"):
        vi.spell(("z", "ie", FLAT))
    with pytest.raises(ValueError, match="style"):
        vi.spell(("b", "a", FLAT), "newest")
    with pytest.raises(ValueError, match="three components"):
        vi.spell(("b", "a"))


def test_every_spelling_in_the_table_can_be_spelled_back(vi):
    for spelling in vietnamese.spellings().values():
        for tone, mark in vietnamese.TONES.values():
            triple = (spelling.onset, spelling.rime, tone)
            assert vietnamese.factorize(vietnamese.spell(triple)) == triple
            if mark:
                at = max(index for index, letter in enumerate(spelling.text) if letter in vietnamese.VOWELS)
                marked = spelling.text[: at + 1] + mark + spelling.text[at + 1 :]
                assert vi.encode(marked).triples == [triple]


# --- an independent transcription

#: The list's broad IPA -> ours, where it makes the distinction that we make.
THEIR_ONSETS = {
    "ʔ": "[EMPTY]", "w": "[EMPTY]", "ɓ": "b", "k": "k", "c": "c͡ɕ", "z": "j", "ɣ": "ɣ", "ʑ": "z", "h": "h", "x": "x",
    "l": "l", "m": "m", "n": "n", "ŋ": "ŋ", "ɲ": "ɲ", "p": "p", "f": "f", "r": "r", "ʂ": "ʂ", "t": "t", "tʰ": "tʰ",
    "ʈ": "t͡ʂ", "v": "v", "s": "s", "ɗ": "d",
}  # fmt: skip
#: It writes nh as ng and ch as c behind a front vowel: one class there, two here (the rime still tells them apart).
THEIR_CODAS = {
    "": {""},
    "j": {"i̯"},
    "w": {"u̯"},
    "m": {"m"},
    "n": {"n"},
    "p": {"p"},
    "t": {"t"},
    "ŋ": {"ŋ", "ɲ"},
    "k": {"k", "c"},
}
THEIR_TONES = {"1": FLAT, "2": GRAVE, "3": HOOK, "4": TILDE, "5": ACUTE, "6": DOT}
#: Readings of the list that spelling contradicts: gi read as d where the mark is on its i, and uy read as u + i.
THEIR_SLIPS = {"onset": {"gía", "gỉa", "gịn"}, "coda": {"khụy", "ngụy", "tùy"}, "tone": set()}


def test_triples_agree_with_an_independent_transcription(data):
    words = syllable_list(data("vi/syllables/attested-vietnamese-syllables.txt"))
    with open(data("vi/syllables/attested-vietnamese-syllables.csv"), encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    assert len(words) == len(rows) > 8000
    differ = defaultdict(set)
    codas = sorted(set(vietnamese.CODAS.values()), key=len, reverse=True)
    for word, (onset, _, _, coda, tone) in zip(words, rows, strict=True):
        triple = vietnamese.factorize(word)
        if triple is None:
            assert word in TYPING_ERRORS["attested-vietnamese-syllables.txt"]
            continue
        our_coda = next((text for text in codas if triple.rime.removeprefix("u̯").endswith(text)), "")
        if THEIR_ONSETS[onset] != triple.onset:
            differ["onset"].add(word)
        if our_coda not in THEIR_CODAS[coda]:
            differ["coda"].add(word)
        if THEIR_TONES[tone] != triple.tone:
            differ["tone"].add(word)
    assert {name: differ[name] for name in THEIR_SLIPS} == THEIR_SLIPS


@pytest.mark.parametrize("name", ["vi/raw/news.txt.xz", "vi/raw/viwiki.txt.xz"])
def test_a_batch_of_real_text_equals_single_texts(vi, data, name):
    with lzma.open(data(name), "rt", encoding="utf-8") as file:
        texts = file.read(3_000_000).split("\n")
    texts += [text.upper() for text in texts[:2000]] + [unicodedata.normalize("NFD", text) for text in texts[:2000]]
    batch = vi.encode_batch(texts, num_threads=2, spans=True)
    for encoding, text in zip(batch, texts, strict=True):
        single = vi.encode(text)
        assert np.array_equal(encoding.ids, single.ids)
        assert np.array_equal(encoding.spans, single.spans)


def test_counts_of_native_types_on_student_feedback(vi, data):
    """The paper finds 2,019 native types; phonology.md 2,020-2,024 for the lenient reading and 1,990 for the strict one."""
    types = set()
    for part in ("train", "dev", "test"):
        types.update(data(f"vi/vsfc/{part}/sents.txt").read_text("utf-8").split())
    lenient = sum(vietnamese.factorize(text) is not None for text in types)
    strict = sum(vietnamese.factorize(text, strict=True) is not None for text in types)
    assert 2020 <= lenient <= 2024
    assert 1988 <= strict <= 1992


def test_what_parts_words_without_a_width(vi):
    """Zero width space and byte order mark do, as Unicode means it; the joiners and other ignorable characters do not."""
    hanoi = vi.encode("hà nội").ids.tolist()
    for between in ("\u200b", "\ufeff", "\u200b\u200b", "\ufeff \u200b"):
        assert vi.encode(f"Hà{between}Nội").ids.tolist() == hanoi
    assert vi.encode("\ufeffHà\u200bNội\u200b").spans.tolist() == [[1, 3], [4, 7]]
    for joining in ("\u200c", "\u200d", "\u2060", "\u00ad", "\u200e"):
        assert vi.encode(f"ti{joining}ếng").tokens == ["t|ieŋ|˧˥"]
        assert len(vi.encode(f"Hà{joining}Nội")) == 5
    assert Tokenizer("vi", fallback="packed").encode("co\u200bvid").tokens == ["k|ɔ|˧˧", "vid"]
    assert len(Tokenizer("zh").encode("银\u200b行")) == 2
