"""Two processes on the CPU: DDP gives the gradients of one, FSDP trains, saves and loads."""

import socket

import forking
import pytest

torch = pytest.importorskip("torch", reason="needs the model extra")
pytest.importorskip("transformers", reason="needs the model extra")

import distributed_worker

from phonemic_bert import HolisticCollator, PhonemicBertForMaskedLM, PhonemicBertTokenizer


@pytest.mark.skipif(not torch.distributed.is_available(), reason="needs torch.distributed")
@pytest.mark.skipif(not forking.AVAILABLE, reason="forks")
def test_ddp_and_fsdp(tiny, tmp_path, vi_lines):
    torch.manual_seed(0)
    tokenizer = PhonemicBertTokenizer("vi")
    batch = dict(HolisticCollator(tokenizer)([tokenizer(line) for line in vi_lines[:6]]))
    model = PhonemicBertForMaskedLM(tiny(hidden_dropout_prob=0, attention_probs_dropout_prob=0)).train()
    model.save_pretrained(tmp_path / "start")
    torch.save(batch, tmp_path / "batch.pt")
    model(**batch).loss.backward()
    alone = {name: parameter.grad for name, parameter in model.named_parameters()}

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    shared = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port, "WORLD_SIZE": "2", "GLOO_SOCKET_IFNAME": "lo"}
    workers = [
        forking.Process(distributed_worker.main, tmp_path, extra={**shared, "RANK": str(rank)}) for rank in range(2)
    ]
    found = [worker.finished() for worker in workers]
    assert [one.returncode for one in found] == [0, 0], "\n".join(one.stderr.decode() for one in found)

    together = torch.load(tmp_path / "ddp.pt", weights_only=True)
    assert set(together) == set(alone)
    for name, gradient in alone.items():
        torch.testing.assert_close(together[name], gradient, rtol=1e-4, atol=1e-6, msg=lambda m, n=name: f"{n}: {m}")

    torch.optim.SGD(model.parameters(), lr=0.1).step()
    loaded = PhonemicBertForMaskedLM.from_pretrained(tmp_path / "fsdp").state_dict()
    for name, value in model.state_dict().items():
        torch.testing.assert_close(loaded[name], value, rtol=1e-4, atol=1e-6, msg=lambda m, n=name: f"{n}: {m}")
