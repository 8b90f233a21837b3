// The process as others see it that lock and checkpoint it (CUDA Driver API manual, "CUDA Checkpointing"): a page that
// they find among its descriptors. While its process does not run, a call waits at the door.
#pragma once
#include "common/simulator/types.hpp"

#include <atomic>
#include <memory>

namespace cudasim {

struct ProcessPage {
  u64 magic;
  i32 process;
  std::atomic<u32> state;   // CUprocessState
  std::atomic<u32> inside;  // calls that are being made
  std::atomic<u32> work;    // tasks that have not ended
};

// cuInit's part: without a page nobody can lock the process, but nothing else is amiss.
void make_process_page();
// In a child made by fork: the page is its parent's.
void forget_process_page();

// Another process's, or one's own. Throws CUDA_ERROR_OPERATING_SYSTEM if there is no such process,
// CUDA_ERROR_NOT_INITIALIZED if it has not called cuInit.
std::shared_ptr<ProcessPage> process_page(i32 process);

// A call on its way through the door.
class Passage {
 public:
  explicit Passage(const char* function);
  ~Passage();
  Passage(const Passage&) = delete;
  Passage& operator=(const Passage&) = delete;

 private:
  ProcessPage* page_ = nullptr;  // that counts it
};

// A task has been entered, or has ended.
void count_work(int change);

}  // namespace cudasim
