"""Judges the learner's average_gradients() in two processes on the CPU, and on two GPUs if there are two."""

import importlib.util
import math
import multiprocessing
import os
import pathlib
import tempfile
import traceback
from collections.abc import Callable
from datetime import timedelta

import pytest
import torch
import torch.distributed as dist
from torch import Tensor, nn

LIMIT = 60  # seconds for the processes of one test


def loaded():
    """The learner's module, for a process that was not forked from the one that has it."""
    spec = importlib.util.spec_from_file_location("answer", os.environ["ANSWER"])
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def process(work: Callable, rank: int, world: int, backend: str, folder: str) -> None:
    path = pathlib.Path(folder, str(rank))
    torch.set_num_threads(1)  # a forked process does not have its parent's threads, and would wait for them
    try:
        if backend == "nccl":
            torch.cuda.set_device(rank)
        meeting_place = f"file://{folder}/meeting-place"
        dist.init_process_group(backend, init_method=meeting_place, rank=rank, world_size=world, timeout=timedelta(seconds=LIMIT / 2))
        torch.save(work(rank), path)
        dist.destroy_process_group()
    except BaseException:  # any exception of the learner's code is reported by the parent process
        path.with_suffix(".failed").write_text(traceback.format_exc().strip().splitlines()[-1])
        os._exit(1)


def several(work: Callable, world: int = 2, backend: str = "gloo", spawn: bool = False) -> list:
    """What work(rank) returns in each of several processes that can send each other messages."""
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    start = multiprocessing.get_context("spawn" if spawn or backend == "nccl" else "fork")
    with tempfile.TemporaryDirectory() as folder:
        running = [start.Process(target=process, args=(work, rank, world, backend, folder)) for rank in range(world)]
        for one in running:
            one.start()
        for one in running:
            one.join(LIMIT)
        hung = [one.kill() for one in running if one.is_alive()]
        failures = [path.read_text() for path in sorted(pathlib.Path(folder).glob("*.failed"))]
        assert not failures, f"a process ended with {failures[0]}"
        assert not hung, "deadlock: the processes wait for each other"
        return [torch.load(pathlib.Path(folder, str(rank))) for rank in range(world)]


class Model(nn.Module):
    """Each row passes through one of the last two layers, selected by its first number."""

    def __init__(self, dtype: torch.dtype = torch.double) -> None:
        super().__init__()
        torch.manual_seed(5)
        self.first = nn.Linear(4, 6).to(dtype)
        self.below, self.above = nn.Linear(6, 1).to(dtype), nn.Linear(6, 1).to(dtype)

    def forward(self, x: Tensor) -> Tensor:
        hidden = torch.tanh(self.first(x))
        below = x[:, :1] < 0
        if bool(below.all()):
            return self.below(hidden)
        if not bool(below.any()):
            return self.above(hidden)
        return torch.where(below, self.below(hidden), self.above(hidden))


def some_rows(count: int) -> Tensor:
    torch.manual_seed(6)
    return torch.randn(count, 4, dtype=torch.double)


def gradients(x: Tensor, rows: list[int], device: str, average: Callable | None = None) -> list[Tensor | None]:
    """The gradients of some rows, averaged with those of other processes if the learner's function does so."""
    model, mine = Model().to(device), x[rows].to(device)
    model(mine).square().mean().backward()
    if average:
        average(model.parameters(), len(mine))
    return [None if p.grad is None else p.grad.cpu() for p in model.parameters()]


def both(answer, x: Tensor, shares: list[list[int]], rank: int, device: str = "cpu") -> tuple[list[Tensor | None], list[Tensor | None]]:
    """The gradients that this process has after averaging, and those of all rows, which it works out alone."""
    everything = [row for share in shares for row in share]
    return gradients(x, shares[rank], device, answer.average_gradients), gradients(x, everything, device)


def compare(found: list[tuple[list[Tensor | None], list[Tensor | None]]]) -> None:
    for rank, (ours, expected) in enumerate(found):
        for number, (mine, wanted) in enumerate(zip(ours, expected)):
            assert mine is not None, f"in process {rank}, parameter {number} has no gradient"
            difference = (mine - wanted).abs().max().item()
            assert difference < 1e-12, f"in process {rank}, the gradient of parameter {number} is {difference:.3g} off"


def check(answer, x: Tensor, shares: list[list[int]]) -> None:
    compare(several(lambda rank: both(answer, x, shares, rank), len(shares)))


def test_the_gradient_is_that_of_the_loss_over_all_rows(answer):
    check(answer, some_rows(16), [list(range(0, 16, 2)), list(range(1, 16, 2))])


def test_processes_may_have_different_numbers_of_rows(answer):
    check(answer, some_rows(16), [list(range(3)), list(range(3, 16))])


def test_three_processes_agree(answer):
    check(answer, some_rows(18), [list(range(6)), list(range(6, 12)), list(range(12, 18))])


def test_a_parameter_that_one_process_did_not_use_gets_its_gradient(answer):
    x = some_rows(16)
    below = [row for row in range(16) if x[row, 0] < 0]
    above = [row for row in range(16) if x[row, 0] >= 0]
    size = min(len(below), len(above))
    check(answer, x, [below[:size], above[:size]])


def counted(answer, rank: int) -> int:
    sent = []
    # All functions of torch.distributed end here, whatever name the learner's code has imported them under.
    for name in dir(dist.ProcessGroup):
        if not name.lstrip("_").startswith(("all", "reduce", "broadcast", "gather")):
            continue
        call = getattr(dist.ProcessGroup, name)
        setattr(dist.ProcessGroup, name, lambda *given, call=call, **more: (sent.append(1), call(*given, **more))[1])
    gradients(some_rows(8), list(range(4 * rank, 4 * rank + 4)), "cpu", answer.average_gradients)
    return len(sent)


def test_all_gradients_are_sent_in_a_few_messages(answer):
    for sent in several(lambda rank: counted(answer, rank)):
        assert 1 <= sent <= 2, f"{sent} messages for 6 parameters of one type"


def of_two_types(answer, rank: int) -> list[Tensor]:
    """Each process has a gradient of its own in either type; in double, the difference is one that a float cannot hold."""
    small, large = nn.Parameter(torch.zeros(3)), nn.Parameter(torch.zeros(2, 3, dtype=torch.double))
    small.grad = torch.full((3,), 1.0 + rank)
    large.grad = torch.full((3, 2), 1.0 + rank * 2.0**-40, dtype=torch.double).t()  # not contiguous
    answer.average_gradients([small, large], 1)
    return [small.grad, large.grad]


def test_types_are_kept(answer):
    for small, large in several(lambda rank: of_two_types(answer, rank)):
        assert small.dtype == torch.float and large.dtype == torch.double
        assert small.shape == (3,) and large.shape == (2, 3)
        assert small.tolist() == [1.5] * 3
        assert large.flatten().tolist() == [1.0 + 2.0**-41] * 6


def of_few_digits(answer, rank: int) -> Tensor:
    """257 rows have gradient 1, and 255 rows have -1. In bfloat16, both counts would be 256."""
    parameter = nn.Parameter(torch.zeros(4, dtype=torch.bfloat16))
    parameter.grad = torch.full((4,), [1.0, -1.0][rank], dtype=torch.bfloat16)
    answer.average_gradients([parameter], [257, 255][rank])
    return parameter.grad


def test_there_may_be_more_rows_than_the_type_can_count(answer):
    for found in several(lambda rank: of_few_digits(answer, rank)):
        assert found.dtype == torch.bfloat16
        assert found.tolist() == [2 / 512] * 4


def without_rows(answer, rank: int) -> Tensor:
    """Process 0 has no rows. The mean over none is NaN, and so is its gradient."""
    parameter = nn.Parameter(torch.zeros(3))
    parameter.grad = torch.full((3,), [math.nan, 2.0][rank])
    answer.average_gradients([parameter], [0, 5][rank])
    return parameter.grad


def test_a_process_may_have_no_rows(answer):
    for found in several(lambda rank: without_rows(answer, rank)):
        assert found.tolist() == [2.0] * 3


def on_gpus(rank: int) -> tuple[list[Tensor | None], list[Tensor | None]]:
    return both(loaded(), some_rows(16), [list(range(3)), list(range(3, 16))], rank, f"cuda:{rank}")


@pytest.mark.skipif(torch.cuda.device_count() < 2, reason="it needs two GPUs")
def test_the_same_on_two_gpus(answer):
    compare(several(on_gpus, 2, "nccl"))
