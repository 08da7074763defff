"""The program of each process of test_distributed.py: DDP's gradients, and FSDP's checkpoint, on the CPU with gloo."""

import os
from pathlib import Path

import torch
import torch.distributed as dist
from torch.distributed.checkpoint.state_dict import StateDictOptions, get_model_state_dict
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.nn.parallel import DistributedDataParallel

from phonemic_bert import PhonemicBertForMaskedLM


def main(folder: Path) -> None:
    rank, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    batch = torch.load(folder / "batch.pt", weights_only=True)
    part = {name: value.chunk(size)[rank] for name, value in batch.items()}
    # The loss of each process is its sum over all positions of all processes, times their number: DDP takes the mean.
    items = (batch["labels"] != -100).sum() / size

    model = PhonemicBertForMaskedLM.from_pretrained(folder / "start").train()
    parallel = DistributedDataParallel(model)
    parallel(**part, num_items_in_batch=items).loss.backward()
    if rank == 0:
        torch.save({name: p.grad for name, p in model.named_parameters()}, folder / "ddp.pt")

    model = PhonemicBertForMaskedLM.from_pretrained(folder / "start").train()
    mesh = init_device_mesh("cpu", (size,))
    for layer in model.bert.encoder.layer:
        fully_shard(layer, mesh=mesh)
    fully_shard(model, mesh=mesh)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model(**part, num_items_in_batch=items).loss.backward()
    optimizer.step()
    state = get_model_state_dict(model, options=StateDictOptions(full_state_dict=True, cpu_offload=True))
    if rank == 0:
        PhonemicBertForMaskedLM(model.config).save_pretrained(folder / "fsdp", state_dict=state)
    dist.barrier()
    dist.destroy_process_group()
