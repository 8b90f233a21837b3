// Atomic operations on memory. PTX ISA, "atom" and "red".
//
// Blocks run at the same time, so global memory is changed by the processor's own atomic instructions. A block's (and a
// cluster's) shared memory is touched by one thread of the machine at a time and needs none. Lanes go in order.
#include "common/simulator/exec/access.hpp"
#include "common/simulator/exec/block.hpp"
#include "common/simulator/exec/raw.hpp"
#include "common/simulator/isa/floats.hpp"
#include "common/simulator/isa/order.hpp"
#include "common/simulator/isa/row.hpp"

#include <algorithm>
#include <mutex>

namespace cudasim {
namespace {

// Instruction::control
constexpr u32 kElements = 15;
constexpr u32 kNarrow = 1 << 4;
constexpr u32 kNoResult = 1 << 5;  // red
constexpr u32 kSpaceShift = 8;

// What becomes of the old value `a`. `shared`: where it lies, which only single-precision addition cares about.
struct And {
  template <class T>
  static T of(T a, T b, T, bool) {
    return a & b;
  }
};
struct Or {
  template <class T>
  static T of(T a, T b, T, bool) {
    return a | b;
  }
};
struct Xor {
  template <class T>
  static T of(T a, T b, T, bool) {
    return a ^ b;
  }
};
struct Exchange {
  template <class T>
  static T of(T, T b, T, bool) {
    return b;
  }
};
struct CompareAndSwap {
  template <class T>
  static T of(T a, T b, T c, bool) {
    return a == b ? c : a;
  }
};
struct Add {
  template <class T>
  static T of(T a, T b, T, bool) {
    return a + b;
  }
};
struct Increment {
  static u32 of(u32 a, u32 b, u32, bool) { return a >= b ? 0 : a + 1; }
};
struct Decrement {
  static u32 of(u32 a, u32 b, u32, bool) { return a == 0 || a > b ? b : a - 1; }
};
template <class Signed>
struct Min {
  template <class T>
  static T of(T a, T b, T, bool) {
    return static_cast<T>(std::min(static_cast<Signed>(a), static_cast<Signed>(b)));
  }
};
template <class Signed>
struct Max {
  template <class T>
  static T of(T a, T b, T, bool) {
    return static_cast<T>(std::max(static_cast<Signed>(a), static_cast<Signed>(b)));
  }
};

// In global memory subnormal operands and results count as zero, in shared memory they do not.
struct AddF32 {
  static u32 of(u32 a, u32 b, u32, bool shared) {
    const float x = float_of(a), y = float_of(b);
    return bits_of(shared ? canonical(x + y) : flush(canonical(flush(x) + flush(y))));
  }
};
// A NaN stays as it is in global memory, that of the operand before that of the memory.
struct AddF64 {
  static u64 of(u64 a, u64 b, u64, bool shared) {
    const double x = double_of(a), y = double_of(b);
    if (shared) return bits_of(with_nan(x + y, x, y));
    return y != y ? b : x != x ? a : bits_of(canonical(x + y));
  }
};

struct Half {
  static float from(u16 h) { return from_f16(h); }
  static u16 to(float x) { return to_f16(x); }
};
struct Brain {
  static float from(u16 h) { return from_bf16(h); }
  static u16 to(float x) { return to_bf16(x); }
};

// Single precision is wide enough that rounding twice is rounding once.
template <class Format>
struct AddF16 {
  static u16 of(u16 a, u16 b, u16, bool) { return Format::to(Format::from(a) + Format::from(b)); }
};
// A number wins over a NaN; -0 is less than +0.
template <class Format, bool kMax>
struct PickF16 {
  static u16 of(u16 a, u16 b, u16, bool) {
    const float x = Format::from(a), y = Format::from(b);
    if (x != x) return y != y ? kNan16 : b;
    if (y != y) return a;
    if (x == y) return kMax ? a & b : a | b;
    return (x < y) != kMax ? a : b;
  }
};
template <class Op>
struct BothHalves {
  static u32 of(u32 a, u32 b, u32, bool shared) {
    const u32 low = Op::of(static_cast<u16>(a), static_cast<u16>(b), 0, shared);
    const u32 high = Op::of(static_cast<u16>(a >> 16), static_cast<u16>(b >> 16), 0, shared);
    return low | high << 16;
  }
};

#if !defined(__GCC_HAVE_SYNC_COMPARE_AND_SWAP_16)
// 16 bytes, where the processor cannot change them at once: one thread at a time.
std::mutex& wide_mutex() {
  static std::mutex* made = new std::mutex;
  return *made;
}
#endif

template <class T>
bool swap_if_equal(std::byte* at, T& expected, T wanted) {
  if constexpr (sizeof(T) <= 8) {
    return __atomic_compare_exchange_n(reinterpret_cast<T*>(at), &expected, wanted, false, __ATOMIC_SEQ_CST,
                                       __ATOMIC_SEQ_CST);
  } else {
#if defined(__GCC_HAVE_SYNC_COMPARE_AND_SWAP_16)
    const T found = __sync_val_compare_and_swap(reinterpret_cast<T*>(at), expected, wanted);
    const bool same = found == expected;
    expected = found;
    return same;
#else
    std::lock_guard lock(wide_mutex());
    const T found = raw_load<T>(at);
    const bool same = found == expected;
    if (same) raw_store(at, wanted);
    expected = found;
    return same;
#endif
  }
}

// Returns the old value. `changed` is set if the new one differs.
template <class Op, class T>
inline T apply(std::byte* at, T b, T c, bool shared, bool& changed) {
  T old = raw_load<T>(at);
  if (shared) {
    const T now = Op::of(old, b, c, true);
    changed |= now != old;
    raw_store(at, now);
    return old;
  }
  T now = Op::of(old, b, c, false);
  while (!swap_if_equal(at, old, now)) now = Op::of(old, b, c, false);
  changed |= now != old;
  return old;
}

Slot slot_of(const Instruction& i, u32 n) { return i.wide != nullptr ? i.wide[n] : i.slot[n]; }

// Where a lane's operand lies. Part of each handler, because most addresses pass one of the two tests.
[[gnu::always_inline]] inline std::byte* bytes_at(Warp& warp, const Instruction& i, u32 lane, Space space, u64 address,
                                                  u32 size) {
  if (space == Space::shared) {
    const Block& block = *warp.block;
    const u64 offset = address - block.shared_begin;
    if (size <= block.quick_shared_bytes && offset <= block.quick_shared_bytes - size && address % size == 0)
      return block.shared + offset;
  }
  const View& view = view_of(warp, i);
  if (space != Space::shared && address >= view.begin && address <= view.end - size && view.end - view.begin >= size &&
      view.writable && address % size == 0)
    return reinterpret_cast<std::byte*>(address + static_cast<u64>(view.delta));
  return access(warp, lane, space, address, size, size, Access::atomic, &view_of(warp, i));
}

// atom: d, [a], b [, c]; red: [a], b. Vectors: element by element.
template <class Op, class T>
void run_atomic(Warp& warp, const Instruction& i) {
  const u32 elements = i.control & kElements;
  const bool no_result = (i.control & kNoResult) != 0;
  const u32 base_at = no_result ? 0 : elements;
  const Space space = static_cast<Space>(i.control >> kSpaceShift & 15);
  const Slot base = slot_of(i, base_at);
  const Slot third = base_at + 2 < 6 && i.wide == nullptr ? i.slot[base_at + 2] : kNoSlot;
  const bool has_third = std::is_same_v<Op, CompareAndSwap>;
  bool changed = false;
  for (const u32 lane : set_bits(warp.mask)) {
    const u64 address = address_of(warp, i, base, (i.control & kNarrow) != 0, lane);
    std::byte* at = bytes_at(warp, i, lane, space, address, elements * sizeof(T));
    const bool shared = space == Space::shared || space == Space::shared_cluster ||
                        (space == Space::generic && space_of(address) == Space::shared);
    for (u32 e = 0; e < elements; ++e) {
      const T b = warp.in<T>(slot_of(i, base_at + 1 + e))[lane];
      const T c = has_third ? warp.in<T>(third)[lane] : T{};
      const T old = apply<Op, T>(at + e * sizeof(T), b, c, shared, changed);
      if (!no_result && slot_of(i, e) != kNoSlot) warp.out<T>(slot_of(i, e))[lane] = old;
    }
  }
  if (changed)
    warp.polls = 0;
  else
    warp.poll();  // a lock that is taken, for example
}

template <class Signed, class T>
Handler integer_handler(const Form& form) {
  if (form.has("add")) return run_atomic<Add, T>;
  if (form.has("min")) return run_atomic<Min<Signed>, T>;
  return run_atomic<Max<Signed>, T>;
}

template <class T>
Handler bits_handler(const Form& form) {
  if (form.has("and")) return run_atomic<And, T>;
  if (form.has("or")) return run_atomic<Or, T>;
  if (form.has("xor")) return run_atomic<Xor, T>;
  return form.has("exch") ? run_atomic<Exchange, T> : run_atomic<CompareAndSwap, T>;
}

template <class Format>
Handler half_handler(const Form& form, bool pair) {
  using Least = PickF16<Format, false>;
  using Most = PickF16<Format, true>;
  if (form.has("add")) return pair ? run_atomic<BothHalves<AddF16<Format>>, u32> : run_atomic<AddF16<Format>, u16>;
  if (form.has("min")) return pair ? run_atomic<BothHalves<Least>, u32> : run_atomic<Least, u16>;
  return pair ? run_atomic<BothHalves<Most>, u32> : run_atomic<Most, u16>;
}

Handler handler_of(const Form& form) {
  if (form.has("inc")) return run_atomic<Increment, u32>;
  if (form.has("dec")) return run_atomic<Decrement, u32>;
  switch (form.type[0]) {
    case Type::b16: return run_atomic<CompareAndSwap, u16>;
    case Type::b32: return bits_handler<u32>(form);
    case Type::b64: return bits_handler<u64>(form);
    case Type::b128: return form.has("exch") ? run_atomic<Exchange, u128> : run_atomic<CompareAndSwap, u128>;
    case Type::u32: return integer_handler<u32, u32>(form);
    case Type::s32: return integer_handler<i32, u32>(form);
    case Type::u64: return integer_handler<u64, u64>(form);
    case Type::s64: return integer_handler<i64, u64>(form);
    case Type::f32: return run_atomic<AddF32, u32>;
    case Type::f64: return run_atomic<AddF64, u64>;
    case Type::f16: return half_handler<Half>(form, false);
    case Type::f16x2: return half_handler<Half>(form, true);
    case Type::bf16: return half_handler<Brain>(form, false);
    case Type::bf16x2: return half_handler<Brain>(form, true);
    default: return nullptr;
  }
}

template <bool kResult>
Bound bind_atomic(const Form& form) {
  if (form.vector * bits(form.type[0]) > 128) return {};
  u32 control = form.vector | static_cast<u32>(form.space) << kSpaceShift | order_of(form, true);
  if (form.address_bytes == 4) control |= kNarrow;
  if (!kResult) control |= kNoResult;
  if (form.has("cas")) control |= kCompares;
  return {handler_of(form), control};
}

#define SPACE "{.global|shared|shared::cta|shared::cluster}"
#define ATOM(space) "atom{.sem}{.scope}" space
#define RED(space) "red{.relaxed|release}{.scope}" space
#define CACHED "{.global}.L2::cache_hint"
// Each form with and without a cache policy.
#define ATOM_ROWS(form, operands, ...)                                             \
  {ATOM(SPACE) form, "=t0_ " operands, bind_atomic<true>, __VA_ARGS__, kAtomic}, { \
    ATOM(CACHED) form, "=t0_ " operands " b64", bind_atomic<true>, 74, 80, kAtomic \
  }
#define RED_ROWS(form, operands, ...)                                      \
  {RED(SPACE) form, operands, bind_atomic<false>, __VA_ARGS__, kAtomic}, { \
    RED(CACHED) form, operands " b64", bind_atomic<false>, 74, 80, kAtomic \
  }

// multimem works on memory of several devices behind one address, which no program can create here:
// CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED is 0. A module that contains such a kernel loads; executing the instruction
// is a fault.
void run_multimem(Warp& warp, const Instruction&) {
  throw Fault{.kind = FaultKind::illegal_instruction,
              .what = "multimem, where no address is one of a multicast object",
              .lane = first_lane(warp.mask)};
}
Bound bind_multimem(const Form&) { return run_multimem; }

#define MULTIMEM_ROWS(operation, weak, orders, what, operands)                                                      \
  {"multimem." operation weak "{.global}" what, operands, bind_multimem, 81, 90, counts_as(Class::memory_other)}, { \
    "multimem." operation "." orders ".scope{.global}" what, operands, bind_multimem, 81, 90,                       \
        counts_as(Class::memory_other)                                                                              \
  }
#define MULTIMEM_REDUCTIONS(operation, weak, orders, precision, pairs, scalars, vectors)         \
  MULTIMEM_ROWS(operation, weak, orders, ".and|or|xor.b32|b64", scalars),                        \
      MULTIMEM_ROWS(operation, weak, orders, ".add.u32|s32|u64|f32|f64", scalars),               \
      MULTIMEM_ROWS(operation, weak, orders, ".min|max.u32|s32|u64|s64", scalars),               \
      MULTIMEM_ROWS(operation, weak, orders, ".add.v2|v4.f32", vectors),                         \
      MULTIMEM_ROWS(operation, weak, orders, ".min|max" pairs ".f16x2|bf16x2", vectors),         \
      MULTIMEM_ROWS(operation, weak, orders, ".min|max.v2|v4|v8.f16|bf16", vectors),             \
      MULTIMEM_ROWS(operation, weak, orders, ".add" precision "{.v2|v4}.f16x2|bf16x2", vectors), \
      MULTIMEM_ROWS(operation, weak, orders, ".add" precision ".v2|v4|v8.f16|bf16", vectors)

const Row kRows[] = {
    ATOM_ROWS(".and|or|xor.b32|b64", "[m] t0", 0, 20),
    ATOM_ROWS(".exch.b32|b64", "[m] t0", 0, 20),
    ATOM_ROWS(".exch.b128", "[m] t0", 83, 90),
    {ATOM(SPACE) ".cas.b32|b64", "=t0_ [m] t0 t0", bind_atomic<true>, 0, 20, kAtomic},
    {ATOM(SPACE) ".cas.b16", "=t0_ [m] t0 t0", bind_atomic<true>, 63, 70, kAtomic},
    {ATOM(SPACE) ".cas.b128", "=t0_ [m] t0 t0", bind_atomic<true>, 83, 90, kAtomic},
    ATOM_ROWS(".add.u32|s32|u64", "[m] t0", 0, 20),
    ATOM_ROWS(".min|max.u32|s32|u64|s64", "[m] t0", 0, 20),
    ATOM_ROWS(".inc|dec.u32", "[m] t0", 0, 20),
    ATOM_ROWS(".add.f32", "[m] t0", 0, 20),
    ATOM_ROWS(".add.f64", "[m] t0", 50, 60),
    ATOM_ROWS(".add.noftz.f16x2", "[m] t0", 62, 60),
    ATOM_ROWS(".add.noftz.f16", "[m] t0", 63, 70),
    ATOM_ROWS(".add.noftz.bf16|bf16x2", "[m] t0", 78, 90),
    {"atom{.sem}{.scope}{.global}.add{.L2::cache_hint}.v2|v4.f32", "={t0}v_ [m] {t0}v b64?", bind_atomic<true>, 81, 90,
     kAtomic},
    {"atom{.sem}{.scope}{.global}.add|min|max.noftz{.L2::cache_hint}.v2|v4|v8.f16|bf16", "={t0}v_ [m] {t0}v b64?",
     bind_atomic<true>, 81, 90, kAtomic},
    {"atom{.sem}{.scope}{.global}.add|min|max.noftz{.L2::cache_hint}.v2|v4.f16x2|bf16x2", "={t0}v_ [m] {t0}v b64?",
     bind_atomic<true>, 81, 90, kAtomic},

    RED_ROWS(".and|or|xor.b32|b64", "[m] t0", 0, 20),
    RED_ROWS(".add.u32|s32|u64", "[m] t0", 0, 20),
    RED_ROWS(".min|max.u32|s32|u64|s64", "[m] t0", 0, 20),
    RED_ROWS(".inc|dec.u32", "[m] t0", 0, 20),
    RED_ROWS(".add.f32", "[m] t0", 0, 20),
    RED_ROWS(".add.f64", "[m] t0", 50, 60),
    RED_ROWS(".add.noftz.f16x2", "[m] t0", 62, 60),
    RED_ROWS(".add.noftz.f16", "[m] t0", 63, 70),
    RED_ROWS(".add.noftz.bf16|bf16x2", "[m] t0", 78, 90),
    {"red{.relaxed|release}{.scope}{.global}.add{.L2::cache_hint}.v2|v4.f32", "[m] {t0}v b64?", bind_atomic<false>, 81,
     90, kAtomic},
    {"red{.relaxed|release}{.scope}{.global}.add|min|max.noftz{.L2::cache_hint}.v2|v4|v8.f16|bf16", "[m] {t0}v b64?",
     bind_atomic<false>, 81, 90, kAtomic},
    {"red{.relaxed|release}{.scope}{.global}.add|min|max.noftz{.L2::cache_hint}.v2|v4.f16x2|bf16x2", "[m] {t0}v b64?",
     bind_atomic<false>, 81, 90, kAtomic},

    MULTIMEM_REDUCTIONS("ld_reduce", "{.weak}", "relaxed|acquire", "{.acc::f32}", "{.v2|v4}", "=t0 [m]", "={t0}v [m]"),
    MULTIMEM_REDUCTIONS("red", "", "relaxed|release", "", ".v2|v4", "[m] t0", "[m] {t0}v"),
    MULTIMEM_ROWS("st", "{.weak}", "relaxed|release", ".b32|b64|u32|u64|s32|s64|f32|f64", "[m] t0"),
    MULTIMEM_ROWS("st", "{.weak}", "relaxed|release", ".v2|v4.f32", "[m] {t0}v"),
    MULTIMEM_ROWS("st", "{.weak}", "relaxed|release", "{.v2|v4}.f16x2|bf16x2", "[m] {t0}v"),
    MULTIMEM_ROWS("st", "{.weak}", "relaxed|release", ".v2|v4|v8.f16|bf16", "[m] {t0}v"),
};

}  // namespace

std::span<const Row> atomic_rows() { return kRows; }

}  // namespace cudasim
