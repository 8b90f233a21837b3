# What cuda.core and numba-cuda must find before they are imported: the toolkit that the lessons are compiled with, and no nvJitLink.
import os
import sys

from common.built import ROOT

# NVRTC and NVVM of a newer toolkit than the driver's would write PTX that the driver does not know.
os.environ.setdefault("CUDA_HOME", str(ROOT / "build" / "toolkit"))

import cuda.bindings
import cuda.core

# nvJitLink, if it is installed, compiles PTX to machine code inside this process. Hidden, it leaves the PTX to the driver, which compiles it for its device.
# cuda.core imports it once, so it is hidden afterwards.
sys.modules["cuda.bindings.nvjitlink"] = None
if hasattr(cuda.bindings, "nvjitlink"):
    del cuda.bindings.nvjitlink


def pinned(size, stream):
    """Host memory that cuda.core can copy from and to."""
    from cuda.core import LegacyPinnedMemoryResource

    return LegacyPinnedMemoryResource().allocate(size, stream=stream)
