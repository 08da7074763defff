"""The list of triples holds all that the tokenizers produce, once each, in an order that does not change."""

import lzma
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("torch", reason="needs the model extra")
pytest.importorskip("transformers", reason="needs the model extra")

from phonemic import Tokenizer, mandarin, vietnamese
from phonemic.inventory import FALLBACK, NATIVE, UNKNOWN, kinds_of, vocabulary
from phonemic.options import OptionArguments
from phonemic_bert import CheckpointError, PhonemicBertConfig
from phonemic_bert.syllables import syllables
from phonemic_bert.triples import triples

#: Frozen: another checksum would give the rows of every checkpoint another meaning.
CHECKSUMS = {"vi": "76f86235", "zh": "8c3f9639"}
ATTESTED = {"vi": "957a035d", "zh": "a381d3f8"}


@pytest.mark.parametrize("lang", ["vi", "zh"])
class TestList:
    def test_is_frozen(self, lang):
        assert triples(lang).checksum == CHECKSUMS[lang]
        assert triples(lang, "attested").checksum == ATTESTED[lang]

    def test_of_attested_syllables_is_a_part_of_the_possible_ones(self, lang):
        attested, possible = triples(lang, "attested"), triples(lang)
        assert set(attested.packed.tolist()) < set(possible.packed.tolist())
        assert len(np.unique(attested.packed)) == len(attested) < len(possible) / 2
        count = attested.characters
        assert count == possible.characters
        assert np.array_equal(attested.packed[-count:], possible.packed[-count:])
        assert (np.diff(attested.packed[:-count]) > 0).all()

    def test_holds_each_triple_once(self, lang):
        packed = triples(lang).packed
        assert len(np.unique(packed)) == len(packed) == len(triples(lang))

    def test_holds_the_syllables_of_the_language_and_all_fallback_characters(self, lang):
        listed = triples(lang)
        kinds = kinds_of(listed.packed)
        assert set(syllables(lang).tolist()) <= set(listed.packed[kinds == NATIVE].tolist())
        characters = vocabulary(lang).by_role("fallback")
        assert {vocabulary(lang).unpack(one) for one in listed.packed[kinds == FALLBACK]} == {
            (char,) * 3 for char in characters
        }

    def test_is_written_into_configurations_that_need_it_and_refused_where_it_differs(self, lang):
        assert PhonemicBertConfig(lang).triples_checksum is None
        for options in ({"head": "joint"}, {"composition": "table"}):
            assert PhonemicBertConfig(lang, **options).triples_checksum == CHECKSUMS[lang]
            with pytest.raises(CheckpointError, match="triples has checksum 00000000"):
                PhonemicBertConfig(lang, triples_checksum="00000000", **options)
            attested = PhonemicBertConfig(lang, syllable_inventory="attested", **options)
            assert attested.triples_checksum == ATTESTED[lang]
            assert PhonemicBertConfig.from_dict(attested.to_dict()).syllable_inventory == "attested"
            with pytest.raises(CheckpointError, match=r"attested .. triples has checksum"):
                PhonemicBertConfig(lang, syllable_inventory="attested", triples_checksum=CHECKSUMS[lang], **options)


@given(
    st.text(vietnamese.ALPHABET, min_size=1, max_size=7),
    st.sampled_from([mark for _, mark in vietnamese.TONES.values()]),
)
def test_every_vietnamese_spelling_that_is_read_is_in_the_list(letters, mark):
    for text in (letters, letters[:-1] + letters[-1] + mark):
        triple = vietnamese.factorize(text)
        assert triple is None or vocabulary("vi").pack(triple) in LISTED["vi"]


def test_every_pinyin_that_is_read_is_in_the_list():
    finals = {*mandarin.FINALS, *mandarin.CONTRACTIONS, "u", "i", "v", "ue", "van", "vn", "ve", ""}
    read = 0
    for bare in {f"{initial}{final}" for initial in ("", *mandarin.INITIALS) for final in finals} | {
        *mandarin.ZERO_INITIAL
    }:
        for tone in range(1, 6):
            try:
                triple = mandarin.factorize(f"{bare}{tone}")
            except ValueError:
                continue
            read += 1
            assert vocabulary("zh").pack(triple) in LISTED["zh"], bare
    assert read > 2000


LISTED = {lang: frozenset(triples(lang).packed.tolist()) for lang in ("vi", "zh")}

TEXTS = [
    *(f"vi/raw/{name}.txt.xz" for name in ("news", "viwiki")),
    *(f"zh/raw/{name}.txt.xz" for name in ("general", "laws", "lctt", "weekly")),
    *(f"vi/{name}" for name in ("dialects", "syllables", "ud_vtb", "vietbioner", "vihos", "vsfc")),
    *(f"zh/{name}" for name in ("afqmc", "c3", "cluener", "cluewsc2020", "cmrc2018", "cpp", "csl_ydli", "ocnli")),
    *(f"zh/{name}" for name in ("tnews", "ud_gsd", "ud_gsdsimp", "weibo_ner")),
]

#: Everything that makes a tokenizer produce other triples; the first of a language is the default.
OPTIONS: dict[str, list[OptionArguments]] = {
    "vi": [{}, {"strict": True}],
    "zh": [{}, {"readings": "context"}, {"readings": "context", "sandhi": True, "erhua": True}],
}


#: Lines of a corpus that are read, roughly; of more, every third or fifth.
MOST = 10_000


@pytest.mark.parametrize("name", TEXTS)
def test_all_that_is_read_in_real_text_is_in_the_list_or_ends_like_a_packed_fallback(data, name):
    lang = name[:2]
    texts = [line for file in files_of(data(name)) for line in read(file)]
    texts = texts[:: 1 + len(texts) // MOST]
    for options, fallback in product(OPTIONS[lang], ("character", "packed")):
        found = Tokenizer(lang, fallback=fallback, **options).encode_batch(texts)
        seen = np.unique(found.ids[found.kinds != UNKNOWN])
        others = seen[~np.isin(seen, triples(lang).packed)]
        assert triples(lang).ends[others >> 16].all()
        assert fallback == "packed" or not len(others), options


@pytest.mark.parametrize(
    ("lang", "name", "most"), [("vi", "vi/vsfc", 0.001), ("vi", "vi/ud_vtb", 0.002), ("zh", "zh/tnews", 1e-4)]
)
def test_other_text_hardly_has_syllables_that_are_not_attested(data, lang, name, most):
    lines = [line for file in files_of(data(name)) for line in read(file)]
    texts = [line for line in lines if line.startswith("# text =")] or lines  # of a treebank not its tags
    found = Tokenizer(lang).encode_batch(texts)
    syllables = found.ids[found.kinds == NATIVE]
    assert len(syllables) > 10_000
    assert (~np.isin(syllables, triples(lang, "attested").packed)).mean() < most


def files_of(path: Path) -> list[Path]:
    return [path] if path.is_file() else sorted(one for one in path.rglob("*") if one.is_file())


def read(path: Path) -> list[str]:
    content = path.read_bytes()
    return (lzma.decompress(content) if path.suffix == ".xz" else content).decode("utf-8").splitlines()
