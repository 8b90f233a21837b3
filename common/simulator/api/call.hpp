// What every file of this folder includes to implement functions of the driver:
//
//   CUresult driver::call_cuCtxGetId(CUcontext handle, unsigned long long* id) {
//     const auto context = named_or_current(handle);
//     require(id != nullptr);
//     ...
//     return CUDA_SUCCESS;
//   }
//
// A body returns a CUresult or throws Failure. Nothing has to be registered: functions.inc describes every function,
// exports.cpp exports them all, and a definition that disagrees with the description does not compile. The form for
// per-thread default streams follows from the description, too.
#pragma once
#include "common/simulator/api/first_types.hpp"
#include "common/simulator/names.hpp"
#include "common/simulator/state/contexts/context.hpp"
#include "common/simulator/state/devices/driver.hpp"
#include "common/simulator/state/errors/errors.hpp"
#include "common/simulator/state/errors/failure.hpp"

#ifndef DRIVER_CALL_LINKAGE
#define DRIVER_CALL_LINKAGE
#endif

namespace cudasim {

namespace driver {
#define FUNCTION(name, release, symbol, admits, parameters, ...) CUresult call_##symbol parameters DRIVER_CALL_LINKAGE;
#define PER_THREAD(name, release, symbol, admits, per_thread_release, suffix, parameters, ...) \
  CUresult call_##symbol parameters DRIVER_CALL_LINKAGE;
#define FIRST_VERSION(name, release, symbol, admits, newest, parameters, ...) \
  CUresult call_##symbol parameters DRIVER_CALL_LINKAGE;
#define UNKNOWN_FUNCTION(...)
#define UNKNOWN_PER_THREAD(...)
#include "common/simulator/api/functions.inc"
}  // namespace driver

// The call that this thread is making.
struct CallInProgress {
  const char* symbol;  // "cuMemcpyHtoD_v2_ptds"
  bool per_thread;     // stream 0 is the thread's own default stream
};
const CallInProgress& call_in_progress();

// What stream 0 means to the call in progress. Streams that are arguments have been replaced already.
inline CUstream default_stream() { return call_in_progress().per_thread ? CU_STREAM_PER_THREAD : CU_STREAM_LEGACY; }
inline CUstream or_default_stream(CUstream stream) { return stream != nullptr ? stream : default_stream(); }

}  // namespace cudasim
