// Runs a function on another thread, in the caller's context.
#include "common/cu.hpp"

#include <functional>
#include <thread>

// Runs work() on a new thread and waits for it. The caller's current context is current there, too. If work() throws,
// the same exception is thrown to the caller. If the caller has no current context, throws cu::Error (CU_THROW) and
// does not run work(). The caller's context stack does not change.
void in_worker(const std::function<void()>& work) {
  // Your code here.
  std::thread(work).join();
}
