// The driver's exported functions, and the table in which cuGetProcAddress finds them. Both follow from functions.inc.
// A function that no file of this folder implements is exported as well, and refuses.
#define DRIVER_CALL_LINKAGE __attribute__((weak))  // null where there is no implementation
#include "common/simulator/api/call.hpp"
#include "common/simulator/api/entry_points.hpp"
#include "common/simulator/api/guard.hpp"
#include "common/simulator/state/contexts/first_contexts.hpp"
#include "common/simulator/state/reports/print.hpp"

#include <algorithm>
#include <string_view>

namespace cudasim {
namespace {

template <class Body>
CUresult run(const Call& call, Body&& body) noexcept {
  using Plain = std::remove_reference_t<Body>;
  return run_call(call, [](void* object) -> CUresult { return (*static_cast<Plain*>(object))(); }, &body);
}

CUresult not_implemented(const char* name, const char* symbol) noexcept {
  return run({name, symbol, false, "", nullptr, 0}, [&] { return refuse(symbol); });
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

// Which contexts a function serves.
enum class Serves { all, first, newer };

consteval Serves served_by(std::string_view name, std::string_view symbol) {
  constexpr std::string_view kWithFirstVersion[] = {
#define FUNCTION(...)
#define PER_THREAD(...)
#define FIRST_VERSION(name, ...) #name,
#define UNKNOWN_FUNCTION(...)
#define UNKNOWN_PER_THREAD(...)
#include "common/simulator/api/functions.inc"
  };
  // Without a first version, for memory with addresses of 64 bits (H200).
  constexpr std::string_view kWithoutFirstVersion[] = {
      "cuMemAdvise",       "cuMemAllocManaged",   "cuMemcpy",
      "cuMemcpyAsync",     "cuMemcpyPeer",        "cuMemcpyPeerAsync",
      "cuMemcpy3DPeer",    "cuMemcpy3DPeerAsync", "cuMipmappedArrayCreate",
      "cuMemsetD8Async",   "cuMemsetD16Async",    "cuMemsetD32Async",
      "cuMemsetD2D8Async", "cuMemsetD2D16Async",  "cuMemsetD2D32Async"};
  const auto in = [&](auto& names) { return std::ranges::find(names, name) != std::end(names); };
  if (name == "cuMemHostRegister") return Serves::all;
  if (in(kWithFirstVersion)) return symbol == name ? Serves::first : Serves::newer;
  return in(kWithoutFirstVersion) ? Serves::newer : Serves::all;
}

// `call` has no values yet.
template <Serves serves, class... T>
CUresult forward(Call call, CUresult (*implementation)(T...), const std::type_identity_t<T>&... arguments) noexcept {
  if (implementation == nullptr) return not_implemented(call.name, call.symbol);
  const Argument values[sizeof...(T) + 1] = {shown(arguments)...};
  call.values = values;
  call.count = sizeof...(T);
  return run(call, [&] {
    if constexpr (serves == Serves::first) require_first_context();
    if constexpr (serves == Serves::newer) require_no_first_context();
    return implementation(replaced(arguments, call.per_thread)...);
  });
}

}  // namespace
}  // namespace cudasim

using namespace cudasim;

// The label gives the function its exported name, which cuda.h may define as a macro or declare otherwise.
#define EXPORTED(function, symbol, parameters)                                                    \
  extern "C" __attribute__((visibility("default"))) CUresult function parameters __asm__(symbol); \
  CUresult function parameters

#define FUNCTION(name, release, symbol, parameters, ...)                                         \
  EXPORTED(export_##symbol, #symbol, parameters) {                                               \
    return forward<served_by(#name, #symbol)>({#name, #symbol, false, #__VA_ARGS__, nullptr, 0}, \
                                              driver::call_##symbol __VA_OPT__(, ) __VA_ARGS__); \
  }
#define PER_THREAD(name, release, symbol, per_thread_release, suffix, parameters, ...)                  \
  EXPORTED(export_##symbol, #symbol, parameters) {                                                      \
    return forward<served_by(#name, #symbol)>({#name, #symbol, false, #__VA_ARGS__, nullptr, 0},        \
                                              driver::call_##symbol __VA_OPT__(, ) __VA_ARGS__);        \
  }                                                                                                     \
  EXPORTED(export_##symbol##suffix, #symbol #suffix, parameters) {                                      \
    return forward<served_by(#name, #symbol)>({#name, #symbol #suffix, true, #__VA_ARGS__, nullptr, 0}, \
                                              driver::call_##symbol __VA_OPT__(, ) __VA_ARGS__);        \
  }
#define FIRST_VERSION FUNCTION
#define UNKNOWN_FUNCTION(name, release, symbol, ...) \
  EXPORTED(export_##symbol, #symbol, ()) { return not_implemented(#name, #symbol); }
#define UNKNOWN_PER_THREAD(name, release, symbol, per_thread_release, suffix, ...)   \
  EXPORTED(export_##symbol, #symbol, ()) { return not_implemented(#name, #symbol); } \
  EXPORTED(export_##symbol##suffix, #symbol #suffix, ()) { return not_implemented(#name, #symbol #suffix); }
#include "common/simulator/api/functions.inc"

namespace cudasim {

std::span<const EntryPoint> entry_points() {
  static const EntryPoint table[] = {
#define FUNCTION(name, release, symbol, ...) \
  {#name, release, #symbol, reinterpret_cast<void*>(export_##symbol), 0, nullptr},
#define PER_THREAD(name, release, symbol, per_thread_release, suffix, ...) \
  {#name,                                                                  \
   release,                                                                \
   #symbol,                                                                \
   reinterpret_cast<void*>(export_##symbol),                               \
   per_thread_release,                                                     \
   reinterpret_cast<void*>(export_##symbol##suffix)},
#define FIRST_VERSION FUNCTION
#define UNKNOWN_FUNCTION FUNCTION
#define UNKNOWN_PER_THREAD PER_THREAD
#include "common/simulator/api/functions.inc"
  };
  return table;
}

}  // namespace cudasim
