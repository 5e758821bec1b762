"""Several processes that train one model: each does a part of every step, and the gradients are added up.

    torchrun --nproc-per-node 2 -m models_prm train --recipe ... --data ... --output ...
    accelerate launch --multi_gpu --num_processes 2 -m models_prm train ...
    python -m models_prm train --processes 2 ...

A step's label mass is known to all before it begins (`losses.label_weight`), so the sum of the parts is the
gradient that one process would have had, to rounding. Files are written by process 0 alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import torch
from torch import Tensor, distributed

T = TypeVar("T")


@dataclass(frozen=True)
class Group:
    """This process among `size`; with size 1 every method is free of communication."""

    rank: int = 0
    size: int = 1
    device: str = "cpu"

    @property
    def main(self) -> bool:
        """Whether this process writes files and reports progress."""
        return self.rank == 0

    def share(self, items: Sequence[T]) -> list[T]:
        """This process's part of a step: every size-th item."""
        return list(items[self.rank :: self.size])

    def sums(self, values: Sequence[float]) -> list[float]:
        """Each value summed over the processes, in double precision."""
        if self.size == 1:
            return list(values)
        buffer = torch.tensor(values, dtype=torch.float64, device=self.device)
        distributed.all_reduce(buffer)
        return [float(v) for v in buffer]

    def agree(self, flag: bool) -> bool:
        """Process 0's answer, for all."""
        if self.size == 1:
            return flag
        buffer = torch.tensor([int(flag)], device=self.device)
        distributed.broadcast(buffer, src=0)
        return bool(buffer.item())

    def wait(self) -> None:
        """Return when all processes are here."""
        self.sums([0.0])

    def sum_gradients(self, parameters: Iterable[Tensor]) -> None:
        """Add up the gradients in float32. One that no process has stays None, as in a single process."""
        if self.size == 1:
            return
        every = list(parameters)
        present = torch.tensor([p.grad is not None for p in every], dtype=torch.int32, device=self.device)
        distributed.all_reduce(present)
        used = [p for p, count in zip(every, present.tolist(), strict=True) if count]
        flat = torch.cat(
            [
                torch.zeros_like(p, dtype=torch.float32).flatten()
                if p.grad is None
                else p.grad.float().flatten()
                for p in used
            ]
        )
        distributed.all_reduce(flat)
        for p, part in zip(used, torch.split(flat, [p.numel() for p in used]), strict=True):
            p.grad = part.view_as(p).to(p.dtype)


def current(device: str = "cpu") -> Group:
    """The group that this process is in: that of `torch.distributed` where one was joined, else itself
    alone."""
    if distributed.is_available() and distributed.is_initialized():
        return Group(distributed.get_rank(), distributed.get_world_size(), device)
    return Group()


def is_launched() -> bool:
    """Whether a launcher (torchrun, accelerate) started this process."""
    return bool(distributed.is_available() and distributed.is_torchelastic_launched())


def join_launched(device: str = "cpu") -> Group:
    """Join the group of the launcher if this process was started by one."""
    if is_launched() and not distributed.is_initialized():
        distributed.init_process_group("nccl" if device.startswith("cuda") else "gloo")
        if device == "cuda":
            torch.cuda.set_device(distributed.get_rank() % torch.cuda.device_count())
    return current(device)


def leave() -> None:
    """Leave the group, if one was joined."""
    if distributed.is_available() and distributed.is_initialized():
        distributed.destroy_process_group()
