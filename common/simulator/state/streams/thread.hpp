// What belongs to a host thread: its stack of contexts and its default streams.
#pragma once
#include "common/simulator/state/errors/failure.hpp"
#include "common/simulator/types.hpp"

#include <map>
#include <memory>
#include <vector>

namespace cudasim {

class Stream;

struct Thread {
  ~Thread();

  std::vector<CUcontext> stack;                            // the last one is current
  std::map<u64, std::shared_ptr<Stream>> default_streams;  // CU_STREAM_PER_THREAD, by context id
  u32 number = 0;                                          // from 1, in order of first calls, for traces
  CUstreamCaptureMode capture_mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
};

// The calling thread's. Made at its first call, destroyed when the thread ends; the main thread's lasts as long as the
// process, since destructors of static objects may still make calls.
Thread& this_thread();

}  // namespace cudasim
