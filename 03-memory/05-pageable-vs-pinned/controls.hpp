// The control runs of this lesson: make 03-memory/05-pageable-vs-pinned ARGS=--controls
// They show what small copies wait for, and what limits large copies from pageable memory.
#pragma once
#include "common/cu.hpp"
#include "common/measure.hpp"

#include <cstring>
#include <vector>

namespace controls {

using Clock = std::chrono::steady_clock;

inline double microseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

// Where the time of a small copy to the device goes: into the call, into the call and the wait, and on the device.
struct SmallCopy {
  double call, complete, device;  // µs
};

inline SmallCopy time_small_copy(CUdeviceptr device, const void* host, std::size_t bytes, const cu::Memory& work) {
  const double call = cu::median([&] {
    const auto start = Clock::now();
    CU_THROW(cuMemcpyHtoD(device, host, bytes));
    const double time = microseconds_since(start);
    CU_THROW(cuCtxSynchronize());
    return time;
  }, 201);
  const double complete = 1e6 * cu::median_seconds([&] {
    CU_THROW(cuMemcpyHtoD(device, host, bytes));
    CU_THROW(cuCtxSynchronize());
  }, 201);
  // A long memset comes first, so that the events and the copy are already in the stream when the device gets to them.
  const cu::Stream stream;
  const cu::Event start, end;
  const double on_device = cu::median([&] {
    CU_THROW(cuMemsetD8Async(work.address, 1, std::size_t{256} << 20, stream.handle));
    CU_THROW(cuEventRecord(start.handle, stream.handle));
    CU_THROW(cuMemcpyHtoDAsync(device, host, bytes, stream.handle));
    CU_THROW(cuEventRecord(end.handle, stream.handle));
    CU_THROW(cuEventSynchronize(end.handle));
    float milliseconds;
    CU_THROW(cuEventElapsedTime(&milliseconds, start.handle, end.handle));
    return 1e3 * milliseconds;
  }, 21);
  return {call, complete, on_device};
}

inline int run() {
  constexpr std::size_t kBytes = std::size_t{256} << 20;
  cu::Context context;
  cu::print_device(context.device);
  const cu::Memory device(kBytes), work(kBytes);
  const std::vector<char> pageable(kBytes, 'x');
  const cu::Pinned pinned(1 << 20);
  std::memset(pinned.address, 'x', 1 << 20);

  std::printf("\nhost to device, µs  | pageable: call | with wait | on the device | pinned: call | with wait | on the device\n");
  for (const std::size_t kib : {4, 8, 16, 24, 28, 32, 64, 128}) {
    const SmallCopy from_pageable = time_small_copy(device.address, pageable.data(), kib << 10, work);
    const SmallCopy from_pinned = time_small_copy(device.address, pinned.address, kib << 10, work);
    std::printf("%15zu KiB | %14.1f | %9.1f | %13.1f | %12.1f | %9.1f | %13.1f\n", kib, from_pageable.call,
                from_pageable.complete, from_pageable.device, from_pinned.call, from_pinned.complete,
                from_pinned.device);
  }

  std::printf("\npageable copies of 1 MiB, GB/s     | to the device | from the device\n");
  for (const std::size_t range : {std::size_t{1} << 20, std::size_t{16} << 20, kBytes}) {
    std::size_t at = 0;
    const auto next = [&] { at = (at + (1 << 20)) % range; };
    const double in = cu::median_seconds([&] {
      CU_THROW(cuMemcpyHtoD(device.address, pageable.data() + at, 1 << 20));
      CU_THROW(cuCtxSynchronize());
      next();
    }, 512);
    std::vector<char> target(range);
    at = 0;
    const double out = cu::median_seconds([&] {
      CU_THROW(cuMemcpyDtoH(target.data() + at, device.address, 1 << 20));
      next();
    }, 512);
    std::printf("from and to a range of %4zu MiB    | %13.1f | %15.1f\n", range >> 20, (1 << 20) / in / 1e9,
                (1 << 20) / out / 1e9);
  }
  return 0;
}

}  // namespace controls
