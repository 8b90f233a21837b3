"""Slang (slangpy): shaders compiled to CUDA C++ and by NVRTC to PTX, run by its graphics library over the driver. A kernel over buffers."""

import sys

import numpy as np
import slangpy

try:
    device = slangpy.Device(type=slangpy.DeviceType.cuda, enable_debug_layers=False)
except RuntimeError as error:  # it wants NVRTC on the library path
    sys.exit(f"Slang has no CUDA device here: {error}")
module = device.load_module_from_source(
    "waves",
    """
[shader("compute")]
[numthreads(32, 1, 1)]
void waves(uint3 thread: SV_DispatchThreadID, uniform StructuredBuffer<float> a, uniform RWStructuredBuffer<float> b)
{
    b[thread.x] = sin(a[thread.x]) * 2 + thread.x;
}
""",
)
kernel = device.create_compute_kernel(device.link_program([module], [module.entry_point("waves")]))
at = np.arange(128, dtype=np.float32)
a = device.create_buffer(element_count=128, struct_size=4, usage=slangpy.BufferUsage.shader_resource, data=at)
b = device.create_buffer(element_count=128, struct_size=4, usage=slangpy.BufferUsage.unordered_access)
kernel.dispatch([128, 1, 1], a=a, b=b)
assert np.allclose(b.to_numpy().view(np.float32), 2 * np.sin(at) + at, atol=1e-4)
print("all as expected")
