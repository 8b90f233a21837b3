"""Chooses the CUDA toolkit with which to compile an extension for the installed PyTorch."""


def choose(torch_cuda: str | None, reports: dict[str, str]) -> str | None:
    """The folder of the toolkit to use, or None if no toolkit fits.

    torch_cuda is torch.version.cuda, such as "12.8", or None for a PyTorch without CUDA, which no toolkit fits.
    reports has a folder for each toolkit, with the text that its `nvcc --version` printed. The version follows the
    word "release", as in "Cuda compilation tools, release 12.8, V12.8.93". A text without it belongs to a broken
    toolkit.

    A toolkit fits if its major version is PyTorch's. If several fit, prefer those that are not newer than
    torch_cuda, and among these the newest. If all are newer, take the oldest.
    """
    return next(iter(reports), None)  # Your code here.
