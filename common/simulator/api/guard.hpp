// The door of every exported function: nothing that is thrown inside crosses `extern "C"`, and CUDASIM_TRACE=api sees
// each call with its arguments by name.
//
//   CUDASIM_API CUresult cuCtxGetFlags(unsigned int* flags) {
//     return CUDASIM_CALL(flags) {
//       const auto context = current_context();
//       require(flags != nullptr);
//       ...
//       return CUDA_SUCCESS;
//     };
//   }
//
// The body runs as a lambda that captures by reference. It answers with a CUresult or throws Failure.
#pragma once
#include "common/simulator/names.hpp"
#include "common/simulator/state/argument.hpp"
#include "common/simulator/state/checkpoint.hpp"
#include "common/simulator/state/context.hpp"
#include "common/simulator/state/driver.hpp"
#include "common/simulator/state/errors.hpp"
#include "common/simulator/state/failure.hpp"

#include <array>
#include <string>
#include <string_view>
#include <type_traits>

namespace cudasim {

void print_number(std::string& out, long long value);
void print_unsigned(std::string& out, unsigned long long value);
void print_real(std::string& out, double value);
void print_pointer(std::string& out, const void* value);
void print_text(std::string& out, const char* value);
void print_enumerator(std::string& out, std::string_view type, long long value);
void print_handle(std::string& out, std::string_view type, const void* value);

// As the compiler writes it: "…[with T = CUlimit_enum; …]".
template <class T>
constexpr std::string_view type_name() {
  std::string_view text = __PRETTY_FUNCTION__;
  text.remove_prefix(text.find("T = ") + 4);
  return text.substr(0, text.find_first_of(";]"));
}

template <class T>
concept Complete = requires {
  sizeof(T);
};

// What a call writes to: shown by what is there afterwards.
template <class T>
constexpr bool is_output() {
  if constexpr (std::is_pointer_v<T>) {
    using Target = std::remove_pointer_t<T>;
    return std::is_scalar_v<Target> && !std::is_same_v<Target, char> && !std::is_const_v<Target>;
  }
  return false;
}

template <class T>
void print_argument(std::string& out, const T& value, bool succeeded) {
  if constexpr (std::is_same_v<T, CUresult>) {
    out += error_name(value);
  } else if constexpr (std::is_enum_v<T>) {
    print_enumerator(out, type_name<T>(), static_cast<long long>(value));
  } else if constexpr (std::is_floating_point_v<T>) {
    print_real(out, static_cast<double>(value));
  } else if constexpr (std::is_same_v<T, CUdeviceptr>) {
    print_pointer(out, reinterpret_cast<const void*>(value));
  } else if constexpr (std::is_signed_v<T> && std::is_integral_v<T>) {
    print_number(out, value);
  } else if constexpr (std::is_integral_v<T>) {
    print_unsigned(out, value);
  } else if constexpr (std::is_same_v<T, const char*>) {
    print_text(out, value);
  } else if constexpr (std::is_pointer_v<T>) {
    using Target = std::remove_pointer_t<T>;
    if constexpr (std::is_class_v<Target> && !Complete<Target>) {
      print_handle(out, type_name<Target>(), value);
    } else {
      if constexpr (is_output<T>()) {
        if (succeeded && value != nullptr) return print_argument(out, *value, true);
      }
      print_pointer(out, reinterpret_cast<const void*>(value));
    }
  } else {
    out += "{…}";
  }
}

struct CallInfo {
  const char* function;
  const char* names;
  const Argument* arguments;
  std::size_t count;
  WhenLocked when_locked;
};

template <std::size_t N>
struct Call {
  const char* function;
  WhenLocked when_locked;
  const char* names;
  std::array<Argument, N == 0 ? 1 : N> arguments;
};

template <class... Values>
Call<sizeof...(Values)> make_call(const char* function, WhenLocked when_locked, const char* names,
                                  const Values&... values) {
  return {function,
          when_locked,
          names,
          {Argument{&values,
                    [](std::string& out, const void* value, bool succeeded) {
                      print_argument(out, *static_cast<const Values*>(value), succeeded);
                    },
                    is_output<Values>()}...}};
}

// Runs `body(object)`; catches everything; traces.
CUresult run_call(const CallInfo& call, CUresult (*body)(void* object), void* object) noexcept;

template <std::size_t N, class Body>
CUresult operator<<(const Call<N>& call, Body&& body) noexcept {
  using Plain = std::remove_reference_t<Body>;
  return run_call(
      {call.function, call.names, call.arguments.data(), N, call.when_locked},
      [](void* object) -> CUresult { return (*static_cast<Plain*>(object))(); }, &body);
}

}  // namespace cudasim

#define CUDASIM_CALL_THAT(when_locked, ...)                                                                    \
  ::cudasim::make_call(__func__, ::cudasim::WhenLocked::when_locked, #__VA_ARGS__ __VA_OPT__(, ) __VA_ARGS__) \
      << [&]() -> CUresult
#define CUDASIM_CALL(...) CUDASIM_CALL_THAT(waits __VA_OPT__(, ) __VA_ARGS__)
// For what is not held up while the process is locked for a checkpoint.
#define CUDASIM_CALL_WHEN_LOCKED(...) CUDASIM_CALL_THAT(goes_on __VA_OPT__(, ) __VA_ARGS__)
