"""Exports a model that calls the op of lesson 05-05, and compiles it into a package for each device of this machine.

PYTHONPATH=.:build/05-extension/05-canonical-op/installed python3 export.py FOLDER [OP]
"""

import json
import pathlib
import sys
import types
from collections import Counter
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

import square_plus

LARGEST = 64  # rows of a batch
KEYS = ("CPU", "Meta", "Autograd", "AutocastCPU", "FuncTorchBatched")


@torch.library.custom_op("made::in_python", mutates_args=())
def in_python(x: Tensor, b: Tensor) -> Tensor:
    return x * x + b


@in_python.register_fake
def like_x(x: Tensor, b: Tensor) -> Tensor:
    return torch.empty_like(x)


OPS: dict[str, Callable[[Tensor, Tensor], Tensor]] = {"square_plus": square_plus.square_plus, "in_python": in_python}


class Model(torch.nn.Module):
    """Normalizes its input, and calls the op between operations of PyTorch's."""

    def __init__(self, op: Callable[[Tensor, Tensor], Tensor]) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.op = op
        self.linear = torch.nn.Linear(4, 3)
        self.b = torch.nn.Parameter(torch.ones(3))
        self.register_buffer("mean", torch.tensor([1.0, 2.0, 3.0, 4.0]))

    def forward(self, x: Tensor) -> Tensor:
        return 2 * self.op(self.linear((x - self.mean) / 10), self.b)


def package(model: Model, device: str, path: pathlib.Path, **more: Any) -> None:
    model, x = model.to(device), torch.zeros(2, 4, device=device)
    batch = torch.export.Dim("batch", max=LARGEST)
    exported = torch.export.export(model, (x,), dynamic_shapes=({0: batch},))
    options = {
        "aot_inductor.check_lowerbound": False,  # otherwise, the package rejects a batch of one row
        "aot_inductor.precompile_headers": False,  # these save time from the third package on
        **more,
    }
    known = torch._inductor.config.get_config_copy()  # older versions of PyTorch know fewer options
    options = {name: value for name, value in options.items() if name in known}
    torch._inductor.aoti_compile_and_package(exported, package_path=str(path), inductor_configs=options)


def called_functions(work: Callable[[], None]) -> Counter[str]:
    """How often work() calls each function of the op's Python package."""
    calls: Counter[str] = Counter()

    def count(frame: types.FrameType, event: str, _: Any) -> None:
        if event == "call" and frame.f_code.co_filename == square_plus.__file__:
            calls[frame.f_code.co_name] += 1

    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(None)
    return calls


def keys_of(op: str) -> list[str]:
    return [key for key in KEYS if torch._C._dispatch_has_kernel_for_dispatch_key(op, key)]


def main(folder: str, name: str = "square_plus") -> None:
    place = pathlib.Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    model = Model(OPS[name]).eval().requires_grad_(False)
    calls = called_functions(lambda: package(model, "cpu", place / "model.cpu.pt2"))
    if torch.cuda.is_available():
        package(model, "cuda", place / "model.cuda.pt2")

    model = model.cpu()
    x = torch.arange(4.0 * LARGEST).view(LARGEST, 4)
    facts = {
        "largest": LARGEST,
        "calls": calls,
        "ops": {op: keys_of(op) for op in ("square_plus::forward", "made::in_python")},
        "x": x.tolist(),
        "y": model(x).tolist(),
    }
    (place / "facts.json").write_text(json.dumps(facts))


if __name__ == "__main__":
    main(*sys.argv[1:])
