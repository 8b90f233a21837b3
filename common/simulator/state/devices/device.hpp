// The simulated devices: what each one is and owns. They exist from cuInit to the end of the process.
#pragma once
#include "common/simulator/hardware.hpp"
#include "common/simulator/state/errors/failure.hpp"
#include "common/simulator/types.hpp"

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace cudasim {

class Context;
class GraphMemoryHold;

// What CUgraphMem_attribute counts, in bytes.
struct GraphMemoryUse {
  u64 used = 0, used_high = 0, reserved = 0, reserved_high = 0;
};

struct Device {
  CUdevice ordinal = 0;  // as this process counts, after CUDA_VISIBLE_DEVICES
  u32 index = 0;         // as the simulated machine counts
  u64 memory = 0;        // bytes
  CUuuid uuid{};
  std::string bus_id;               // "0000:00:06.0"
  std::atomic<u64> memory_used{0};  // bytes

  // The memory of graphs that have been launched (graph_memory.hpp).
  struct GraphMemory {
    std::recursive_mutex mutex;  // a hold may end while holds are trimmed
    GraphMemoryUse use;
    std::vector<std::weak_ptr<GraphMemoryHold>> holds;
  } graph_memory;

  // The first fault of a kernel on it. Every call in its contexts fails with that from then on, new ones are refused,
  // and nothing but the end of the process heals it (seen with driver 580; manual, CUDA_ERROR_ILLEGAL_ADDRESS).
  std::atomic<CUresult> fault{CUDA_SUCCESS};

  // The primary context: made by the first retain, gone with the last release, its handle always the same.
  struct Primary {
    std::mutex mutex;
    u32 retained = 0;
    u32 flags = 0;
    CUcontext handle = nullptr;  // null until first retained
  } primary;
};

constexpr u32 kFirstPciDevice = 6;  // number on the PCI bus of the first simulated device
constexpr const char* kDeviceName = "Simulated H200";

// The value of an attribute by number; nothing if the driver does not know the number. attributes.cpp
std::optional<int> attribute_value(const Device& device, int attribute);

}  // namespace cudasim
