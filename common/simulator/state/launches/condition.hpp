// Conditions: numbers that a graph's kernels set (cudaGraphSetConditional) and its conditional nodes test.
#pragma once
#include "common/simulator/types.hpp"

#include <atomic>
#include <memory>

namespace cudasim {

// Lives as long as its graph or an executable made from that.
struct Condition {
  Condition(u32 initial, bool assigned);
  ~Condition();
  Condition(const Condition&) = delete;
  Condition& operator=(const Condition&) = delete;

  const u64 handle;
  const u32 initial;    // the value that it has when a launch begins,
  const bool assigned;  // if this is set; else what it had last, at first 0 (driver 580)
  std::atomic<u32> value;
  u32 graph = 0;      // Graph::id of the one that it was made for; under Graph::mutex(), as is
  bool used = false;  // a node goes by it; under Graph::mutex()
};

std::shared_ptr<Condition> make_condition(u32 initial, bool assigned);

// Null if the handle is not, or no longer, a condition's.
std::shared_ptr<Condition> find_condition(u64 handle);

// What a kernel calls; false if there is no such condition (any more).
bool set_condition(u64 handle, u32 value);

}  // namespace cudasim
