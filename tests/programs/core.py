"""cuda-core: templates compiled by NVRTC, memory resources, events with timing, graphs that are built by capture, one with a loop; graphs built node by node, batches, a checkpoint, parts of a device."""

import numpy as np
import cuda.core
from cuda.core import Device, LaunchConfig, Program, ProgramOptions, launch

SOURCE = """
template <typename T> __global__ void add(const T* a, const T* b, T* c, size_t n) {
  for (size_t i = threadIdx.x + blockIdx.x * (size_t)blockDim.x; i < n; i += gridDim.x * (size_t)blockDim.x) c[i] = a[i] + b[i];
}
"""

device = Device()
device.set_current()
stream = device.create_stream()
program = Program(SOURCE, code_type="c++", options=ProgramOptions(std="c++17", arch="compute_90"))
names = ("add<float>", "add<double>")
code = program.compile("ptx", name_expressions=names)
n = 5000
for name, kind in zip(names, (np.float32, np.float64)):
    kernel = code.get_kernel(name)
    assert kernel.occupancy.max_active_blocks_per_multiprocessor(256, 0) > 0
    size = n * np.dtype(kind).itemsize
    buffers = [device.memory_resource.allocate(size, stream=stream) for _ in range(3)]
    pinned = cuda.core.LegacyPinnedMemoryResource().allocate(size, stream=stream)
    host = np.from_dlpack(pinned).view(kind)
    host[:] = np.arange(n)
    for buffer in buffers[:2]:
        buffer.copy_from(pinned, stream=stream)
    timed = cuda.core.EventOptions(timing_enabled=True) if hasattr(cuda.core.EventOptions, "timing_enabled") else cuda.core.EventOptions(enable_timing=True)
    begin = stream.record(options=timed)
    config = LaunchConfig(grid=20, block=256)
    launch(stream, config, kernel, buffers[0], buffers[1], buffers[2], np.uint64(n))
    end = stream.record(options=timed)
    buffers[2].copy_to(pinned, stream=stream)
    stream.sync()
    assert (host == 2 * np.arange(n)).all()
    assert end - begin > 0

    builder = device.create_graph_builder().begin_building()
    for _ in range(2):
        launch(builder, config, kernel, buffers[0], buffers[2], buffers[2], np.uint64(n))
    graph = builder.end_building().complete()
    graph.upload(stream)
    graph.launch(stream)
    buffers[2].copy_to(pinned, stream=stream)
    stream.sync()
    assert (host == 4 * np.arange(n)).all()
    for buffer in buffers:
        buffer.close(stream)
stream.sync()

# A graph with a loop that one of its kernels ends.
LOOP = """
extern "C" __device__ __cudart_builtin__ void CUDARTAPI cudaGraphSetConditional(cudaGraphConditionalHandle, unsigned int);
extern "C" __global__ void add_one(int* a) { *a += 1; }
extern "C" __global__ void again(cudaGraphConditionalHandle handle, int* a, int limit) { cudaGraphSetConditional(handle, *a < limit); }
"""
code = Program(LOOP, code_type="c++", options=ProgramOptions(std="c++17", arch="compute_90")).compile("ptx")
buffer = cuda.core.LegacyPinnedMemoryResource().allocate(4, stream=stream)
count = np.from_dlpack(buffer).view(np.int32)
count[0] = 0
one = LaunchConfig(grid=1, block=1)
builder = device.create_graph_builder().begin_building()
make_condition = builder.create_condition if hasattr(builder, "create_condition") else builder.create_conditional_handle
condition = make_condition(default_value=1)
loop = builder.while_loop(condition).begin_building()
launch(loop, one, code.get_kernel("add_one"), buffer)
launch(loop, one, code.get_kernel("again"), condition, buffer, np.int32(7))
loop.end_building()
builder.end_building().complete().launch(stream)
stream.sync()
assert count[0] == 7, count

# A graph node by node, copies in a batch, branches that join again, a checkpoint: what the newer ones have.
if hasattr(cuda.core, "graph"):
    import os
    from cuda.core import checkpoint, graph, utils

    inc = (
        Program('extern "C" __global__ void inc(int* p) { p[threadIdx.x] += 1; }', code_type="c++", options=ProgramOptions(std="c++17", arch="compute_90"))
        .compile("ptx")
        .get_kernel("inc")
    )
    row = LaunchConfig(grid=1, block=32)
    device_memory = cuda.core.DeviceMemoryResource(device)
    first, second = (device_memory.allocate(128, stream=stream) for _ in range(2))
    pinned = cuda.core.LegacyPinnedMemoryResource().allocate(128, stream=stream)
    seen = np.from_dlpack(pinned).view(np.int32)
    called = []
    definition = graph.GraphDefinition()
    last = definition.memset(first, 0, 128).launch(row, inc, first).launch(row, inc, first).memcpy(pinned, first, 128)
    last.callback(lambda: called.append(1))
    executable = definition.instantiate()
    executable.upload(stream)
    for _ in range(2):
        executable.launch(stream)
    executable.update(definition)
    stream.sync()
    assert (seen == 2).all() and called == [1, 1], (seen, called)
    assert len(definition.nodes()) == 5 and len(definition.edges()) == 4
    scratch = graph.GraphDefinition()
    node = scratch.allocate(256)
    node.memset(node.dptr, 5, 256).memcpy(pinned, node.dptr, 128).deallocate(node.dptr)
    scratch.instantiate().launch(stream)
    stream.sync()
    assert (np.from_dlpack(pinned).view(np.uint8) == 5).all()
    seen[:] = np.arange(32)
    utils.copy_batch(stream, [pinned], [first])
    utils.copy_batch(stream, [first], [second])
    left, right = device.create_graph_builder().begin_building().split(2)
    launch(left, row, inc, first)
    launch(right, row, inc, second)
    joined = graph.GraphBuilder.join(left, right)
    for _ in range(2):
        launch(joined, LaunchConfig(grid=1, block=32, programmatic_stream_serialization=True), inc, first)
    joined.end_building().complete().launch(stream)
    utils.copy_batch(stream, [first], [pinned])
    stream.sync()
    assert (seen == np.arange(32) + 3).all(), seen
    managed = cuda.core.ManagedMemoryResource().allocate(1 << 20, stream=stream)
    managed.read_mostly, managed.preferred_location = True, device
    managed.accessed_by.add(device)
    managed.prefetch(device, stream=stream)
    stream.sync()
    assert managed.read_mostly and device in managed.accessed_by
    managed.discard_prefetch(cuda.core.Host(), stream=stream)
    process = checkpoint.Process(os.getpid())
    states = [process.state]
    for step in (process.lock, process.checkpoint, process.restore, process.unlock):
        step()
        states.append(process.state)
    assert states == ["running", "locked", "checkpointed", "locked", "running"], states
    groups, rest = device.resources.sm.split(cuda.core.SMResourceOptions(count=16))
    assert groups[0].sm_count == 16 and rest.sm_count == device.resources.sm.sm_count - 16
print("cuda-core: all as expected")
