# cuda.core: CUDA C++ in a string, compiled by NVRTC.
import toolkit  # isort: skip

import numpy as np
from cuda.core import Device, LaunchConfig, Program, ProgramOptions, launch

SOURCE = """
extern "C" __global__ void forward(const float* x, const float* b, float* y, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) y[i] = x[i] * x[i] + b[i];
}
"""


def run(x, b):
    device = Device()
    device.set_current()
    stream = device.create_stream()
    options = ProgramOptions(arch=f"compute_{device.arch}")
    kernel = Program(SOURCE, code_type="c++", options=options).compile("ptx").get_kernel("forward")

    pinned = toolkit.pinned(x.nbytes, stream)
    places = [device.memory_resource.allocate(x.nbytes, stream=stream) for _ in range(3)]
    for place, values in zip(places, (x, b)):
        np.from_dlpack(pinned).view(x.dtype)[:] = values
        place.copy_from(pinned, stream=stream)
        stream.sync()
    launch(stream, LaunchConfig(grid=(x.size + 255) // 256, block=256), kernel, *places, np.int32(x.size))
    places[2].copy_to(pinned, stream=stream)
    stream.sync()
    return np.from_dlpack(pinned).view(x.dtype).copy()
