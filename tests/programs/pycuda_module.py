"""PyCUDA's driver interface with a module of PTX: launches of each kind, constants, streams, events, pinned and managed memory, pools, linking."""

import numpy as np
import pycuda.driver as driver
import pycuda.tools

PTX = b"""
.version 7.0
.target sm_70
.address_size 64
.visible .const .align 4 .f32 factor;
.visible .entry scale(.param .u64 values, .param .u32 count) {
  .reg .u64 %at, %offset;
  .reg .u32 %i, %count, %block, %threads;
  .reg .f32 %value, %factor;
  .reg .pred %outside;
  ld.param.u64 %at, [values];
  ld.param.u32 %count, [count];
  mov.u32 %i, %tid.x;
  mov.u32 %block, %ctaid.x;
  mov.u32 %threads, %ntid.x;
  mad.lo.u32 %i, %block, %threads, %i;
  setp.ge.u32 %outside, %i, %count;
  @%outside ret;
  mul.wide.u32 %offset, %i, 4;
  add.u64 %at, %at, %offset;
  ld.global.f32 %value, [%at];
  ld.const.f32 %factor, [factor];
  mul.f32 %value, %value, %factor;
  st.global.f32 [%at], %value;
  ret;
}
"""

driver.init()
device = driver.Device(0)
assert device.compute_capability() >= (7, 0) and len(device.get_attributes()) > 80 and device.pci_bus_id()
context = device.make_context()
try:
    n = 400
    shape = {"block": (128, 1, 1), "grid": (4, 1)}
    module = driver.module_from_buffer(PTX)
    scale = module.get_function("scale")
    factor, size = module.get_global("factor")
    assert size == 4
    driver.memcpy_htod(factor, np.float32(2))
    a = np.random.randn(n).astype(np.float32)
    back = np.empty_like(a)
    there = driver.mem_alloc(a.nbytes)
    driver.memcpy_htod(there, a)
    scale(there, np.int32(n), **shape)
    driver.memcpy_dtoh(back, there)
    assert (back == 2 * a).all()
    scale.prepare("Pi")
    scale.prepared_call((4, 1), (128, 1, 1), there, n)
    driver.memcpy_dtoh(back, there)
    assert (back == 4 * a).all()
    both = a.copy()
    scale(driver.InOut(both), np.int32(n), **shape)
    assert (both == 2 * a).all()

    stream, begin, end = driver.Stream(), driver.Event(), driver.Event()
    pinned = driver.pagelocked_empty(n, np.float32)
    pinned[:] = 1
    begin.record(stream)
    driver.memcpy_htod_async(there, pinned, stream)
    scale.prepared_async_call((4, 1), (128, 1, 1), stream, there, n)
    driver.memcpy_dtoh_async(pinned, there, stream)
    end.record(stream)
    end.synchronize()
    assert (pinned == 2).all() and end.time_since(begin) > 0
    assert scale.prepared_timed_call((4, 1), (128, 1, 1), there, n)() >= 0
    assert scale.num_regs > 0 and scale.max_threads_per_block == 1024

    managed = driver.managed_zeros(10, np.float32, mem_flags=driver.mem_attach_flags.GLOBAL)
    managed[:] = 5
    scale(managed, np.int32(10), block=(32, 1, 1), grid=(1, 1))
    context.synchronize()
    assert (managed == 10).all()

    pool = pycuda.tools.DeviceMemoryPool()
    pool.allocate(1000).free()
    pool.stop_holding()
    rows, pitch = driver.mem_alloc_pitch(100, 10, 4)
    copy = driver.Memcpy2D()
    copy.set_src_host(np.ones((10, 25), np.float32))
    copy.set_dst_device(rows)
    copy.width_in_bytes = copy.src_pitch = 100
    copy.dst_pitch, copy.height = pitch, 10
    copy(aligned=False)
    driver.matrix_to_array(np.random.randn(16, 16).astype(np.float32), "C")

    linker = driver.Linker()
    linker.add_data(PTX, driver.jit_input_type.PTX, "scale")
    linker.link_module().get_function("scale")
finally:
    context.pop()
print("PyCUDA: all as expected")
