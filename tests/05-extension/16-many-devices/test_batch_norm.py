"""The lesson's batch norm against PyTorch's: nn.BatchNorm in one process with all rows, and nn.SyncBatchNorm on a GPU."""

import importlib.util
import pathlib
import subprocess
import sys

import pytest
import torch
from torch import nn

from test_average_gradients import several

LESSON = pathlib.Path(__file__).resolve().parents[3] / "05-extension" / "16-many-devices"


@pytest.fixture(scope="module")
def batch_norm():
    spec = importlib.util.spec_from_file_location("batch_norm", LESSON / "batch_norm.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def passed(layer: nn.Module, x: torch.Tensor, steps: int = 1) -> list[torch.Tensor]:
    """Output, gradients and statistics of some steps, then the output of an evaluation."""
    layer.double()
    found = []
    if layer.weight is not None:
        nn.init.normal_(layer.weight, generator=torch.Generator().manual_seed(3))
    for step in range(steps):
        given = (x + step).requires_grad_()
        y = layer(given)
        (y * torch.arange(y.numel(), dtype=torch.double).view(y.shape).cos()).sum().backward()
        found += [y.detach(), given.grad]
    found += [] if layer.weight is None else [layer.weight.grad, layer.bias.grad]
    layer.eval()
    return [*found, layer.running_mean, layer.running_var, layer(x).detach()]


def of_shape(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, dtype=torch.double, generator=torch.Generator().manual_seed(2))


def near(ours: list[torch.Tensor], theirs: list[torch.Tensor]) -> None:
    for mine, expected in zip(ours, theirs, strict=True):
        torch.testing.assert_close(mine, expected, rtol=1e-10, atol=1e-12)


SHAPES = [(nn.BatchNorm1d, (7, 3)), (nn.BatchNorm1d, (4, 3, 5)), (nn.BatchNorm2d, (4, 3, 5, 2))]


@pytest.mark.parametrize("how", [{}, {"affine": False}, {"momentum": None}, {"momentum": 0.4, "eps": 1e-3}])
def test_our_batch_norm_agrees_with_pytorchs(batch_norm, how):
    def both(rank: int) -> list[list[list[torch.Tensor]]]:
        return [[passed(made(3, **how), of_shape(*shape), 3) for made in (batch_norm.SyncBatchNorm, kind)] for kind, shape in SHAPES]

    (found,) = several(both, 1)
    for ours, theirs in found:
        near(ours, theirs)


def statistics_in_groups(module, rank: int) -> list[torch.Tensor]:
    """Processes 0 and 2 normalize together, and so do 1 and 3."""
    groups = [torch.distributed.new_group([0, 2]), torch.distributed.new_group([1, 3])]
    layer = module.SyncBatchNorm(3, process_group=groups[rank % 2]).double()
    x = of_shape(8, 3)[rank::4].clone().requires_grad_()
    y = layer(x)
    (y * y * y).sum().backward()
    return [y.detach(), x.grad, layer.running_mean, layer.running_var]


def test_a_group_of_processes_normalizes_alone(batch_norm):
    def expected(rank: int) -> list[list[torch.Tensor]]:
        found = []
        for first in (0, 1):
            layer, x = nn.BatchNorm1d(3).double(), of_shape(8, 3)[first::2].clone().requires_grad_()
            y = layer(x)
            (y * y * y).sum().backward()
            found.append([y.detach(), x.grad, layer.running_mean, layer.running_var])
        return found

    (wanted,) = several(expected, 1)
    for rank, (y, of_x, mean, variance) in enumerate(several(lambda rank: statistics_in_groups(batch_norm, rank), 4)):
        theirs, place = wanted[rank % 2], slice(rank // 2, None, 2)
        near([y, of_x, mean, variance], [theirs[0][place], theirs[1][place], *theirs[2:]])


def test_there_is_one_message_in_each_direction(batch_norm):
    def work(rank: int) -> list[str]:
        sent: list[str] = []
        for name in dir(torch.distributed.ProcessGroup):  # all functions of torch.distributed end here
            if name.lstrip("_").startswith(("all", "reduce", "broadcast", "gather")):
                call = getattr(torch.distributed.ProcessGroup, name)
                note = lambda *given, name=name, call=call, **more: (sent.append(name.split("_")[0]), call(*given, **more))[1]  # noqa: E731
                setattr(torch.distributed.ProcessGroup, name, note)
        y = batch_norm.SyncBatchNorm(3)(of_shape(8, 3).float()[rank::2].requires_grad_())
        forward = len(sent)
        y.square().sum().backward()
        return [forward, len(sent) - forward]

    assert several(work, 2) == [[1, 1], [1, 1]]


def test_a_process_without_rows_takes_part(batch_norm):
    def work(rank: int) -> list[torch.Tensor]:
        layer, mine = batch_norm.SyncBatchNorm(3).double(), of_shape(6, 3)[: 6 * rank].clone().requires_grad_()
        y = layer(mine)
        y.square().sum().backward()
        return [y.detach(), mine.grad, layer.running_var]

    (alone,) = several(lambda rank: work(1), 1)
    empty, full = several(work, 2)
    near(full, alone)
    assert empty[0].shape == empty[1].shape == (0, 3)
    near(empty[2:], alone[2:])


def beside_pytorchs(rank: int) -> list[list[list[torch.Tensor]]]:
    """Both synchronized batch norms on a GPU, with shares that differ in size. In the last case, each process is a group of its own."""
    spec = importlib.util.spec_from_file_location("batch_norm", LESSON / "batch_norm.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    device = f"cuda:{rank % torch.cuda.device_count()}"
    found = []
    groups = [torch.distributed.new_group([each]) for each in (0, 1)]
    for how in ({}, {"affine": False}, {"momentum": None}, {"process_group": groups[rank]}):
        x = of_shape(9, 3, 4, 5)[slice(0, 3) if rank == 0 else slice(3, 9)].to(device)
        results = []
        for kind in (module.SyncBatchNorm, nn.SyncBatchNorm):
            layer = kind(3, **how).double().to(device)
            given = x.clone().requires_grad_()
            y = layer(given)
            (y * y * y).sum().backward()
            weights = [] if layer.weight is None else [layer.weight.grad, layer.bias.grad]
            results.append([t.cpu() for t in (y.detach(), given.grad, *weights, layer.running_mean, layer.running_var)])
        found.append(results)
    return found


@pytest.mark.skipif(not torch.cuda.is_available(), reason="nn.SyncBatchNorm needs a GPU, and PyTorch sees none")
def test_our_batch_norm_agrees_with_pytorchs_for_several_processes():
    for of_process in several(beside_pytorchs, 2, "nccl" if torch.cuda.device_count() > 1 else "gloo", spawn=True):
        for ours, theirs in of_process:
            for mine, expected in zip(ours, theirs, strict=True):
                torch.testing.assert_close(mine, expected, rtol=1e-9, atol=1e-10)


def test_our_batch_norm_keeps_its_digits_where_the_mean_is_large(batch_norm):
    def both(rank: int) -> list[torch.Tensor]:
        x = 1e4 + of_shape(64, 2).float()
        return [batch_norm.SyncBatchNorm(2)(x).detach(), nn.BatchNorm1d(2)(x).detach()]

    ((ours, expected),) = several(both, 1)
    assert torch.allclose(ours, expected, atol=1e-2)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_types_are_counted_and_added_up_in_float(batch_norm, dtype):
    """Neither type can represent 2049, and 2049 times 100 exceeds the range of float16."""
    x, arriving = (100 + of_shape(4097, 3)).to(dtype), of_shape(4097, 3).cos().to(dtype)

    def work(rank: int) -> list[torch.Tensor]:
        layer, mine = batch_norm.SyncBatchNorm(3), x[rank::2].clone().requires_grad_()
        y = layer(mine)
        y.backward(arriving[rank::2])
        return [y.detach(), mine.grad, layer.running_mean, layer.running_var]

    def in_double(rank: int) -> list[torch.Tensor]:
        layer, rows = nn.BatchNorm1d(3).double(), x.double().requires_grad_()
        y = layer(rows)
        y.backward(arriving.double())
        return [y.detach(), rows.grad, layer.running_mean, layer.running_var]

    # In a process of its own: once autograd has started threads, a process should not be forked any more.
    ((y, of_rows, true_mean, true_variance),) = several(in_double, 1)
    for rank, (ours, of_x, mean, variance) in enumerate(several(work, 2)):
        assert ours.dtype == of_x.dtype == dtype
        assert torch.allclose(ours.double(), y[rank::2], rtol=2**-7, atol=2**-10)
        assert torch.allclose(of_x.double(), of_rows[rank::2], rtol=2**-7, atol=2**-7)
        assert torch.allclose(mean.double(), true_mean, rtol=1e-6)
        assert torch.allclose(variance.double(), true_variance, rtol=1e-5)


def test_each_can_load_the_state_of_the_other(batch_norm):
    ours, theirs = batch_norm.SyncBatchNorm(3), nn.BatchNorm1d(3)
    for _ in range(3):
        ours(of_shape(5, 3).float())
    theirs.load_state_dict(ours.state_dict())
    assert theirs.num_batches_tracked == 3 and theirs.running_mean.equal(ours.running_mean)
    theirs(of_shape(7, 3).float())
    ours.load_state_dict(theirs.state_dict())
    assert ours.num_batches_tracked == 4 and ours.running_var.equal(theirs.running_var)


def test_a_single_value_is_rejected(batch_norm):
    for kind in (batch_norm.SyncBatchNorm, nn.BatchNorm1d):
        with pytest.raises(ValueError, match="Expected more than 1 value per channel when training"):
            kind(3)(of_shape(1, 3).float())
        kind(3).eval()(of_shape(1, 3).float())


def test_one_value_in_each_of_two_processes_is_enough(batch_norm):
    def work(rank: int) -> torch.Tensor:
        return batch_norm.SyncBatchNorm(3)(of_shape(2, 3).float()[rank : rank + 1]).detach()

    expected = nn.BatchNorm1d(3)(of_shape(2, 3).float()).detach()
    assert torch.cat(several(work, 2)).allclose(expected, atol=1e-5)


def test_four_processes_agree_with_one():
    ended = subprocess.run([sys.executable, str(LESSON / "main.py"), "4"], capture_output=True, text=True, timeout=120, check=False)
    assert "4 processes (gloo), compared with nn.BatchNorm1d in one process" in ended.stdout, ended.stderr
    # With two GPUs, the C++ program prints another table after it.
    table = [line.split("|") for line in ended.stdout.splitlines() if line.count("|") == 2][:5]
    assert [row[1].strip() for row in table] == ["ours"] + ["equal"] * 4
    assert all("differ" in row[2] for row in table[1:])
