// The control runs of this lesson: make 03-memory/04-pageable-vs-pinned ARGS=--controls
// They show which path small copies take, where their time goes, and what limits large copies of pageable memory.
#pragma once
#include "common/cu.hpp"
#include "common/measure.hpp"

#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

namespace controls {

using Clock = std::chrono::steady_clock;

inline double microseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

// How long a small copy takes in its own stream while a copy engine is busy with `busy`, in µs.
inline double time_beside_large_copy(const cu::Memory& device, const cu::Pinned& busy, std::size_t busy_bytes,
                                     CUdeviceptr target, const void* host, std::size_t bytes) {
  const cu::Stream large, small;
  return cu::median([&] {
    CU_THROW(cuMemcpyHtoDAsync(device.address, busy.address, busy_bytes, large.handle));
    const auto start = Clock::now();
    CU_THROW(cuMemcpyHtoDAsync(target, host, bytes, small.handle));
    CU_THROW(cuStreamSynchronize(small.handle));
    const double time = microseconds_since(start);
    CU_THROW(cuStreamSynchronize(large.handle));
    return time;
  });
}

// The time of a copy to the device in µs: the call alone, and the call with the wait.
struct SmallCopy {
  double call, complete;
};

inline SmallCopy time_small_copy(CUdeviceptr device, const void* host, std::size_t bytes) {
  const double call = cu::median(
      [&] {
        const auto start = Clock::now();
        CU_THROW(cuMemcpyHtoD(device, host, bytes));
        const double time = microseconds_since(start);
        CU_THROW(cuCtxSynchronize());
        return time;
      },
      201);
  const auto copy_and_wait = [&] {
    CU_THROW(cuMemcpyHtoD(device, host, bytes));
    CU_THROW(cuCtxSynchronize());
  };
  return {call, 1e6 * cu::median_seconds(copy_and_wait, 201)};
}

// Bandwidths of pageable copies of 1 MiB in GB/s, each from or to the next part of an array of `range` bytes.
struct RangeCopies {
  double to_device, from_device;
};

inline RangeCopies time_copies_in_range(CUdeviceptr device, std::vector<char>& array, std::size_t range) {
  constexpr std::size_t kPiece = 1 << 20;
  std::size_t at = 0;
  const double in = cu::median_seconds(
      [&] {
        CU_THROW(cuMemcpyHtoD(device, array.data() + at, kPiece));
        CU_THROW(cuCtxSynchronize());
        at = (at + kPiece) % range;
      },
      512);
  const double out = cu::median_seconds(
      [&] {
        CU_THROW(cuMemcpyDtoH(array.data() + at, device, kPiece));
        at = (at + kPiece) % range;
      },
      512);
  return {kPiece / in / 1e9, kPiece / out / 1e9};
}

// How long it takes to allocate host memory, in ms: pinned, and with malloc and a first write to every page.
struct Allocation {
  double pinned, pageable;
};

inline Allocation time_allocation(std::size_t bytes) {
  const double pinned = cu::median([&] {
    const auto start = Clock::now();
    const cu::Pinned memory(bytes);
    return microseconds_since(start) / 1e3;
  });
  const double pageable = cu::median([&] {
    const auto start = Clock::now();
    const std::unique_ptr<char, void (*)(void*)> memory(static_cast<char*>(std::malloc(bytes)), std::free);
    for (std::size_t page = 0; page < bytes; page += 4096) memory.get()[page] = 1;
    return microseconds_since(start) / 1e3;
  });
  return {pinned, pageable};
}

#if CUDA_VERSION >= 13000  // the function is older, but has had another form before
// Sends the pinned bytes in pieces of 4 KiB with one call, in seconds.
inline double time_batch(const cu::Memory& device, const cu::Pinned& pinned, std::size_t bytes) {
  constexpr std::size_t kPiece = 4 << 10;
  std::vector<CUdeviceptr> from, to;
  for (std::size_t at = 0; at < bytes; at += kPiece) {
    from.push_back(reinterpret_cast<CUdeviceptr>(pinned.as<char>() + at));
    to.push_back(device.address + at);
  }
  std::vector<std::size_t> sizes(from.size(), kPiece);
  std::size_t first = 0;  // the attributes are those of all copies from this one on
  CUmemcpyAttributes attributes{};
  attributes.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
  const cu::Stream stream;
  return cu::median_seconds([&] {
    CU_THROW(
        cuMemcpyBatchAsync(to.data(), from.data(), sizes.data(), sizes.size(), &attributes, &first, 1, stream.handle));
    CU_THROW(cuStreamSynchronize(stream.handle));
  });
}
#endif

inline int run() {
  constexpr std::size_t kBytes = std::size_t{256} << 20;
  cu::Primary context;
  cu::print_device(context.device);
  const cu::Memory device(kBytes), target(1 << 20);
  std::vector<char> pageable(kBytes, 'x');
  const cu::Pinned busy(kBytes), pinned(1 << 20);
  std::memset(busy.address, 'x', kBytes);
  std::memset(pinned.address, 'x', 1 << 20);

  std::printf("\nbeside a copy of 256 MiB, µs | from pageable | from pinned\n");
  for (const std::size_t kib : {4, 16, 32, 64}) {
    const auto time = [&](const void* host) {
      return time_beside_large_copy(device, busy, kBytes, target.address, host, kib << 10);
    };
    std::printf("%24zu KiB | %13.1f | %11.1f\n", kib, time(pageable.data()), time(pinned.address));
  }

  std::printf("\nhost to device, µs | pageable: call | and wait | pinned: call | and wait\n");
  for (const std::size_t kib : {4, 8, 16, 24, 28, 32, 64, 128}) {
    const SmallCopy from_pageable = time_small_copy(target.address, pageable.data(), kib << 10);
    const SmallCopy from_pinned = time_small_copy(target.address, pinned.address, kib << 10);
    std::printf("%14zu KiB | %14.1f | %8.1f | %12.1f | %8.1f\n", kib, from_pageable.call, from_pageable.complete,
                from_pinned.call, from_pinned.complete);
  }

  std::printf("\npageable copies of 1 MiB, GB/s | to the device | from the device\n");
  for (const std::size_t mib : {1, 16, 256}) {
    const RangeCopies copies = time_copies_in_range(target.address, pageable, mib << 20);
    std::printf("in an array of %8zu MiB    | %13.1f | %15.1f\n", mib, copies.to_device, copies.from_device);
  }

#if CUDA_VERSION >= 13000
  const cu::Pinned many(4 << 20);
  std::memset(many.address, 'x', 4 << 20);
  std::printf("\n1024 copies of 4 KiB in one call of cuMemcpyBatchAsync: %.3f ms\n",
              1e3 * time_batch(device, many, 4 << 20));
#endif

  std::printf("\nallocate, ms | cuMemHostAlloc | malloc and write\n");
  for (const std::size_t kib : {64, 1024, 65536}) {
    const Allocation times = time_allocation(kib << 10);
    std::printf("%8zu KiB | %14.3f | %16.3f\n", kib, times.pinned, times.pageable);
  }
  return 0;
}

}  // namespace controls
