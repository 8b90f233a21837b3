// The driver's exported functions, and the table in which cuGetProcAddress finds them. Both follow from functions.inc.
// A function that no file of this folder implements is exported as well, and refuses.
#define DRIVER_CALL_LINKAGE __attribute__((weak))  // null where there is no implementation
#include "common/simulator/api/call.hpp"
#include "common/simulator/api/entry_points.hpp"
#include "common/simulator/api/guard.hpp"
#include "common/simulator/state/contexts/first_contexts.hpp"
#include "common/simulator/state/reports/print.hpp"

namespace cudasim {
namespace {

template <class Body>
CUresult run(const Call& call, Body&& body) noexcept {
  using Plain = std::remove_reference_t<Body>;
  return run_call(call, [](void* object) -> CUresult { return (*static_cast<Plain*>(object))(); }, &body);
}

CUresult not_implemented(Call call) noexcept {
  call.arguments = "";
  return run(call, [&] { return refuse(call.symbol); });
}

template <class T>
T replaced(const T& argument, bool per_thread) {
  if constexpr (std::is_same_v<T, CUstream>) {
    if (per_thread && argument == nullptr) return CU_STREAM_PER_THREAD;
  }
  return argument;
}

template <class T>
Argument shown(const T& value) {
  return {&value,
          [](std::string& out, const void* at, bool succeeded) {
            print_argument(out, *static_cast<const T*>(at), succeeded);
          },
          is_output<T>()};
}

// Which callers a function admits: all; those whose current context is of the first version of cuCtxCreate, or is not
// (state/contexts/first_contexts.hpp); all, even while the process is locked for a checkpoint.
enum class Admits { all, first, newer, locked };

// `call` has no values yet.
template <Admits admits, class... T>
CUresult forward(Call call, CUresult (*implementation)(T...), const std::type_identity_t<T>&... arguments) noexcept {
  call.even_locked = admits == Admits::locked;
  if (implementation == nullptr) return not_implemented(call);
  const Argument values[sizeof...(T) + 1] = {shown(arguments)...};
  call.values = values;
  call.count = sizeof...(T);
  return run(call, [&] {
    if constexpr (admits == Admits::first) require_first_context();
    if constexpr (admits == Admits::newer) require_no_first_context();
    return implementation(replaced(arguments, call.per_thread)...);
  });
}

}  // namespace
}  // namespace cudasim

using namespace cudasim;

// The label gives the function its exported name, which cuda.h may define as a macro or declare otherwise. For the same
// reason, no row is passed on to another macro: its names would be expanded.
#define EXPORTED(function, symbol, parameters)                                                    \
  extern "C" __attribute__((visibility("default"))) CUresult function parameters __asm__(symbol); \
  CUresult function parameters

#define FUNCTION(name, release, symbol, admits, parameters, ...)                      \
  EXPORTED(export_##symbol, #symbol, parameters) {                                    \
    return forward<Admits::admits>({#name, #symbol, false, #__VA_ARGS__},             \
                                   driver::call_##symbol __VA_OPT__(, ) __VA_ARGS__); \
  }
#define PER_THREAD(name, release, symbol, admits, per_thread_release, suffix, parameters, ...) \
  EXPORTED(export_##symbol, #symbol, parameters) {                                             \
    return forward<Admits::admits>({#name, #symbol, false, #__VA_ARGS__},                      \
                                   driver::call_##symbol __VA_OPT__(, ) __VA_ARGS__);          \
  }                                                                                            \
  EXPORTED(export_##symbol##suffix, #symbol #suffix, parameters) {                             \
    return forward<Admits::admits>({#name, #symbol #suffix, true, #__VA_ARGS__},               \
                                   driver::call_##symbol __VA_OPT__(, ) __VA_ARGS__);          \
  }
#define FIRST_VERSION(name, release, symbol, admits, newest, parameters, ...)                                  \
  EXPORTED(export_##symbol, #symbol, parameters) {                                                             \
    return forward<Admits::admits>({#name, #symbol, false, #__VA_ARGS__}, driver::call_##symbol, __VA_ARGS__); \
  }
#define UNKNOWN_FUNCTION(name, release, symbol, ...) \
  EXPORTED(export_##symbol, #symbol, ()) { return not_implemented({#name, #symbol}); }
#define UNKNOWN_PER_THREAD(name, release, symbol, admits, per_thread_release, suffix, ...) \
  EXPORTED(export_##symbol, #symbol, ()) { return not_implemented({#name, #symbol}); }     \
  EXPORTED(export_##symbol##suffix, #symbol #suffix, ()) { return not_implemented({#name, #symbol #suffix}); }
#include "common/simulator/api/functions.inc"

namespace cudasim {

std::span<const EntryPoint> entry_points() {
  static const EntryPoint table[] = {
#define FUNCTION(name, release, symbol, ...) \
  {#name, release, #symbol, reinterpret_cast<void*>(export_##symbol), 0, nullptr},
#define PER_THREAD(name, release, symbol, admits, per_thread_release, suffix, ...) \
  {#name,                                                                          \
   release,                                                                        \
   #symbol,                                                                        \
   reinterpret_cast<void*>(export_##symbol),                                       \
   per_thread_release,                                                             \
   reinterpret_cast<void*>(export_##symbol##suffix)},
#define FIRST_VERSION FUNCTION
#define UNKNOWN_FUNCTION FUNCTION
#define UNKNOWN_PER_THREAD PER_THREAD
#include "common/simulator/api/functions.inc"
  };
  return table;
}

}  // namespace cudasim
