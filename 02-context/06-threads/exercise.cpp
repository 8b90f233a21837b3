// Let another thread do some work in the caller's context.
#include "common/cu.hpp"

#include <functional>
#include <thread>

// Runs work() on a new thread, with the context that is current for the caller current there, too, and waits for it.
// What the work throws is thrown to the caller; so is cu::Error (CU_THROW) if the caller has no context to lend, and
// then the work is not done. The caller's stack stays as it is.
void in_worker(const std::function<void()>& work) {
  // Your code here.
  std::thread(work).join();
}
