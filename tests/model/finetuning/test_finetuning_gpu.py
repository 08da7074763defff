"""Fine-tuning on a GPU: what a run says of itself, with padding and attention dropout."""

import pytest

torch = pytest.importorskip("torch", reason="needs the model extra")
pytest.importorskip("accelerate", reason="needs the model extra")
pytest.importorskip("sklearn", reason="needs the finetune extra")

from synthetic import FEW, SHORT, dataset, results_in, sweep

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU that torch can use")


@pytest.mark.parametrize("kind", ["classification", "sequence-labelling"])
def test_a_run(kind, tmp_path, checkpoint):
    data = tmp_path / "data"
    data.mkdir()
    given = {**SHORT, "machine__device": "auto", "optimization__dropout": 0.1}
    done = sweep(tmp_path / "results", [(dataset(data, kind), data)], [checkpoint()], limits=FEW, **given)
    assert done.failures == []
    [result] = results_in(tmp_path / "results").values()
    assert result["device"] == torch.cuda.get_device_name(0)
    assert 0 <= result["test"]["macro-f1"] <= 1
