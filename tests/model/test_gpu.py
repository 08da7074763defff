"""A GPU computes the same as a CPU: hidden states, losses and guesses, a pretraining run."""

from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="needs the model extra")
pytest.importorskip("accelerate", reason="needs the model extra")
pytest.importorskip("pyarrow", reason="needs the arrow extra")

from pretraining_helpers import EXPECTED_WARNINGS, log, settings
from rich.console import Console

from phonemic_bert import PhonemicBertForMaskedLM, PhonemicBertTokenizer, fill_mask
from phonemic_bert.pretraining.run import pretrain

DEVICE = "cuda"
BEYOND = {
    "backbone": "modernbert", "composition": "both", "head": "joint", "output_embeddings": "tied", "conv_kernel_size": 3, "num_bigram_buckets": 64,
    "syllable_inventory": "attested",
}  # fmt: skip

pytestmark = [
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU that torch can use"),
    EXPECTED_WARNINGS,
    pytest.mark.filterwarnings("ignore::UserWarning"),  # torch's advice on TensorFloat32, and what compiling warns of
]


@pytest.mark.parametrize("design", [{}, BEYOND], ids=["paper", "beyond"])
def test_states_and_losses(design, tiny, random_ids):
    torch.manual_seed(0)
    model = PhonemicBertForMaskedLM(tiny(**design)).eval()
    ids, mask = random_ids()
    inputs = {"input_ids": ids, "attention_mask": mask, "labels": torch.where(mask.bool(), ids, -100)}
    want = model(**inputs, output_hidden_states=True)
    there = model.to(DEVICE)(**{name: value.to(DEVICE) for name, value in inputs.items()}, output_hidden_states=True)
    assert there.loss.item() == pytest.approx(want.loss.item(), rel=1e-4)
    real = mask.bool()
    for mine, other in zip(there.hidden_states, want.hidden_states, strict=True):
        torch.testing.assert_close(mine.cpu()[real], other[real], rtol=1e-3, atol=1e-4)


def test_guesses(tiny):
    torch.manual_seed(0)
    model, tokenizer = PhonemicBertForMaskedLM(tiny(**BEYOND)).eval(), PhonemicBertTokenizer("vi")
    [want] = fill_mask(model, tokenizer, "Tôi ở Hà [MASK].", top_k=3)
    [found] = fill_mask(model.to(DEVICE), tokenizer, "Tôi ở Hà [MASK].", top_k=3)
    assert [one.packed for one in found] == [one.packed for one in want]


@pytest.mark.parametrize("compiled", [False, True], ids=["plain", "compiled"])
def test_a_pretraining_run(compiled, corpus, tmp_path):
    beyond = {f"model__{name}": value for name, value in BEYOND.items()}
    given = settings(machine__device="auto", machine__torch_compile=compiled, **beyond)
    assert pretrain(given, corpus, tmp_path / "run", Console(quiet=True)) == 0
    losses = [row["loss"] for row in log(tmp_path / "run") if "loss" in row]
    assert losses[-1] < losses[0]
    assert PhonemicBertForMaskedLM.from_pretrained(tmp_path / "run" / "final").config.num_bigram_buckets == 64


@pytest.mark.parametrize("length", [64, 192])
def test_gradients_are_numbers(length, zh_lines):
    """Where scores are very low, in 16 bits: see phonemic_bert.modeling.kernels."""
    checkpoint = Path(__file__).parents[2] / "model" / "checkpoints" / "phonemic-bert-mini-zh"
    model = PhonemicBertForMaskedLM.from_pretrained(checkpoint).train().to(DEVICE)
    tokenizer = PhonemicBertTokenizer.from_pretrained(checkpoint)
    text = "".join(zh_lines)
    texts = [text, text[100:130]]
    asked = {"max_length": length, "padding": "max_length", "return_special_tokens_mask": True}
    batch = tokenizer(texts, truncation=True, return_tensors="pt", **asked).to(DEVICE)
    ids, mask = batch["input_ids"], batch["attention_mask"]
    with torch.autocast(DEVICE, torch.bfloat16):
        labels = torch.where(batch["special_tokens_mask"].bool(), -100, ids)
        loss = model(ids, attention_mask=mask, labels=labels).loss
    loss.backward()
    for name, weights in model.named_parameters():
        assert weights.grad is None or torch.isfinite(weights.grad).all(), name
