"""Chooses the CUDA toolkit with which to compile an extension for the installed PyTorch."""

import re


def choose(torch_cuda: str | None, reports: dict[str, str]) -> str | None:
    """The folder of the toolkit to use, or None if no toolkit fits.

    torch_cuda is torch.version.cuda, such as "12.8", or None for a PyTorch without CUDA, which no toolkit fits.
    reports has a folder for each toolkit, with the text that its `nvcc --version` printed. The version follows the
    word "release", as in "Cuda compilation tools, release 12.8, V12.8.93". A text without it belongs to a broken
    toolkit.

    A toolkit fits if its major version is PyTorch's. If several fit, prefer those that are not newer than
    torch_cuda, and among these the newest. If all are newer, take the oldest.
    """
    if torch_cuda is None:
        return None
    major, minor = map(int, torch_cuda.split("."))
    fitting = {}
    for folder, report in reports.items():
        found = re.search(r"release (\d+)\.(\d+)", report)
        if found and int(found[1]) == major:
            fitting[folder] = int(found[2])
    older = [folder for folder in fitting if fitting[folder] <= minor]
    if older:
        return max(older, key=lambda folder: fitting[folder])
    return min(fitting, key=lambda folder: fitting[folder], default=None)
