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


def test_four_processes_find_what_one_does():
    ended = subprocess.run([sys.executable, str(LESSON / "main.py"), "4"], capture_output=True, text=True, timeout=120)
    assert "4 processes (gloo), compared with PyTorch's batch norm in one process" in ended.stdout, ended.stderr
    # With two GPUs, the program in C++ prints a table of its own behind it.
    table = [line.split("|") for line in ended.stdout.splitlines() if line.count("|") == 2][:5]
    assert [row[1].strip() for row in table] == ["of all processes"] + ["equal"] * 4
    assert all("differ" in row[2] for row in table[1:])
