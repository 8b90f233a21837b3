// The page through which other processes lock and checkpoint this one (CUDA Driver API manual, "CUDA Checkpointing").
// They find it among the process's descriptors. While the process is locked, its calls wait. Every call is counted, so
// counting is cheap: threads share a counter only if there are many.
#pragma once
#include "common/simulator/types.hpp"

#include <array>
#include <atomic>
#include <memory>

namespace cudasim {

// One of the places where calls that are being made are counted, each in a cache line of its own.
struct alignas(64) Seat {
  std::atomic<u32> calls;
};

struct ProcessPage {
  u64 magic;
  i32 process;
  std::atomic<u32> state;  // CUprocessState
  std::atomic<u32> work;   // tasks that have not ended
  std::atomic<u32> fault;  // CUresult of the first fault, after which the process cannot be locked
  std::atomic<u32> opened;  // pieces of other processes' memory, with which the process cannot be restored
  std::array<Seat, 16> seats;

  u32 calls() const;  // that are being made
};

// What a call does while its process is locked. Calls that describe only the library, and those that lock and unlock,
// go on.
enum class WhenLocked { waits, goes_on };

// cuInit's part: without a page the process cannot be locked, but everything else works.
void make_process_page();
// In a child made by fork: the page is its parent's.
void forget_process_page();

// Another process's, or one's own. Throws CUDA_ERROR_OPERATING_SYSTEM if there is no such process,
// CUDA_ERROR_NOT_INITIALIZED if it has not called cuInit.
std::shared_ptr<ProcessPage> process_page(i32 process);

// Counts a call, and waits while the process is locked.
class Passage {
 public:
  explicit Passage(WhenLocked when_locked);
  ~Passage();
  Passage(const Passage&) = delete;
  Passage& operator=(const Passage&) = delete;

 private:
  Seat* seat_ = nullptr;  // that counts it
};

// True on a thread that runs a host function or a stream callback: calls that touch a context are not permitted there,
// and the others go on in a locked process.
bool in_callback();
void set_in_callback(bool is_one);

// A task has been entered, or has ended.
void count_work(int change);
void note_fault(u32 code);
// Memory of another process has been opened (cuIpcOpenMemHandle), or closed.
void count_opened(int change);

}  // namespace cudasim
