#include "common/simulator/api/guard.hpp"

#include "common/simulator/check/checks.hpp"
#include "common/simulator/check/leak.hpp"

#include <cstdlib>
#include <cstring>
#include <new>

namespace cudasim {
namespace {

bool trace_api() {
  static const bool wanted = [] {
    const char* what = std::getenv("CUDASIM_TRACE");
    return what != nullptr && std::strstr(what, "api") != nullptr;
  }();
  return wanted;
}

CUresult guarded(CUresult (*body)(void*), void* object) noexcept {
  try {
    return body(object);
  } catch (const Failure& failure) {
    return failure.code;
  } catch (const std::bad_alloc&) {
    return CUDA_ERROR_OUT_OF_MEMORY;
  } catch (...) {
    return CUDA_ERROR_UNKNOWN;
  }
}

}  // namespace

void trace_call(const char* function, const char* names, const Argument* arguments, std::size_t count, CUresult result);

CUresult run_call(const char* function, const char* names, const Argument* arguments, std::size_t count,
                  CUresult (*body)(void* object), void* object) noexcept {
  const CUresult result = guarded(body, object);
  if (result == CUDA_SUCCESS && checks().leak) note_call(function, arguments, count);
  if (trace_api()) trace_call(function, names, arguments, count, result);
  return result;
}

}  // namespace cudasim
