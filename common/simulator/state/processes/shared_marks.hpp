// The marks of an event that several processes share: each record gets the next number, and says when the device has
// come to it. (CU_EVENT_INTERPROCESS; manual, cuIpcGetEventHandle.)
#pragma once
#include "common/simulator/state/processes/shared_memory.hpp"

#include <functional>

namespace cudasim {

class SharedMarks {
 public:
  explicit SharedMarks(std::shared_ptr<SharedMemory> memory) : memory_(std::move(memory)) {}
  static std::shared_ptr<SharedMarks> make();

  const SharedMemory& memory() const { return *memory_; }

  u64 begin();  // the number of a new record: the latest one from now on
  void reach(u64 number);
  u64 latest() const;
  // True for 0, which stands for no record; for a process that ended before it came to its mark, too.
  bool reached(u64 number) const;
  // Sleeps until then, or until `give_up`, called now and then, returns true.
  void wait(u64 number, const std::function<bool()>& give_up) const;

 private:
  struct Page;
  Page& page() const;
  std::shared_ptr<SharedMemory> memory_;
};

}  // namespace cudasim
