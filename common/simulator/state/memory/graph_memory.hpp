// The memory of allocation nodes. Its addresses are chosen when a node is made; there is memory behind them from the
// node's turn in a launch until it is freed, by a node or by a call.
#pragma once
#include "common/simulator/state/devices/device.hpp"

#include <memory>
#include <vector>

namespace cudasim {

u64 reserve_graph_memory(u64 bytes);
// True anywhere inside such memory, whether it is allocated at present or not.
bool is_graph_memory(u64 address);

// As the program sees it, in the order of its calls: from the launch on it is allocated, from the call that frees it,
// or launches a node that does, it is not. What the device does follows later.
bool graph_memory_allocated(u64 base);
void set_graph_memory_allocated(u64 base, bool allocated);

GraphMemoryUse graph_memory_use(Device& device);
void reset_graph_memory_high(Device& device, bool of_reserved);

// The physical memory that a driver keeps for an executable graph from its first launch on, in units of 32 MiB, until
// cuDeviceGraphMemTrim finds nothing of it allocated, or the graph ends. Here it is only counted.
class GraphMemoryHold {
 public:
  GraphMemoryHold(Device& device, std::vector<u64> addresses, u64 bytes);
  ~GraphMemoryHold() { drop(); }
  GraphMemoryHold(const GraphMemoryHold&) = delete;
  GraphMemoryHold& operator=(const GraphMemoryHold&) = delete;
  void take();  // at each launch; counts once
  void drop();
  bool idle() const;

 private:
  Device& device_;
  const std::vector<u64> addresses_;
  const u64 bytes_;
  bool taken_ = false;
};
// Makes one that cuDeviceGraphMemTrim knows of.
std::shared_ptr<GraphMemoryHold> hold_graph_memory(Device& device, std::vector<u64> addresses, u64 bytes);
void trim_graph_memory(Device& device);

}  // namespace cudasim
