#include "common/simulator/api/guard.hpp"

#include "common/simulator/api/logs.hpp"
#include "common/simulator/state/leaks.hpp"
#include "common/simulator/state/timeline.hpp"
#include "common/simulator/wanted.hpp"

#include <cstdio>
#include <exception>
#include <new>

namespace cudasim {
namespace {

CUresult guarded(CUresult (*body)(void*), void* object, std::string& why) noexcept {
  try {
    return body(object);
  } catch (Failure& failure) {
    why.swap(failure.why);
    return failure.code;
  } catch (const std::bad_alloc&) {
    return CUDA_ERROR_OUT_OF_MEMORY;
  } catch (const std::exception& e) {  // a mistake of ours, which the answer alone would hide
    std::fprintf(stderr, "cudasim: the simulator failed: %s\n", e.what());
    return CUDA_ERROR_UNKNOWN;
  } catch (...) {
    return CUDA_ERROR_UNKNOWN;
  }
}

}  // namespace

void trace_call(const char* function, const char* names, const Argument* arguments, std::size_t count, CUresult result,
                const std::string& why);

CUresult run_call(const CallInfo& call, CUresult (*body)(void* object), void* object) noexcept {
  const Passage passage(call.when_locked);
  TimelineCall timed;
  std::string why;
  const CUresult result = guarded(body, object, why);
  if (timeline_on()) timed.ends(call.function, result);
  if (result == CUDA_SUCCESS && checks().leak) note_call(call.function, call.arguments, call.count);
  if (result != CUDA_SUCCESS && result != CUDA_ERROR_NOT_READY) log_answer(call.function, result, why);
  if (trace_wanted().api) trace_call(call.function, call.names, call.arguments, call.count, result, why);
  return result;
}

}  // namespace cudasim
