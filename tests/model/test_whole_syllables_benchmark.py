"""The benchmark of whole syllables: against one row and one piece at a time, of tiny models."""

import json
import math

import pytest

torch = pytest.importorskip("torch", reason="needs the model extra")
pytest.importorskip("accelerate", reason="needs the model extra")
pytest.importorskip("pyarrow", reason="needs the pretrain extra")
pytest.importorskip("tokenizers", reason="needs the baselines extra")

from click.testing import CliRunner
from transformers import AutoModelForMaskedLM

from benchmarks import whole_syllables
from phonemic import Tokenizer, baselines
from phonemic.cli import cli as phonemic
from phonemic.corpus import open_corpus
from phonemic_bert.cli import cli as phonemic_bert
from phonemic_bert.pretraining.flat import FlatCorpus

pytestmark = pytest.mark.benchmarks

SMALL = {
    "model.num_hidden_layers": 1,
    "model.hidden_size": 24,
    "model.num_attention_heads": 3,
    "model.intermediate_size": 40,
    "sequences.max_seq_length": 48,
    "optimization.max_steps": 3,
    "optimization.batch_size": 8,
    "machine.per_device_train_batch_size": 8,
    "evaluation.held_out_documents": 20,
    "output.tensorboard": "false",
}


@pytest.fixture(scope="module")
def work(tmp_path_factory, vi_lines):
    """A folder with a text, a byte-level BPE of it, and a run over syllables and one over pieces."""
    folder = tmp_path_factory.mktemp("whole")
    text = folder / "text.txt"
    text.write_text("\n".join(vi_lines * 4) + "\n", "utf-8")
    sets = [part for field, value in SMALL.items() for part in ("--set", f"{field}={value}")]
    tokenizer = ["--tokenizer", f"Byte-BPE={folder / 'tokenizers'}"]
    for command, arguments in (
        (phonemic, ["train-baseline", "Byte-BPE", folder / "tokenizers", text, "--vocab-size", "300"]),
        (phonemic, ["prepare", text, folder / "corpus", "--lang", "vi"]),
        (phonemic, ["prepare", text, folder / "pieces", "--lang", "vi", *tokenizer]),
        (phonemic_bert, ["pretrain", "paper-tiny", folder / "corpus", folder / "run", *sets]),
        (phonemic_bert, ["pretrain", "paper-tiny", folder / "pieces", folder / "pieces-run", *sets]),
    ):
        done = CliRunner().invoke(command, [str(part) for part in arguments], catch_exceptions=False)
        assert done.exit_code == 0, done.output
    return folder


@pytest.fixture(scope="module")
def pieces(work):
    """The corpus over pieces, its tokenizer, and the held-out texts."""
    flat = FlatCorpus(open_corpus(work / "pieces"), verify=False)
    baseline = baselines.load("Byte-BPE", work / "tokenizers")
    return flat, baseline, whole_syllables.texts_of(flat, baseline, 20)


def test_held_out_texts_are_lines_of_the_text(work, pieces):
    lines = (work / "text.txt").read_text("utf-8").splitlines()
    assert len(pieces[2]) == 20
    assert set(pieces[2]) <= set(lines)


def test_places_are_syllables_in_small_letters(pieces):
    found = list(whole_syllables.places(pieces[2], "vi", 2, 12))
    assert found
    tokenizer = Tokenizer("vi")
    for place in found:
        encoded = tokenizer.encode(place.text)
        assert encoded.spans[place.position].tolist() == [place.start, place.end]
        assert len(encoded.ids) <= 12
        assert place.text[place.start : place.end].islower()
    assert found == list(whole_syllables.places(pieces[2], "vi", 2, 12))


def test_pieces_cost_what_they_cost_one_by_one(work, pieces):
    flat, baseline, texts = pieces
    symbols = flat.symbols
    model = AutoModelForMaskedLM.from_pretrained(work / "pieces-run" / "final").eval()
    found = list(whole_syllables.places(texts, "vi", 2, 12))[:12]
    bits, right, numbers = whole_syllables.of_pieces(model, symbols, baseline, found)
    assert numbers.max() > 1
    for place, cost, hit, number in zip(found, bits.tolist(), right.tolist(), numbers.tolist(), strict=True):
        before, inside, behind = (
            baseline.ids([part])[0]
            for part in (place.text[: place.start], place.text[place.start : place.end], place.text[place.end :])
        )
        ids, spans = baseline.spans([place.text])[0]
        own = [at for at, span in enumerate(spans) if span[0] < place.end and span[1] > place.start]
        assert len(own) == number
        if not place.text[: place.start].endswith(" "):  # a space belongs to the piece behind it
            assert [ids[at] for at in own] == inside
            assert ids == before + inside + behind
        total, all_right = 0.0, True
        for shown, at in enumerate(own):
            row = [symbols.cls, *(one + symbols.shift for one in ids), symbols.sep]
            for other in own[shown:]:
                row[other + 1] = symbols.mask
            with torch.no_grad():
                logs = model(torch.tensor([row])).logits[0, at + 1].float().log_softmax(-1)
            total -= logs[ids[at] + symbols.shift].item() / math.log(2)
            all_right &= int(logs.argmax()) == ids[at] + symbols.shift
        assert cost == pytest.approx(total, rel=1e-3)
        assert hit == all_right


def test_the_command_says_what_both_know(work, tmp_path):
    arguments = [work / "run" / "final", work / "corpus", work / "pieces-run" / "final", work / "pieces"]
    options = ["--tokenizers", work / "tokenizers", "--documents", 20, "--each", 2, "--output", tmp_path / "out.json"]
    done = CliRunner().invoke(
        whole_syllables.main, [str(part) for part in (*arguments, *options)], catch_exceptions=False
    )
    assert done.exit_code == 0
    result = json.loads((tmp_path / "out.json").read_text())
    assert json.loads(done.output) == result
    assert 0 < result["split"] <= result["syllables"]
    for figures in result["figures"].values():
        assert 0 < figures["bits_per_character"] < figures["bits"]
        assert 0 <= figures["right"] <= 1
