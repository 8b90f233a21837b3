# The op's function for CUDA tensors, everywhere under a stand-in for CUDA: that of 05-05, which pretends that the tensors are on device 1 while
# device 0 is current.
import json
import os
import subprocess
import sys

import box_nms
import pytest
import torch

import kernels
from common.built import ROOT, built


@pytest.fixture(scope="module")
def recorded() -> dict[str, dict[str, object]]:
    """What was recorded of each call."""
    if not torch._C._dispatch_has_kernel_for_dispatch_key("box_nms::nms", "CUDA"):
        pytest.skip("this package is built without CUDA")
    program, standin = [
        ROOT / folder / "05-extension" / "05-canonical-op" / name for folder, name in (("tests", "host_code.py"), ("build/tests", "standin.so"))
    ]
    command = [sys.executable, program, standin, built(kernels.__file__, "installed/box_nms/_C.abi3.so"), "box_nms.nms"]
    ended = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "LD_PRELOAD": str(standin)}, check=False)
    assert ended.returncode == 0, ended.stderr
    return json.loads(ended.stdout.splitlines()[-1])["box_nms.nms"]


def test_the_three_kernels_run_in_pytorchs_stream_on_the_tensors_device(recorded: dict[str, dict[str, object]]) -> None:
    """Everywhere under the stand-in, on a GPU with a CUDA graph, and with two GPUs with tensors on the second one."""
    of_the_scan = {"grid": 1, "block": 512, "stream": 1, "device": 1}
    assert recorded["5000 elements"] == {"launches": 3, **of_the_scan, "device_afterwards": 0, "pending_error": 0, "raised": ""}

    if torch.cuda.is_available():
        is_captured_and_waits_for_nothing()
    if torch.cuda.device_count() > 1:
        here, there = [box_nms.nms(*boxes_and_scores(device), 0.5) for device in ("cpu", "cuda:1")]  # the current device is the first
        assert there.device.index == 1 and there.cpu().equal(here)


def boxes_and_scores(device: str) -> list[torch.Tensor]:
    torch.manual_seed(4)
    corner = torch.rand(500, 2) * 300
    return [tensor.to(device) for tensor in (torch.cat([corner, corner + 10 + torch.rand(500, 2) * 90], 1), torch.rand(500))]


def is_captured_and_waits_for_nothing() -> None:
    given, others = boxes_and_scores("cuda"), [tensor.flip(0) for tensor in boxes_and_scores("cuda")]
    expected = box_nms.nms(*others, 0.3)
    torch.cuda.set_sync_debug_mode("error")
    try:
        box_nms.nms_padded(*given, 0.3)
        with pytest.raises(RuntimeError, match="synchroniz"):
            box_nms.nms(*given, 0.3)
    finally:
        torch.cuda.set_sync_debug_mode("default")
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        kept, count = box_nms.nms_padded(*given, 0.3)
    for tensor, other in zip(given, others, strict=True):
        tensor.copy_(other)
    graph.replay()
    assert kept[: count.item()].equal(expected)


def test_nothing_is_launched_for_no_boxes(recorded: dict[str, dict[str, object]]) -> None:
    run = recorded["no elements"]
    assert run["launches"] == run["pending_error"] == run["device_afterwards"] == 0 and run["raised"] == ""


def test_a_failed_launch_raises_an_error(recorded: dict[str, dict[str, object]]) -> None:
    run = recorded["a failed launch"]
    assert "CUDA error 209" in run["raised"] and run["pending_error"] == run["device_afterwards"] == 0
