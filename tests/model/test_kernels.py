"""Attention with gradients is not computed by cuDNN, and what torch was told before holds again after."""

import pytest

torch = pytest.importorskip("torch", reason="needs the model extra")
pytest.importorskip("accelerate", reason="needs the model extra")
pytest.importorskip("pyarrow", reason="needs the arrow extra")

from pretraining_helpers import EXPECTED_WARNINGS, settings
from rich.console import Console

from phonemic_bert import PhonemicBertModel
from phonemic_bert.configuration import PlainModernBertConfig
from phonemic_bert.modeling.plain import PlainModernBertModel
from phonemic_bert.pretraining.run import pretrain

pytestmark = EXPECTED_WARNINGS

allowed = torch.backends.cuda.cudnn_sdp_enabled


@pytest.fixture
def seen(monkeypatch):
    """Whether cuDNN was allowed, one truth value each time that attention was computed."""
    seen, attention = [], torch.nn.functional.scaled_dot_product_attention

    def recording(*args, **kwargs):
        seen.append(allowed())
        return attention(*args, **kwargs)

    monkeypatch.setattr(torch.nn.functional, "scaled_dot_product_attention", recording)
    return seen


@pytest.fixture(params=["bert", "modernbert", "plain"])
def model(request, tiny):
    if request.param == "plain":
        shape = {"num_hidden_layers": 2, "hidden_size": 24, "num_attention_heads": 3, "intermediate_size": 40}
        return PlainModernBertModel(PlainModernBertConfig(vocab_size=256, **shape))
    return PhonemicBertModel(tiny(backbone=request.param))


@pytest.mark.parametrize("before", [True, False])
def test_a_model_by_itself(before, model, random_ids, seen):
    ids, mask = random_ids()
    ids = ids % model.config.vocab_size if isinstance(model, PlainModernBertModel) else ids
    torch.backends.cuda.enable_cudnn_sdp(before)
    try:
        model(ids, mask)
        assert seen == [False] * 2
        assert allowed() is before
        seen.clear()
        with torch.no_grad():
            model(ids, mask)
        assert seen == [before] * 2
        with pytest.raises((ValueError, IndexError)):
            model(ids - 1000, mask)
        assert allowed() is before
    finally:
        torch.backends.cuda.enable_cudnn_sdp(True)


@pytest.mark.parametrize("compiled", [False, True], ids=["plain", "compiled"])
def test_a_pretraining_run(compiled, corpus, tmp_path, monkeypatch):
    from phonemic_bert.pretraining.trainer import PretrainingTrainer

    during, step = [], PretrainingTrainer.training_step

    def recording(*args, **kwargs):
        during.append(allowed())
        return step(*args, **kwargs)

    monkeypatch.setattr(PretrainingTrainer, "training_step", recording)
    module_compile = torch.nn.Module.compile  # generated code would call the same kernels
    monkeypatch.setattr(torch.nn.Module, "compile", lambda self, **kw: module_compile(self, backend="eager", **kw))
    given = settings(optimization__max_steps=2, machine__torch_compile=compiled, model__backbone="modernbert")
    assert pretrain(given, corpus, tmp_path / "run", Console(quiet=True)) == 0
    assert during
    assert not any(during)
    assert allowed()
