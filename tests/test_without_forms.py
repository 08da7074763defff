"""Functions that use only the sounds of a text give the same with forms as without."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from phonemic import Index, Tokenizer, distance
from phonemic.inventory import NATIVE
from phonemic.metrics import Statistics
from phonemic.noise import Homophones, Misspellings
from phonemic.sound import homophones, rhymes
from phonemic.units import without_bytes
from tests.test_forms_properties import mandarin_text, vietnamese_text
from tests.test_properties import nasty, texts

WRITTEN = {lang: Tokenizer(lang, form=True) for lang in ("vi", "zh")}
PLAIN = {lang: Tokenizer(lang) for lang in ("vi", "zh")}
LINES = {
    "vi": [
        "Quốc  kỳ bay,\tHÀ hÀ hòa hoà 😀😀",
        "",
        "x\u0301\u0301y e\u200b \u200bnga\u0303 15%",
        "\ufe0f ~ Kỳ kì\n\n ký",
    ],
    "zh": ["银行 行长，\u3000重庆😀", "", "乂丂 ABC\u0301é\u200b", "\ufe0f～ 好\n\n花儿 \U00020000\u1160"],
}
NAMES = {
    "vi": ["Hà Nội", "HÀ NỘI", "hà lội", "Kỳ Anh", "hÀ Nội 😀", "kì anh"],
    "zh": ["行长", "行涨", "航长 ", "重庆", "虫庆"],
}
languages = pytest.mark.parametrize("lang", ["vi", "zh"])


@nasty
@given(st.lists(st.one_of(texts, vietnamese_text, mandarin_text), max_size=3).map("\n\n".join))
@example("".join(LINES["vi"]))
@example("".join(LINES["zh"]))
def test_a_batch(text):
    rows = [text, "", *text.split("\n\n")]
    for lang in PLAIN:
        for joiner in (None, "_"):
            tokenizer = Tokenizer(lang, form=True, word_joiner=joiner)
            expected = tokenizer.without_form.encode_batch(rows, spans=True)
            batch = tokenizer.encode_batch(rows, spans=True)
            found = without_bytes(batch, joiner)
            for name in ("ids", "offsets", "spans"):
                assert np.array_equal(getattr(found, name), getattr(expected, name))
            for encoding in batch:
                assert not encoding.continues[encoding.kinds == NATIVE].any()


def test_a_tokenizer():
    assert PLAIN["vi"].without_form is PLAIN["vi"]
    assert WRITTEN["zh"].without_form is WRITTEN["zh"].without_form == PLAIN["zh"]


@languages
def test_sound(lang):
    names, options = NAMES[lang], [{"tokenizer": each[lang]} for each in (PLAIN, WRITTEN)]
    for one in names:
        for other in names + LINES[lang]:
            plain, written = (distance(one, other, **option) for option in options)
            assert plain == written == distance(WRITTEN[lang].encode(one), PLAIN[lang].encode(other))
    assert homophones(names, **options[0]) == homophones(names, **options[1])
    assert rhymes(names, **options[0]) == rhymes(names, **options[1])
    plain, written = (Index(names, **option) for option in options)
    for query in names + LINES[lang]:
        assert plain.search(query, 5) == written.search(query, 5)


@languages
def test_an_index_is_saved_with_them(lang, tmp_path):
    Index(NAMES[lang], tokenizer=WRITTEN[lang]).save(tmp_path / "index")
    loaded = Index.load(tmp_path / "index")
    assert loaded.tokenizer == WRITTEN[lang]
    assert loaded.search(NAMES[lang][0], 3) == Index(NAMES[lang], lang).search(NAMES[lang][0], 3)


def test_noise():
    for make, lines, lang in (
        (lambda tokenizer: Homophones(tokenizer=tokenizer), LINES["zh"], "zh"),
        (lambda tokenizer: Homophones(same_ids=True, tokenizer=tokenizer), LINES["zh"], "zh"),
        (lambda tokenizer: Misspellings(["same-sound", "wrong-tone"], tokenizer), LINES["vi"], "vi"),
    ):
        plain, written = make(PLAIN[lang]), make(WRITTEN[lang])
        for line in lines:
            found = plain.apply(line, 0.6, 1)
            assert written.apply(line, 0.6, 1) == found
            assert written.ids_changed(line, found) == plain.ids_changed(line, found)


@languages
def test_coverage(lang):
    plain, written = Statistics(PLAIN[lang]), Statistics(WRITTEN[lang])
    for each in (plain, written):
        each.update(LINES[lang])
    for name in ("units", "occurrences", "native_occurrences", "types", "native_types", "average_input_length"):
        assert getattr(written, name) == getattr(plain, name)
    assert written.positions == sum(len(WRITTEN[lang].encode(line)) for line in LINES[lang]) > plain.positions
