// Rejected with: "the exception keeps its type and its contents"
// Passes on only the message. The caller can no longer examine the error code.
#include "common/cu.hpp"

#include <functional>
#include <thread>

void in_worker(const std::function<void()>& work) {
  CUcontext callers;
  CU_THROW(cuCtxGetCurrent(&callers));
  if (callers == nullptr) CU_THROW(CUDA_ERROR_INVALID_CONTEXT);
  bool failed = false;
  std::string words;
  std::thread([&] {
    try {
      CU_THROW(cuCtxSetCurrent(callers));
      work();
    } catch (const std::exception& error) {
      failed = true;
      words = error.what();
    } catch (...) {
      failed = true;
    }
  }).join();
  if (failed) throw std::runtime_error(words);
}
