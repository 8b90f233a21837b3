"""The lesson's batch norm against PyTorch's: in one process with all rows, also of images, and when not training."""

import importlib.util
import pathlib
import subprocess
import sys

import pytest
import torch
from torch import nn

from test_average_gradients import several

LESSON = pathlib.Path(__file__).resolve().parents[3] / "05-extension" / "11-many-devices"


@pytest.fixture(scope="module")
def batch_norm():
    spec = importlib.util.spec_from_file_location("batch_norm", LESSON / "batch_norm.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def passed(kind: type[nn.Module], x: torch.Tensor) -> list[torch.Tensor]:
    """Output, gradients and statistics of one step, then the output without training."""
    layer = kind(x.shape[1]).double()
    nn.init.normal_(layer.weight, generator=torch.Generator().manual_seed(3))
    x = x.clone().requires_grad_()
    y = layer(x)
    (y * torch.arange(y.numel(), dtype=torch.double).view(y.shape).cos()).sum().backward()
    layer.eval()
    return [y.detach(), x.grad, layer.weight.grad, layer.bias.grad, layer.running_mean, layer.running_var, layer(x).detach()]


def of_shape(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, dtype=torch.double, generator=torch.Generator().manual_seed(2))


def test_our_batch_norm_is_pytorchs(batch_norm):
    kinds = [(nn.BatchNorm1d, (7, 3)), (nn.BatchNorm1d, (4, 3, 5)), (nn.BatchNorm2d, (4, 3, 5, 2))]

    def both(rank: int) -> list[list[list[torch.Tensor]]]:
        return [[passed(batch_norm.SyncBatchNorm, of_shape(*shape)), passed(kind, of_shape(*shape))] for kind, shape in kinds]

    (found,) = several(both, 1)
    for ours, theirs in found:
        for mine, expected in zip(ours, theirs):
            assert torch.allclose(mine, expected, rtol=1e-10, atol=1e-12)


def test_our_batch_norm_keeps_its_digits_where_the_mean_is_large(batch_norm):
    def both(rank: int) -> list[torch.Tensor]:
        x = 1e4 + of_shape(64, 2).float()
        return [batch_norm.SyncBatchNorm(2)(x).detach(), nn.BatchNorm1d(2)(x).detach()]

    ((ours, expected),) = several(both, 1)
    assert torch.allclose(ours, expected, atol=1e-2)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_types_are_counted_and_added_up_in_float(batch_norm, dtype):
    """2049 rows are in neither type, and 2049 times 100 is more than float16 has."""
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

    # In a process of its own: once autograd has begun its threads for GPUs, this one could not be forked any more.
    ((y, of_rows, true_mean, true_variance),) = several(in_double, 1)
    for rank, (ours, of_x, mean, variance) in enumerate(several(work, 2)):
        assert ours.dtype == of_x.dtype == dtype
        assert torch.allclose(ours.double(), y[rank::2], rtol=2**-7, atol=2**-10)
        assert torch.allclose(of_x.double(), of_rows[rank::2], rtol=2**-7, atol=2**-7)
        assert torch.allclose(mean.double(), true_mean, rtol=1e-6)
        assert torch.allclose(variance.double(), true_variance, rtol=1e-5)


def test_one_takes_the_others_state(batch_norm):
    ours, theirs = batch_norm.SyncBatchNorm(3), nn.BatchNorm1d(3)
    for _ in range(3):
        ours(of_shape(5, 3).float())
    theirs.load_state_dict(ours.state_dict())
    assert theirs.num_batches_tracked == 3 and theirs.running_mean.equal(ours.running_mean)
    theirs(of_shape(7, 3).float())
    ours.load_state_dict(theirs.state_dict())
    assert ours.num_batches_tracked == 4 and ours.running_var.equal(theirs.running_var)


def test_one_value_has_no_variance(batch_norm):
    for kind in (batch_norm.SyncBatchNorm, nn.BatchNorm1d):
        with pytest.raises(ValueError, match="Expected more than 1 value per channel when training"):
            kind(3)(of_shape(1, 3).float())
        kind(3).eval()(of_shape(1, 3).float())


def test_one_value_in_each_of_two_processes_is_enough(batch_norm):
    def work(rank: int) -> torch.Tensor:
        return batch_norm.SyncBatchNorm(3)(of_shape(2, 3).float()[rank : rank + 1]).detach()

    expected = nn.BatchNorm1d(3)(of_shape(2, 3).float()).detach()
    assert torch.cat(several(work, 2)).allclose(expected, atol=1e-5)


def test_four_processes_find_what_one_does():
    ended = subprocess.run([sys.executable, str(LESSON / "main.py"), "4"], capture_output=True, text=True, timeout=120)
    assert "4 processes (gloo), compared with PyTorch's batch norm in one process" in ended.stdout, ended.stderr
    # With two GPUs, the program in C++ prints a table of its own behind it.
    table = [line.split("|") for line in ended.stdout.splitlines() if line.count("|") == 2][:5]
    assert [row[1].strip() for row in table] == ["of all processes"] + ["equal"] * 4
    assert all("differ" in row[2] for row in table[1:])
