# Kernels for PyTorch's tensors from a string of CUDA C++. They are compiled at first use, cached in memory and on disk, and launched in
# PyTorch's context and stream. Host tensors are copied to the device and back.
import contextlib
import ctypes
import hashlib
import os
import pathlib
import tempfile
from ctypes import byref, c_uint, c_void_p

import torch

from common.driver import Copy, cu, current, primary
from nvrtc import architecture, compiled, compiler_version

THREADS = 256  # of a block


class Kernels:
    """The kernels of one source, which includes no other files. Each takes addresses, then the number of elements (unsigned). There is at
    least one thread for each element."""

    def __init__(self, source: str, folder: pathlib.Path):
        self.source, self.folder = source, folder
        self.modules: dict[tuple[int | None, tuple[str, ...]], c_void_p] = {}
        self.came_from = ""  # where the last function was found: "compiled", "disk" or "memory"

    def launch(self, name: str, options: tuple[str, ...], *tensors: torch.Tensor) -> None:
        """Launches on the tensors' device, in PyTorch's current stream there. The source and the options determine the types."""
        require_same(name, *tensors)
        device, count = tensors[0].device, tensors[0].numel()
        if count == 0:
            return  # a grid without blocks would be an error
        number = device.index or 0
        with contextlib.ExitStack() as until_done:
            until_done.enter_context(current(primary(number)))
            function = self.function(name, (f"--gpu-architecture={architecture(number)}", *options), primary(number))
            if device.type == "cuda":
                stream = torch.cuda.current_stream(device).cuda_stream
                places = list(tensors)
            else:
                stream = 0
                places = [until_done.enter_context(Copy(tensor)) for tensor in tensors]

            values = [c_void_p(place.data_ptr()) for place in places] + [c_uint(count)]
            arguments = (c_void_p * len(values))(*(ctypes.addressof(value) for value in values))
            blocks = (count + THREADS - 1) // THREADS
            cu.cuLaunchKernel(function, blocks, 1, 1, THREADS, 1, 1, 0, c_void_p(stream), arguments, None)

    def function(self, name: str, options: tuple[str, ...], context: c_void_p) -> c_void_p:
        """A module, with its functions, belongs to the context into which it was loaded."""
        self.came_from = "memory"
        key = (context.value, options)
        if key not in self.modules:
            module = c_void_p()
            cu.cuModuleLoadData(byref(module), self.image(options))
            self.modules[key] = module
        function = c_void_p()
        cu.cuModuleGetFunction(byref(function), self.modules[key], name.encode())
        return function

    def image(self, options: tuple[str, ...]) -> bytes:
        """PTX does not depend on a context or a process, so it is cached in a file. The name is a hash of everything that it depends on."""
        self.came_from = "disk"
        depends_on = "\0".join([self.source, *options, compiler_version()])
        file = self.folder / (hashlib.sha256(depends_on.encode()).hexdigest() + ".ptx")
        if not file.exists():
            self.came_from = "compiled"
            ptx = compiled(self.source, options)
            # Written under a unique name and then renamed, so that no other thread or process reads an incomplete file.
            with tempfile.NamedTemporaryFile(dir=self.folder, delete=False) as own:
                own.write(ptx)
            os.replace(own.name, file)
        return file.read_bytes()


def require_same(name: str, *tensors: torch.Tensor) -> None:
    """A kernel gets addresses and one number of elements. It cannot check anything, and would read and write out of bounds."""
    first = tensors[0]
    if first.numel() >= 1 << 32:
        raise ValueError(f"{name}: {first.numel()} elements are too many for a 32-bit number.")
    if first.device.type not in ("cpu", "cuda"):
        raise ValueError(f"{name}: tensor 0 is on {first.device}, but the kernels run only on cpu and cuda.")
    for number, tensor in enumerate(tensors):
        if tensor.device != first.device:
            raise ValueError(f"{name}: tensor {number} is on {tensor.device}, but tensor 0 is on {first.device}.")
        if tensor.numel() != first.numel():
            raise ValueError(f"{name}: tensor {number} has {tensor.numel()} elements, but tensor 0 has {first.numel()}.")
        if not tensor.is_contiguous():
            raise ValueError(f"{name}: tensor {number} is not contiguous.")
