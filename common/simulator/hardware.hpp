// The limits of an H200 (compute capability 9.0). Source: CUDA Programming Guide, "Compute Capabilities", and the
// attributes that an H200's driver reports (state/devices/attributes.cpp has all of them).
#pragma once
#include "common/simulator/types.hpp"

namespace cudasim {

constexpr u32 kMultiprocessors = 132;
constexpr u32 kMaxThreadsPerBlock = 1024;
constexpr u32 kMaxThreadsPerMultiprocessor = 2048;
constexpr u32 kMaxBlocksPerMultiprocessor = 32;
constexpr u32 kMaxWarpsPerMultiprocessor = kMaxThreadsPerMultiprocessor / kWarpSize;
constexpr u32 kRegistersPerMultiprocessor = 65536;
constexpr u32 kSharedPerMultiprocessor = 233472;
constexpr u32 kSharedPerBlock = 49152;
constexpr u32 kSharedPerBlockOptin = 232448;
constexpr u32 kSharedReserved = 1024;       // of each block, for the system
constexpr u64 kMostLocal = u64{512} << 10;  // bytes of local memory of a thread
// An H200 launches a kernel that needs 523,264 bytes of it, and refuses one of 524,264.
constexpr u64 kMostLaunchedLocal = kMostLocal - 1024;
constexpr u64 kDevicePage = u64{2} << 20;  // device memory is mapped in pages of this size
constexpr u64 kHostPage = 4096;
constexpr u32 kSharedMapped = 128;  // shared memory is mapped for a block in units of this size
constexpr Dim3 kMaxGrid{2147483647, 65535, 65535};
constexpr Dim3 kMaxBlock{1024, 1024, 64};
constexpr u32 kPortableCluster = 8, kLargestCluster = 16;  // blocks; the larger one if the function allows it

}  // namespace cudasim
