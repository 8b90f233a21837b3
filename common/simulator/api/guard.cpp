#include "common/simulator/api/guard.hpp"

#include "common/simulator/api/call.hpp"
#include "common/simulator/state/reports/leaks.hpp"
#include "common/simulator/state/reports/logs.hpp"
#include "common/simulator/state/reports/trace.hpp"
#include "common/simulator/state/streams/timeline.hpp"
#include "common/simulator/wanted.hpp"

#include <cstdio>
#include <exception>
#include <new>
#include <utility>

namespace cudasim {
namespace {

thread_local CallInProgress in_progress{};

CUresult call_and_catch(CUresult (*body)(void*), void* object, std::string& why) noexcept {
  try {
    return body(object);
  } catch (Failure& failure) {
    why.swap(failure.why);
    return failure.code;
  } catch (const std::bad_alloc&) {
    return CUDA_ERROR_OUT_OF_MEMORY;
  } catch (const std::exception& e) {  // a bug of the simulator, which the result alone would hide
    std::fprintf(stderr, "cudasim: the simulator failed: %s\n", e.what());
    return CUDA_ERROR_UNKNOWN;
  } catch (...) {
    return CUDA_ERROR_UNKNOWN;
  }
}

}  // namespace

const CallInProgress& call_in_progress() { return in_progress; }

CUresult run_call(const Call& call, CUresult (*body)(void* object), void* object) noexcept {
  const Passage passage(call.even_locked ? WhenLocked::goes_on : WhenLocked::waits);
  TimelineCall timed;
  std::string why;
  const CallInProgress outer = std::exchange(in_progress, {call.symbol, call.per_thread});  // callbacks make calls
  const CUresult result = call_and_catch(body, object, why);
  in_progress = outer;
  if (timeline_on()) timed.ends(call.symbol, result);
  if (result == CUDA_SUCCESS && checks().leak) note_call(call.symbol, call.values, call.count);
  if (result != CUDA_SUCCESS && result != CUDA_ERROR_NOT_READY) log_answer(call.symbol, result, why);
  if (trace_wanted().api) trace_call(call, result, why);
  return result;
}

}  // namespace cudasim
