"""The ids are frozen: trained weights depend on every one of them."""

import random
from pathlib import Path

import numpy as np
import pytest

from phonemic import Tokenizer, inventory, pack, unpack
from phonemic.compiling import make_vocabularies

GOLDEN = Path(__file__).parent / "golden"
SIZES = {"vi": 256, "zh": 112}


@pytest.mark.parametrize("lang", SIZES)
def test_every_id_is_that_of_the_golden_file(lang):
    golden = (GOLDEN / f"vocabulary-{lang}.tsv").read_text("utf-8").splitlines()
    vocab = Tokenizer(lang).vocab
    assert len(golden) == SIZES[lang] == len(vocab) == Tokenizer(lang).vocab_size
    assert [f"{symbol}\t{','.join(sorted(vocab.roles(symbol)))}" for symbol in vocab] == golden
    assert [vocab.id(symbol) for symbol in vocab] == list(range(SIZES[lang]))


@pytest.mark.parametrize("lang", SIZES)
def test_the_tables_and_the_file_name_the_same_symbols(lang):
    vocab = inventory.vocabulary(lang)
    assert {symbol: set(vocab.roles(symbol)) for symbol in vocab} == make_vocabularies.vocabulary(lang)


@pytest.mark.parametrize(("lang", "onsets", "rimes", "tones"), [("vi", 23, 178, 6), ("zh", 21, 43, 4)])
def test_sizes_of_the_inventories(lang, onsets, rimes, tones):
    vocab = inventory.vocabulary(lang)
    assert [len(vocab.by_role(role)) for role in ("onset", "rime", "tone")] == [onsets, rimes, tones]
    assert vocab[:6] == ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "[EMPTY]")
    assert {"a", "z", "0", "9", ",", "."} <= set(vocab.by_role("fallback"))


def test_packing_is_a_view_of_the_same_bytes():
    triples = np.array([[7, 30, 208], [5, 31, 209], [2, 2, 2]], np.uint8)
    packed = pack(triples)
    assert packed.dtype == np.int32
    assert packed.tolist() == [7 | 30 << 8 | 208 << 16, 5 | 31 << 8 | 209 << 16, 0x020202]
    assert np.array_equal(unpack(packed), triples)
    assert np.shares_memory(unpack(packed), packed)
    rng = random.Random(0)
    big = np.array([[rng.randrange(256) for _ in range(3)] for _ in range(999)], np.uint8).reshape(9, 111, 3)
    assert np.array_equal(unpack(pack(big)), big)
    assert np.array_equal(unpack(packed[::2]), triples[::2])
    with pytest.raises(ValueError, match="last axis of 3"):
        pack([1, 2])


def test_kinds():
    packed = pack([[7, 30, 208], [30, 30, 30], [1, 1, 1], [2, 2, 2], [0, 0, 0], [5, 30, 5]])
    names = [inventory.KINDS[kind] for kind in inventory.kinds_of(packed)]
    assert names == ["native", "fallback", "unknown", "special", "special", "native"]


def test_unknown_symbol_is_a_key_error():
    with pytest.raises(KeyError):
        inventory.vocabulary("vi").id("qq")
    assert "qq" not in inventory.vocabulary("vi")


def test_one_packed_id_by_itself():
    for one in (0x070605, np.int32(0x070605)):
        assert unpack(one).tolist() == [5, 6, 7]
    batch = np.full((2, 3), 0x070605, np.int32)
    assert unpack(batch).shape == (2, 3, 3)
    assert np.shares_memory(unpack(batch), batch)
