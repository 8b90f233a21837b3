# Trains a small model in one process with all rows, then in several that have a share of them each, and compares.
# One process for each GPU, by NCCL, where PyTorch sees two or more; else two processes on the CPU, by Gloo, or as many as
# are asked for: main.py 4. At the end a program in C++ lets NCCL add up on contexts and streams that the driver API made.
import os
import pathlib
import subprocess
import sys
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as processes
from torch import Tensor, nn

from batch_norm import SyncBatchNorm
from common.built import built

ROWS_EACH, STEPS = 24, 3
SKIPPED = 77  # the status of a program that misses something, and has said what


class Square(torch.autograd.Function):
    """The op of this chapter, y = x² + b, with one b for each column."""

    @staticmethod
    def forward(ctx, x: Tensor, b: Tensor) -> Tensor:
        ctx.save_for_backward(x)
        return x * x + b

    @staticmethod
    def backward(ctx, dy: Tensor) -> tuple[Tensor, Tensor]:
        (x,) = ctx.saved_tensors
        return 2 * x * dy, dy.sum(0)


class Model(nn.Module):
    def __init__(self, batch_norm: type[nn.Module]) -> None:
        super().__init__()
        torch.manual_seed(11)  # the same numbers in every process
        self.first, self.normal, self.last = nn.Linear(6, 8), batch_norm(8), nn.Linear(8, 1)
        self.b = nn.Parameter(torch.randn(8))
        self.double()

    def forward(self, x: Tensor) -> Tensor:
        return self.last(Square.apply(self.normal(self.first(x)), self.b))


def average_gradients(model: nn.Module) -> None:
    for parameter in model.parameters():
        dist.all_reduce(parameter.grad)
        parameter.grad /= dist.get_world_size()


def train(batch_norm: type[nn.Module], device: str, rows: int, rank: int, world: int) -> dict[str, Tensor]:
    """Trains with the rows rank, rank + world, …; what is compared later, in one long row of numbers each."""
    torch.manual_seed(1)
    x = torch.randn(rows, 6, dtype=torch.double).to(device)[rank::world]
    target = x.square().sum(1, keepdim=True)
    model = Model(batch_norm).to(device)
    found = {}
    for step in range(STEPS):
        y = model(x)
        model.zero_grad()
        (y - target).square().mean().backward()
        if world > 1:
            average_gradients(model)
        if step == 0:
            found["outputs"] = y.detach().flatten()
            found["gradients"] = torch.cat([p.grad.flatten() for p in model.parameters()])
            found["running statistics"] = torch.cat([model.normal.running_mean, model.normal.running_var])
        with torch.no_grad():
            for parameter in model.parameters():
                parameter -= 0.01 * parameter.grad
    found[f"after {STEPS} steps"] = torch.cat([p.detach().flatten() for p in model.parameters()])
    return found


def work(rank: int, world: int, backend: str, folder: str) -> None:
    """What each process does; the first one leaves in `folder` what it found."""
    device = f"cuda:{rank}" if backend == "nccl" else "cpu"
    if backend == "nccl":
        torch.cuda.set_device(rank)
    dist.init_process_group(backend, init_method=f"file://{folder}/meeting-place", rank=rank, world_size=world)
    results = []
    for batch_norm in (SyncBatchNorm, nn.BatchNorm1d):
        found = train(batch_norm, device, ROWS_EACH * world, rank, world)
        outputs = [torch.empty_like(found["outputs"]) for _ in range(world)]
        dist.all_gather(outputs, found["outputs"])
        found["outputs"] = torch.stack(outputs, 1).flatten()  # row 0 was the first of process 0, row 1 of process 1
        results.append({name: numbers.cpu() for name, numbers in found.items()})
    if rank == 0:
        torch.save(results, f"{folder}/results")
    dist.destroy_process_group()


def nccl() -> str:
    """The library as PyTorch's packages bring it, or by the name that the loader knows."""
    name = "libnccl.so.2"
    places = [pathlib.Path(place, "nvidia/nccl/lib", name) for place in sys.path]
    return next((str(place) for place in places if place.exists()), name)


def told(difference: float) -> str:
    return "equal" if difference < 1e-12 else f"differ by {difference:.3f}"


def main() -> int:
    gpus = torch.cuda.device_count()
    asked_for = int(sys.argv[1]) if len(sys.argv) > 1 else 0
    world, backend = (gpus, "nccl") if gpus > 1 and not asked_for else (asked_for or 2, "gloo")
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")  # all are on this machine
    with tempfile.TemporaryDirectory() as folder:
        start = "spawn" if backend == "nccl" else "fork"  # a forked process cannot use its parent's GPUs
        processes.start_processes(work, (world, backend, folder), world, start_method=start)
        ours, alone = torch.load(f"{folder}/results")
    one = train(nn.BatchNorm1d, "cpu", ROWS_EACH * world, 0, 1)
    print(f"{world} processes ({backend}), compared with PyTorch's batch norm in one process\n")
    print(f"{'batch norm by the rows':22}| {'of all processes':18}| of each one alone")
    right = True
    for name, expected in one.items():
        ours_by, alone_by = ((found[name] - expected).abs().max().item() for found in (ours, alone))
        print(f"{name:22}| {told(ours_by):18}| {told(alone_by)}")
        right = right and ours_by < 1e-12 < alone_by
    print("\nall-reduce by NCCL, from C++")
    if gpus < 2:
        print(f"skipped: it needs two GPUs, and PyTorch sees {gpus}")
        return 0 if right else 1
    sys.stdout.flush()
    ended = subprocess.run([built(__file__, "all_reduce"), nccl()], check=False)
    return 0 if right and ended.returncode in (0, SKIPPED) else 1


if __name__ == "__main__":
    sys.exit(main())
