"""Which libraries NVIDIA's stack consists of, and what each is for."""

from __future__ import annotations

import re

# Without "lib" and ".so". A name that ends in * matches every name that begins like it; the first match counts.
PURPOSES = {
    # with the display driver
    "cuda": "the driver API, which every CUDA program calls",
    "cudadebugger": "the driver's side of cuda-gdb",
    "nvidia-ml": "NVML, which nvidia-smi calls",
    "nvidia-ptxjitcompiler": "compiles PTX when a module is loaded",
    "nvidia-nvvm": "the driver's own compiler",
    "nvidia-gpucomp": "the driver's own compiler",
    # with the toolkit
    "cudart": "the runtime API (functions called cuda…)",
    "nvrtc": "compiles CUDA C++ at run time",
    "nvrtc.alt": "the same, linked differently",
    "nvrtc-builtins*": "headers for NVRTC, of exactly its version",
    "nvJitLink": "links device code at run time",
    "nvfatbin": "packs device code at run time",
    "nvptxcompiler": "compiles PTX without a driver",
    "device": "math functions in kernels that nvcc compiles",
    "nvvm": "compiles NVVM's intermediate language to PTX",
    "cublas": "linear algebra (BLAS)",
    "cublasLt": "matrix products with many options",
    "nvblas": "BLAS calls of CPU programs, on the GPU",
    "cufft": "Fourier transforms",
    "cufftw": "Fourier transforms with FFTW's interface",
    "curand": "random numbers",
    "cusolver": "linear systems and eigenvalues",
    "cusolverMg": "the same on several GPUs",
    "cusparse": "sparse matrices",
    "npp*": "image and signal processing (NPP)",
    "nvjpeg": "JPEG on the GPU",
    "cufile": "from disk to GPU (GPUDirect Storage)",
    "cufile_rdma": "from network storage to GPU",
    "cupti": "calls and counters for profilers (CUPTI)",
    "cuinj64": "injects a profiler into a program (CUINJ)",
    "nvToolsExt": "markers in a profiler's timeline (NVTX 1, 2)",
    "nvtx3interop": "markers in a profiler's timeline (NVTX 3)",
    "nvperf*": "performance counters, for profilers",
    "pcsamplingutil": "for profilers",
    # separate downloads
    "cudnn": "deep learning primitives (cuDNN)",
    "cudnn_*": "a part of cuDNN, of exactly its version",
    "nccl": "communication between GPUs (NCCL)",
    "nvshmem*": "shared memory between GPUs",
    "cusparseLt": "matrices with structured zeros",
    "cutensor": "tensor contractions",
    "nvinfer": "TensorRT",
    "nvinfer_*": "a part of TensorRT",
    # PyTorch
    "torch_cuda": "PyTorch's kernels",
    "c10_cuda": "PyTorch's memory and streams",
}

# The errors that stop a program before its first kernel or after it, and the lesson that explains each. The operators' table in
# 01-driver-init/README.md has a row for each.
ERRORS = {
    2: ("CUDA_ERROR_OUT_OF_MEMORY", "03-13"),
    3: ("CUDA_ERROR_NOT_INITIALIZED", "04-11"),
    34: ("CUDA_ERROR_STUB_LIBRARY", "01-07"),
    46: ("CUDA_ERROR_DEVICE_UNAVAILABLE", "01-07"),
    100: ("CUDA_ERROR_NO_DEVICE", "01-07"),
    101: ("CUDA_ERROR_INVALID_DEVICE", "01-07"),
    209: ("CUDA_ERROR_NO_BINARY_FOR_GPU", "04-06"),
    222: ("CUDA_ERROR_UNSUPPORTED_PTX_VERSION", "01-06"),
    700: ("CUDA_ERROR_ILLEGAL_ADDRESS", "04-11"),
    802: ("CUDA_ERROR_SYSTEM_NOT_READY", "01-07"),
    803: ("CUDA_ERROR_SYSTEM_DRIVER_MISMATCH", "01-07"),
    804: ("CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE", "01-07"),
    999: ("CUDA_ERROR_UNKNOWN", "01-07"),
}

DRIVER = {"cuda", "cudadebugger", "nvidia-ml", "nvidia-ptxjitcompiler", "nvidia-nvvm", "nvidia-gpucomp"}
SEPARATE = {"cudnn", "nccl", "cusparseLt", "cutensor", "nvinfer"}
LIBRARY = re.compile(r"lib([\w.+-]+?)\.so((?:\.\d+)*)")
BITCODE = re.compile(r"lib(device)\.(\d+)\.bc")  # not loaded by the loader, but a library all the same


def split(file: str) -> tuple[str, str] | None:
    """("cudart", "12.4.127") of libcudart.so.12.4.127; None if it is not in the catalog."""
    found = LIBRARY.fullmatch(file) or BITCODE.fullmatch(file)
    if not found or not purpose(found.group(1)):
        return None
    return found.group(1), found.group(2).lstrip(".")


def purpose(name: str) -> str:
    """What the library is for; empty if it is not NVIDIA's (or PyTorch's)."""
    if name in PURPOSES:
        return PURPOSES[name]
    return next((text for row, text in PURPOSES.items() if row.endswith("*") and name.startswith(row[:-1])), "")
