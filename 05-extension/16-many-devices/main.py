# Trains a small model in one process with all rows, then in several processes that share the rows, and compares.
# With two or more GPUs, there is one process per GPU, and the processes communicate with NCCL. Otherwise there are two
# processes that communicate with Gloo, on one GPU or on the CPU; main.py 4 starts four of them on the CPU. At the end, a
# C++ program runs an all-reduce with NCCL in contexts and streams from the driver API.
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
SKIPPED = 77  # the exit status of a program that has printed why it cannot run


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
        torch.manual_seed(11)  # every process starts with the same parameters
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
    """Trains with the rows rank, rank + world, … and returns what is compared later, each in one row of numbers."""
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


def kinds(device: str) -> dict[str, type[nn.Module]]:
    """The batch norms to compare. PyTorch's own version for several processes rejects tensors on the CPU."""
    ours: dict[str, type[nn.Module]] = {"ours": SyncBatchNorm}
    return ours | ({"nn.SyncBatchNorm": nn.SyncBatchNorm} if device != "cpu" else {}) | {"each process alone": nn.BatchNorm1d}


def device_of(rank: int, on_cpu: bool) -> str:
    return "cpu" if on_cpu else f"cuda:{rank % torch.cuda.device_count()}"


def work(rank: int, world: int, backend: str, on_cpu: bool, folder: str) -> None:
    """What each process does. The first one saves its results in `folder`."""
    device = device_of(rank, on_cpu)
    if device != "cpu":
        torch.cuda.set_device(device)
    dist.init_process_group(backend, init_method=f"file://{folder}/meeting-place", rank=rank, world_size=world)
    results = {}
    for name, batch_norm in kinds(device).items():
        found = train(batch_norm, device, ROWS_EACH * world, rank, world)
        outputs = [torch.empty_like(found["outputs"]) for _ in range(world)]
        dist.all_gather(outputs, found["outputs"])
        found["outputs"] = torch.stack(outputs, 1).flatten()  # row 0 was the first of process 0, row 1 of process 1
        results[name] = {what: numbers.cpu() for what, numbers in found.items()}
    if rank == 0:
        torch.save(results, f"{folder}/results")
    dist.destroy_process_group()


def nccl() -> str:
    """The library in PyTorch's packages, or a name that the loader may find."""
    name = "libnccl.so.2"
    places = [pathlib.Path(place, "nvidia/nccl/lib", name) for place in sys.path]
    return next((str(place) for place in places if place.exists()), name)


def described(difference: float) -> str:
    return "equal" if difference < 1e-12 else f"differ by {difference:.3f}"


def compare(results: dict[str, dict[str, Tensor]], one: dict[str, Tensor]) -> bool:
    """Prints a row for each thing that is compared. Only the last batch norm should differ."""
    print(f"{'':19}| " + "| ".join(f"{name:19}" for name in results).rstrip())
    right = True
    for what, expected in one.items():
        apart = [(found[what] - expected).abs().max().item() for found in results.values()]
        print(f"{what:19}| " + "| ".join(f"{described(difference):19}" for difference in apart).rstrip())
        right = right and all(difference < 1e-12 for difference in apart[:-1]) and apart[-1] > 1e-12
    return right


def main() -> int:
    gpus = torch.cuda.device_count()
    asked_for = int(sys.argv[1]) if len(sys.argv) > 1 else 0
    world, backend = (gpus, "nccl") if gpus > 1 and not asked_for else (asked_for or 2, "gloo")
    on_cpu = gpus == 0 or asked_for > 0
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")  # all processes are on this machine
    with tempfile.TemporaryDirectory() as folder:
        start = "fork" if on_cpu else "spawn"  # a forked process cannot use its parent's GPUs
        processes.start_processes(work, (world, backend, on_cpu, folder), world, start_method=start)
        results = torch.load(f"{folder}/results")
    one = train(nn.BatchNorm1d, "cpu", ROWS_EACH * world, 0, 1)
    print(f"{world} processes ({backend}), compared with nn.BatchNorm1d in one process\n")
    right = compare(results, one)
    if on_cpu:
        print("nn.SyncBatchNorm: skipped, because it needs a GPU")
    print("\nall-reduce with NCCL, from C++")
    if gpus < 2:
        print(f"skipped: it needs two GPUs, but PyTorch sees {gpus}")
        return 0 if right else 1
    sys.stdout.flush()
    ended = subprocess.run([built(__file__, "all_reduce"), nccl()], check=False)
    return 0 if right and ended.returncode in (0, SKIPPED) else 1


if __name__ == "__main__":
    sys.exit(main())
