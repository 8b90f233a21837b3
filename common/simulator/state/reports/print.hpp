// How CUDASIM_TRACE=api writes an argument, by its type.
#pragma once
#include "common/simulator/state/errors/errors.hpp"

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
concept Complete = requires { sizeof(T); };

// A call writes through it, so the trace shows the value that it points to after the call.
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

}  // namespace cudasim
