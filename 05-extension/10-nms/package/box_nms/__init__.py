"""Non-maximum suppression for PyTorch, on the CPU and on NVIDIA GPUs.

Importing this package loads the compiled library and registers it. It does not start CUDA, so a process may still fork.
"""

import pathlib

import torch
from torch import Tensor

# The library is called _C.abi3.so, or _C.cpython-313t-x86_64-linux-gnu.so in a free-threaded Python.
torch.ops.load_library(next(pathlib.Path(__file__).parent.glob("_C.*so")))


def nms_padded(boxes: Tensor, scores: Tensor, threshold: float) -> tuple[Tensor, Tensor]:
    """As many numbers as there are boxes: first those of the kept boxes, best first, then -1; and how many are kept. It waits for nothing."""
    return torch.ops.box_nms.nms(boxes, scores, threshold)


def nms(boxes: Tensor, scores: Tensor, threshold: float) -> Tensor:
    """The numbers of the kept boxes, best first. A box is left, top, right, bottom.

    A box is removed if its IoU with a better box that is kept exceeds the threshold. On a GPU, this waits until the number of kept boxes is known.
    """
    kept, count = nms_padded(boxes, scores, threshold)
    return kept[: count.item()]


@torch.library.register_fake("box_nms::nms")
def same_size(boxes: Tensor, scores: Tensor, threshold: float) -> tuple[Tensor, Tensor]:
    """What torch.compile needs: the shapes, dtypes and devices of the results. They do not depend on what is in the boxes."""
    torch._check(boxes.dim() == 2 and boxes.shape[1] == 4, lambda: "box_nms: boxes must be n x 4")  # like check() in op.cpp
    torch._check(scores.dim() == 1 and scores.shape[0] == boxes.shape[0], lambda: f"box_nms: {boxes.shape[0]} boxes need as many scores")
    torch._check(boxes.dtype == scores.dtype and boxes.device == scores.device, lambda: "box_nms: both must have the same dtype and device")
    return boxes.new_empty(boxes.shape[0], dtype=torch.int64), boxes.new_empty((), dtype=torch.int64)


# Inside torch.autocast, scores may be bfloat16, as a network computes them, beside boxes in float32. Half types are too coarse for coordinates.
for device in "cpu", "cuda":
    torch.library.register_autocast("box_nms::nms", device, torch.float32)
