// Reductions of bulk copies. PTX ISA, "cp.reduce.async.bulk".
#include "common/simulator/isa/bulk.hpp"

#include "common/simulator/isa/floats.hpp"

#include <algorithm>
#include <cstring>

namespace cudasim {
namespace {

template <class T>
T combined(BulkReduction operation, T a, T b) {
  using Bits = std::make_unsigned_t<T>;
  switch (operation) {
    case BulkReduction::add: return static_cast<T>(static_cast<Bits>(a) + static_cast<Bits>(b));
    case BulkReduction::min: return std::min(a, b);
    case BulkReduction::max: return std::max(a, b);
    case BulkReduction::inc: return a >= b ? T{0} : static_cast<T>(a + 1);
    case BulkReduction::dec: return a == 0 || a > b ? b : static_cast<T>(a - 1);
    case BulkReduction::all: return a & b;
    case BulkReduction::any: return a | b;
    case BulkReduction::odd: return a ^ b;
  }
  return a;
}
// Floating-point numbers, by their bits.
template <class Bits, class From, class To>
Bits combined_floats(BulkReduction operation, Bits a, Bits b, From from, To to) {
  const auto x = from(a), y = from(b);
  if (operation == BulkReduction::add) return to(x + y);
  if (x != x) return y != y ? to(x) : b;
  if (y != y) return a;
  const bool less = operation == BulkReduction::min;
  if (x == y) return static_cast<Bits>(less ? a | b : a & b);
  return (x < y) == less ? a : b;
}
u16 half_to(double x) { return to_f16(float(x)); }

template <class T, class F>
void change_each(std::byte* to, const std::byte* from, u64 size, F f) {
  for (u64 at = 0; at + sizeof(T) <= size; at += sizeof(T)) {
    T operand;
    std::memcpy(&operand, from + at, sizeof operand);
    T* place = reinterpret_cast<T*>(to + at);
    T old = __atomic_load_n(place, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(place, &old, static_cast<T>(f(old, operand)), false, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED)) {
    }
  }
}

}  // namespace

BulkReduction bulk_reduction(const Form& form) {
  constexpr std::pair<std::string_view, BulkReduction> kNames[] = {
      {"add", BulkReduction::add}, {"min", BulkReduction::min}, {"max", BulkReduction::max},
      {"inc", BulkReduction::inc}, {"dec", BulkReduction::dec}, {"and", BulkReduction::all},
      {"or", BulkReduction::any},  {"xor", BulkReduction::odd}};
  for (const auto& [name, operation] : kNames) {
    if (form.has(name)) return operation;
  }
  return BulkReduction::add;
}

void reduce_bytes(BulkReduction operation, Type type, std::byte* to, const std::byte* from, u64 size) {
  const auto whole = [&](auto zero) {
    using T = decltype(zero);
    change_each<T>(to, from, size, [=](T a, T b) { return combined<T>(operation, a, b); });
  };
  switch (type) {
    case Type::s32: return whole(i32{});
    case Type::s64: return whole(i64{});
    case Type::u64:
    case Type::b64: return whole(u64{});
    case Type::f16:
      return change_each<u16>(to, from, size, [=](u16 a, u16 b) {
        return combined_floats(operation, a, b, [](u16 h) { return double(from_f16(h)); }, half_to);
      });
    case Type::bf16:
      return change_each<u16>(to, from, size, [=](u16 a, u16 b) {
        return combined_floats(operation, a, b, [](u16 h) { return from_bf16(h); }, [](float x) { return to_bf16(x); });
      });
    case Type::f32:
      return change_each<u32>(to, from, size, [=](u32 a, u32 b) {
        return combined_floats(
            operation, a, b, [](u32 x) { return flush(float_of(x)); },
            [](float x) { return bits_of(flush(canonical(x))); });
      });
    case Type::f64:
      return change_each<u64>(to, from, size, [=](u64 a, u64 b) {
        return combined_floats(
            operation, a, b, [](u64 x) { return double_of(x); }, [](double x) { return bits_of(canonical(x)); });
      });
    default: return whole(u32{});
  }
}

}  // namespace cudasim
