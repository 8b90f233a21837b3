"""NVRTC to PTX, and NVIDIA's own bindings of the driver API: launches, streams, events, pools, graphs by hand and by capture."""

import ctypes
import sys

import numpy as np
from cuda.bindings import driver, nvrtc

SOURCE = b"""
template <class T> __device__ T twice(T x) { return x + x; }
extern "C" __global__ void saxpy(float a, const float* x, const float* y, float* out, size_t n) {
  const size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
  if (i < n) out[i] = a * x[i] + y[i];
}
extern "C" __global__ void double_all(float* x, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) x[i] = twice(x[i]);
}
__constant__ float factor = 3.0f;
extern "C" __global__ void scale(float* x, int n) {
  extern __shared__ float block[];
  const int i = threadIdx.x;
  if (i < n) block[i] = x[i] * factor;
  __syncthreads();
  if (i < n) x[i] = block[n - 1 - i];
}
"""


def ask(answer):
    code, *values = answer
    if int(code) != 0:
        raise RuntimeError(str(code))
    return values[0] if len(values) == 1 else tuple(values)


def compile_ptx(source):
    program = ask(nvrtc.nvrtcCreateProgram(source, b"kernels.cu", 0, [], []))
    options = [b"--gpu-architecture=compute_90", b"-lineinfo", b"-std=c++17"]
    (code,) = nvrtc.nvrtcCompileProgram(program, len(options), options)
    if int(code) != 0:
        log = b" " * ask(nvrtc.nvrtcGetProgramLogSize(program))
        nvrtc.nvrtcGetProgramLog(program, log)
        sys.exit(log.decode())
    text = b" " * ask(nvrtc.nvrtcGetPTXSize(program))
    ask(nvrtc.nvrtcGetPTX(program, text))
    return text


ask(driver.cuInit(0))
device = ask(driver.cuDeviceGet(0))
context = ask(driver.cuDevicePrimaryCtxRetain(device))
ask(driver.cuCtxSetCurrent(context))
module = ask(driver.cuModuleLoadData(compile_ptx(SOURCE)))
saxpy, double_all, scale = (ask(driver.cuModuleGetFunction(module, name)) for name in (b"saxpy", b"double_all", b"scale"))
stream = ask(driver.cuStreamCreate(driver.CUstream_flags.CU_STREAM_NON_BLOCKING))

n = 10_000
x = np.random.rand(n).astype(np.float32)
y = np.random.rand(n).astype(np.float32)
out = np.zeros_like(x)
dx, dy, dout = (ask(driver.cuMemAllocAsync(x.nbytes, stream)) for _ in range(3))
begin, end = (ask(driver.cuEventCreate(0)) for _ in range(2))
arguments = ((2.0, dx, dy, dout, n), (ctypes.c_float, None, None, None, ctypes.c_size_t))


def launch_saxpy():
    ask(driver.cuLaunchKernel(saxpy, (n + 255) // 256, 1, 1, 256, 1, 1, 0, stream, arguments, 0))


ask(driver.cuMemcpyHtoDAsync(dx, x.ctypes.data, x.nbytes, stream))
ask(driver.cuMemcpyHtoDAsync(dy, y.ctypes.data, y.nbytes, stream))
ask(driver.cuEventRecord(begin, stream))
launch_saxpy()
ask(driver.cuEventRecord(end, stream))
ask(driver.cuMemcpyDtoHAsync(out.ctypes.data, dout, out.nbytes, stream))
ask(driver.cuStreamSynchronize(stream))
assert np.allclose(out, 2 * x + y)
assert ask(driver.cuEventElapsedTime(begin, end)) > 0

# The same as a graph: captured, launched twice, then with another kernel's node behind it.
ask(driver.cuStreamBeginCapture(stream, driver.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_GLOBAL))
launch_saxpy()
ask(driver.cuLaunchKernel(double_all, 1, 1, 1, 128, 1, 1, 0, stream, ((dout, n), (None, ctypes.c_int)), 0))
graph = ask(driver.cuStreamEndCapture(stream))
nodes, count = ask(driver.cuGraphGetNodes(graph))
assert count == 2, count
nodes, count = ask(driver.cuGraphGetNodes(graph, count))
parameters = ask(driver.cuGraphKernelNodeGetParams(nodes[1]))
assert parameters.blockDimX == 128
executable = ask(driver.cuGraphInstantiate(graph, 0))
for _ in range(2):
    ask(driver.cuGraphLaunch(executable, stream))
ask(driver.cuMemcpyDtoHAsync(out.ctypes.data, dout, out.nbytes, stream))
ask(driver.cuStreamSynchronize(stream))
assert np.allclose(out, 2 * (2 * x + y))
ask(driver.cuGraphExecDestroy(executable))
ask(driver.cuGraphDestroy(graph))

# A constant by name, dynamic shared memory, pinned memory.
address, size = ask(driver.cuModuleGetGlobal(module, b"factor"))
assert size == 4
pinned = ask(driver.cuMemHostAlloc(400, 0))
view = np.ctypeslib.as_array(ctypes.cast(int(pinned), ctypes.POINTER(ctypes.c_float)), (100,))
view[:] = np.arange(100)
ask(driver.cuMemcpyHtoD(dx, int(pinned), 400))
ask(driver.cuLaunchKernel(scale, 1, 1, 1, 128, 1, 1, 512, 0, ((dx, 100), (None, ctypes.c_int)), 0))
ask(driver.cuMemcpyDtoH(int(pinned), dx, 400))
assert (view == 3 * np.arange(100)[::-1]).all()
ask(driver.cuMemFreeHost(int(pinned)))

assert ask(driver.cuFuncGetAttribute(driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, saxpy)) == 1024
grid, block = ask(driver.cuOccupancyMaxPotentialBlockSize(saxpy, None, 0, 0))
assert block % 32 == 0 and grid > 0
for pointer in (dx, dy, dout):
    ask(driver.cuMemFreeAsync(pointer, stream))
ask(driver.cuStreamDestroy(stream))
ask(driver.cuModuleUnload(module))
ask(driver.cuDevicePrimaryCtxRelease(device))
print("cuda-bindings: all as expected")
