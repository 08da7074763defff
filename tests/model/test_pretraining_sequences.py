"""Packing, shuffling, masking; documents of one sequence do not see each other."""

import math
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

torch = pytest.importorskip("torch", reason="needs the model extra")
transformers = pytest.importorskip("transformers", reason="needs the model extra")
pytest.importorskip("pyarrow", reason="needs the arrow extra")

from pathlib import Path

from torch.nn import functional

from phonemic import Tokenizer
from phonemic.corpus.options import describe
from phonemic.inventory import CLS, MASK, PAD, SEP, UNK
from phonemic_bert import PhonemicBertForMaskedLM
from phonemic_bert.pretraining.flat import opened
from phonemic_bert.pretraining.sequences import MIN_PIECE, MaskedSequences, collate, pack
from phonemic_bert.pretraining.symbols import Symbols
from phonemic_bert.pretraining.trainer import MAJOR, separate

VI = describe(Tokenizer("vi"))
PLAIN = {"name": "character", "lang": "vi", "vocab_size": 50, "id_count": 50}


def symbols(described=PLAIN):
    return Symbols.of_manifest(described, Path("manifest.json"))


def make(lengths, length=32, described=PLAIN, ids=None, **options):
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    if ids is None:
        ids = np.arange(offsets[-1]).astype(np.int32) % 50
    defaults = {"probability": 0.15, "replacement": "mask", "seed": 3, "count": 1000, "restart_positions": True}
    return MaskedSequences(ids, offsets, pack(offsets, length), symbols(described), length, **{**defaults, **options})


lengths_of_documents = st.lists(st.one_of(st.integers(0, 8), st.integers(0, 100)), min_size=1, max_size=30)


@given(lengths_of_documents, st.integers(8, 60), st.data())
def test_every_position_is_in_one_sequence(lengths, length, data):
    left_out = sorted(data.draw(st.sets(st.integers(0, len(lengths) - 1), max_size=3)))
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    packed = pack(offsets, length, left_out)
    flat = [position for start, stop in packed.tolist() for position in range(start, stop)]
    owner = np.repeat(np.arange(len(lengths)), lengths)
    assert flat == [position for position in range(offsets[-1]) if owner[position] not in left_out]
    for number, (start, stop) in enumerate(packed.tolist()):
        used = stop - start + 2 * len(set(owner[start:stop].tolist()))
        assert used <= length
        follows = number + 1 < len(packed) and packed[number + 1][0] == stop
        if follows and not any(
            owner[stop - 1] < out < owner[stop] for out in left_out
        ):  # as full as it gets: the next document, or MIN_PIECE of it, would not have fitted
            more = owner[stop] != owner[stop - 1]
            rest = int(offsets[owner[stop] + 1] - stop)
            assert length - used < 2 * more + min(rest, MIN_PIECE)


@given(lengths_of_documents, st.integers(8, 60), st.booleans())
def test_a_sequence_is_what_a_loop_makes(lengths, length, restart):
    data = make(lengths, length, restart_positions=restart)
    owner = np.repeat(np.arange(len(lengths)), lengths).tolist()
    for number, (start, stop) in enumerate(data.packed.tolist()):
        ids, documents, positions = [], [], []
        for at in range(start, stop):
            if at == start or owner[at] != owner[at - 1]:
                if ids:
                    ids.append(2)
                ids.append(1)
            ids.append(at % 50 + 4)
        ids.append(2)
        for symbol in ids:
            if symbol == 1:
                documents.append(documents[-1] + 1 if documents else 0)
                positions.append(0)
            else:
                documents.append(documents[-1])
                positions.append(positions[-1] + 1)
        padding = length - len(ids)
        positions += list(range(padding))
        documents += [documents[-1] + 1] * padding
        got = data.unmasked(number)
        assert got[0].tolist() == ids + [0] * padding
        assert got[1].tolist() == documents
        assert got[2].tolist() == (positions if restart else list(range(length)))


def test_each_epoch_has_every_sequence_once_in_another_order():
    data = make([40] * 60, count=10**9)
    count = len(data.packed)
    assert count > 50
    orders = [data.order(epoch).tolist() for epoch in range(3)]
    assert all(sorted(order) == list(range(count)) for order in orders)
    assert orders[0] != orders[1] != orders[2] != list(range(count))
    plain = [data.unmasked(number)[0].tolist() for number in range(count)]

    def original(item):
        return torch.where(item["labels"] == -100, item["input_ids"], item["labels"]).tolist()

    for epoch in range(2):
        got = [original(data[epoch * count + place]) for place in range(count)]
        assert got == [plain[number] for number in orders[epoch]]
    assert make([40] * 60, seed=4).order(0).tolist() != orders[0]


def test_items_follow_from_their_number_alone():
    data, again = make([40] * 60), pickle.loads(pickle.dumps(make([40] * 60)))
    forward = {number: data[number] for number in range(150)}
    for number in reversed(range(150)):
        assert all(torch.equal(again[number][name], value) for name, value in forward[number].items())
    loader = torch.utils.data.DataLoader(data, batch_size=10, sampler=range(150), num_workers=1, collate_fn=collate)
    for start, batch in enumerate(loader):
        want = collate([forward[number] for number in range(10 * start, 10 * start + 10)])
        assert all(torch.equal(batch[name], value) for name, value in want.items())


def test_masks_are_fifteen_percent_anew_each_epoch():
    data = make([300] * 200, 64, count=10**9)
    count = len(data.packed)
    items = collate([data.masked(number, 0, 1) for number in range(count)])
    other = collate([data.masked(number, 1, 1) for number in range(count)])
    chosen, text = items["labels"] != -100, items["input_ids"] > 3
    text |= chosen
    total, hits = int(text.sum()), int(chosen.sum())
    deviation = math.sqrt(total * 0.15 * 0.85)
    assert abs(hits - 0.15 * total) < 4 * deviation
    assert (items["input_ids"][chosen] == 3).all()
    both = int((chosen & (other["labels"] != -100)).sum())
    assert abs(both - 0.15**2 * total) < 5 * math.sqrt(0.15**2 * total)  # independent of the epoch before
    columns = chosen.float().mean(0)[1:-2]
    assert (columns - 0.15).abs().max() < 5 * math.sqrt(0.15 * 0.85 / count)


def test_eighty_ten_ten():
    data = make([300] * 300, 64, replacement="80/10/10")
    items = collate([data.masked(number, 0, 1) for number in range(len(data.packed))])
    plain = torch.tensor(np.stack([data.unmasked(number)[0] for number in range(len(data.packed))]))
    chosen = items["labels"] != -100
    assert torch.equal(items["labels"][chosen], plain[chosen])
    assert torch.equal(items["input_ids"][~chosen], plain[~chosen])
    got, was, total = items["input_ids"][chosen], plain[chosen], int(chosen.sum())
    shares = {"mask": (got == 3).sum(), "same": (got == was).sum(), "other": ((got != was) & (got != 3)).sum()}
    for name, share in {"mask": 0.8, "same": 0.1 + 0.1 / 50, "other": 0.1 * 49 / 50}.items():
        assert abs(int(shares[name]) - share * total) < 4 * math.sqrt(total * share * (1 - share))
    random = got[(got != was) & (got != 3)]
    assert set(random.tolist()) == set(range(4, 54))


def test_special_symbols_and_unknowns_are_never_masked():
    packed = {name: symbol * 0x010101 for name, symbol in {"pad": PAD, "cls": CLS, "sep": SEP, "mask": MASK}.items()}
    native = Tokenizer("vi").encode("tôi yêu tiếng Việt").ids
    ids = np.tile(np.concatenate([native, [UNK * 0x010101]]), 100).astype(np.int32)
    data = make([50] * 10, described=VI, ids=ids, probability=0.99)
    for number in range(len(data.packed)):
        item, plain = data.masked(number, 0, 1), torch.from_numpy(data.unmasked(number)[0])
        special = torch.isin(plain, torch.tensor([*packed.values(), UNK * 0x010101]))
        assert (item["labels"][special] == -100).all()
        assert torch.equal(item["input_ids"][special], plain[special])
        assert (item["labels"] != -100).sum() > 0.8 * (~special).sum()


def packed_lines(lines, length=64):
    """Lines as documents, several of which share a sequence."""
    tokenizer = Tokenizer("vi")
    ids = [tokenizer.encode(line).ids for line in lines[:12]]
    data = make([len(line) for line in ids], length, described=VI, ids=np.concatenate(ids))
    assert len(data.packed) < len(ids) - 3
    return data


@pytest.mark.parametrize("attention", ["sdpa", "eager"])
def test_documents_of_a_sequence_do_not_see_each_other(tiny, vi_lines, attention):
    """Hidden states of packed documents are those of each document alone."""
    data = packed_lines(vi_lines)
    model = PhonemicBertForMaskedLM(tiny(attn_implementation=attention)).eval()
    together = 0
    for number in range(len(data.packed)):
        ids, documents, positions = (torch.from_numpy(array)[None] for array in data.unmasked(number))
        batch = {"input_ids": ids, "position_ids": positions, "documents": documents}
        with torch.no_grad():
            packed = model.bert(**separate(batch, data.symbols.pad, attention=attention)).last_hidden_state
            crossing = model.bert(ids, attention_mask=(ids > 0).long(), position_ids=positions).last_hidden_state
        for document in range(int(documents.max()) + 1):
            own = documents[0] == document
            if ids[0, own][0] == 0:
                continue  # padding
            with torch.no_grad():
                alone = model.bert(ids[:, own]).last_hidden_state
            torch.testing.assert_close(packed[0, own], alone[0], rtol=0, atol=2e-6)
            if document:
                assert not torch.allclose(crossing[0, own], alone[0], atol=1e-4)
                together += 1
    assert together > 3


@pytest.mark.skipif(MAJOR < 5, reason="flash attention needs transformers 5")
def test_flash_attention_is_told_where_documents_begin(monkeypatch, tiny, vi_lines):
    """A plain program in the place of the kernel, which takes sequences of different lengths one behind the other."""
    from transformers import modeling_flash_attention_utils as flash

    calls = []

    def kernel(query, key, value, *, cu_seqlens_q, cu_seqlens_k, max_seqlen_q, max_seqlen_k, **options):
        assert torch.equal(cu_seqlens_q, cu_seqlens_k)
        assert cu_seqlens_q.dtype == torch.int32
        lengths = cu_seqlens_q.diff()
        assert max_seqlen_q == max_seqlen_k == int(lengths.max())
        calls.append(len(lengths))
        parts = []
        for q, k, v in zip(*(x.split(lengths.tolist()) for x in (query, key, value)), strict=True):
            heads = (part.transpose(0, 1) for part in (q, k, v))
            found = functional.scaled_dot_product_attention(*heads, scale=options["softmax_scale"])
            parts.append(found.transpose(0, 1))
        return torch.cat(parts)

    def refuse(*args, **kwargs):
        raise AssertionError("attention that does not know the documents")

    monkeypatch.setattr(
        flash, "lazy_import_flash_attention", lambda *_: ((refuse, kernel, refuse, refuse, refuse), (dict, refuse))
    )
    data, model = packed_lines(vi_lines), PhonemicBertForMaskedLM(tiny()).eval()
    batch = collate([data[number] for number in range(4)])
    with torch.no_grad():
        expected = model(**separate(batch, data.symbols.pad)).loss
        model.config._attn_implementation = "flash_attention_2"
        found = model(**separate(batch, data.symbols.pad, attention="flash_attention_2")).loss
    torch.testing.assert_close(found, expected)
    assert len(calls) == model.config.num_hidden_layers
    assert calls[0] == sum(int(documents.max()) + 1 for documents in batch["documents"])


def test_worker_processes_map_the_corpus_themselves(tmp_path):
    """Where they are not forked, what they are sent must not hold the corpus."""
    ids, offsets = np.arange(1_000_000, dtype="<i4") % 50, np.arange(0, 1_000_001, 50, dtype="<i8")
    ids.tofile(tmp_path / "ids.bin")
    offsets.tofile(tmp_path / "offsets.bin")
    mapped = [opened(tmp_path / name, kind) for name, kind in (("ids.bin", "<i4"), ("offsets.bin", "<i8"))]
    options = {"probability": 0.15, "replacement": "mask", "seed": 3, "count": 1000, "restart_positions": True}
    data = MaskedSequences(*mapped, pack(offsets, 64), symbols(), 64, **options)
    sent = pickle.dumps(data)
    assert len(sent) < ids.nbytes / 8
    again = pickle.loads(sent)
    for number in (0, 1, 999):
        for name, tensor in data[number].items():
            assert torch.equal(again[number][name], tensor)
