"""The Python that runs lessons and tests in Python, and the environment that it gets."""

from __future__ import annotations

import os
import pathlib
import sys

from course import ROOT


def python() -> str:
    """The Python that has PyTorch and pytest: set-up's environment, or the one that runs now, without that environment."""
    environment = ROOT / "build" / "python" / "bin" / "python3"
    return str(environment) if environment.exists() else sys.executable


def for_python() -> dict[str, str]:
    """The environment of a lesson in Python: it can import from `common`, and it finds ninja beside its Python."""
    # PyTorch warns if its CUDA does not start; the lessons say what follows from that.
    warnings = ",".join(filter(None, ["ignore:CUDA initialization", os.environ.get("PYTHONWARNINGS")]))
    return {
        "PATH": os.pathsep.join([str(ROOT / "build" / "python" / "bin"), os.environ.get("PATH", os.defpath)]),
        "PYTHONPATH": os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")])),
        "PYTHONWARNINGS": warnings,
        **compiled_files(ROOT / "build" / "torch"),
    }


def compiled_files(torch: pathlib.Path) -> dict[str, str]:
    """Where Python keeps compiled modules. PyTorch's two thousand take longer to compile than everything else that a lesson does, so they are
    read beside their sources if pip has compiled them. Otherwise they are written to build/, once. The lessons' folders stay clean."""
    if any((torch / "__pycache__").glob(f"*.{sys.implementation.cache_tag}.pyc")):
        return {"PYTHONPYCACHEPREFIX": "", "PYTHONDONTWRITEBYTECODE": "yes"}
    return {"PYTHONPYCACHEPREFIX": str(ROOT / "build" / "pycache"), "PYTHONDONTWRITEBYTECODE": ""}
