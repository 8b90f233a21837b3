// Matrix products of a warpgroup with operands in shared memory. PTX ISA, "Asynchronous Warpgroup Level Matrix
// Multiply-Accumulate Instructions".
//
// Each of the four warps multiplies its 16 of the 64 rows immediately, so a wait has nothing to do; unless the function
// reads sums before the wait for their group (ptx/resolve_unfinished.hpp). Sums as in matrix.cpp,
// except for those of e4m3 in FP32 (short_sums.hpp).
#include "common/simulator/isa/wgmma.hpp"
#include "common/simulator/exec/access.hpp"
#include "common/simulator/exec/block.hpp"
#include "common/simulator/exec/fragments.hpp"
#include "common/simulator/isa/elements.hpp"
#include "common/simulator/isa/lanes.hpp"
#include "common/simulator/isa/short_sums.hpp"

#include <algorithm>
#include <deque>
#include <functional>
#include <limits>
#include <optional>

namespace cudasim {
namespace {

constexpr u32 kRows = 16, kMostColumns = 256;
constexpr Type kTypes[] = {Type::f16, Type::bf16, Type::tf32, Type::e4m3, Type::e5m2, Type::u8, Type::s8, Type::b1};
constexpr Type kSums[] = {Type::f16, Type::f32, Type::s32};

template <std::size_t n>
u32 index_of(const Type (&list)[n], Type type) {
  return u32(std::find(list, list + n, type) - list);
}

// Instruction::control.
struct Control {
  u32 columns;
  Type a, b, d;
  bool satfinite, a_in_registers, scale_is_predicate;
  u32 immediates;
};
u32 packed(const Control& c) {
  return c.columns / 8 | index_of(kTypes, c.a) << 6 | index_of(kTypes, c.b) << 9 | index_of(kSums, c.d) << 12 |
         u32{c.satfinite} << 14 | u32{c.a_in_registers} << 15 | u32{c.scale_is_predicate} << 16 | c.immediates << 17;
}
Control unpacked(u32 c) {
  return {(c & 63) * 8,       kTypes[c >> 6 & 7], kTypes[c >> 9 & 7], kSums[c >> 12 & 3],
          (c >> 14 & 1) != 0, (c >> 15 & 1) != 0, (c >> 16 & 1) != 0, c >> 17 & 7};
}
u32 width_of(Type type) { return type == Type::tf32 ? 32 : bits(type); }
u32 k_of(Type type) { return 256 / width_of(type); }

// A matrix in shared memory, as its descriptor says: rows of A, or columns of B, number `mn`; PTX ISA, "Matrix
// Descriptor Format", "Strides", "Swizzling modes".
struct Stored {
  u32 start, leading, stride, swizzle;  // bytes; swizzle: 0, 32, 64, 128
  u32 first_line;  // the base offset: which of eight lines of 128 bytes the swizzle's pattern begins with
  bool mn_major;

  u32 address(u32 mn, u32 byte_of_k, u32 k) const {
    u32 at = start;
    if (swizzle == 0) {
      at += mn_major ? mn % 8 * 2 + mn / 8 * stride + k % 8 * 16 + k / 8 * leading
                     : mn % 8 * 16 + mn / 8 * stride + byte_of_k / 16 * leading + byte_of_k % 16;
      return at;
    }
    at += mn_major ? mn * 2 % swizzle + mn * 2 / swizzle * leading + k % 8 * swizzle + k / 8 * stride
                   : mn % 8 * swizzle + mn / 8 * stride + byte_of_k;
    return at ^ (((at >> 7) - first_line) & (swizzle / 16 - 1)) << 4;
  }
};
Stored stored(u64 descriptor, bool mn_major, u32 lane) {
  constexpr u32 kSwizzles[] = {0, 128, 64, 32};
  const u32 first_line = descriptor >> 49 & 7, swizzle = kSwizzles[descriptor >> 62];
  if (first_line != 0 && swizzle == 0) {
    throw Fault{.kind = FaultKind::illegal_instruction,
                .what = "wgmma with a base offset in the descriptor of a matrix that is not swizzled",
                .lane = lane};
  }
  return {u32(descriptor & 0x3fff) << 4,
          u32(descriptor >> 16 & 0x3fff) << 4,
          u32(descriptor >> 32 & 0x3fff) << 4,
          swizzle,
          first_line,
          mn_major};
}

// Calls f(mn, k, raw bits) for each element.
template <class F>
void for_stored(Warp& warp, const Stored& matrix, u32 first, u32 count, Type type, F f) {
  const u32 width = width_of(type), depth = k_of(type);
  const u32 lane = u32(std::countr_zero(warp.mask));
  for (u32 mn = first; mn < first + count; ++mn) {
    for (u32 k = 0; k < depth; k += width < 8 ? 8 : 1) {
      const u32 size = std::max(width / 8, 1u), at = matrix.address(mn, k * width / 8, k);
      u32 raw = 0;
      const std::byte* from = at + size <= warp.block->shared_bytes
                                  ? warp.block->shared + at
                                  : access(warp, lane, Space::shared, warp.block->shared_begin + at, size,
                                           Access::read);  // says what is wrong
      std::memcpy(&raw, from, size);
      for (u32 bit = 0; bit < (width < 8 ? 8 : 1); ++bit) f(mn - first, k + bit, width < 8 ? raw >> bit & 1 : raw);
    }
  }
}

// The operands of one instruction, as they were when it began. `d`: where the sums are.
template <class T>
struct Product {
  Control control;
  const Slot* d;
  u32 mask, first;  // the executing lanes; the first of the warp's 16 rows
  bool accumulate, negative;
  Stored a, b;
  std::vector<T> rows;  // a's, if they are in registers

  u32 depth() const { return k_of(control.a); }
  static T number(Type type, u32 raw) {
    if constexpr (std::is_same_v<T, double>)
      return value(type, raw);
    else
      return T{integer(type, raw)};
  }
};

// The warp's rows of a, from registers.
template <class T>
std::vector<T> rows_in_registers(const Warp& warp, Type type, const Slot* a) {
  const u32 width = width_of(type), in_register = 32 / width, depth = k_of(type);
  std::vector<T> rows(kRows * depth);
  for (u32 lane = 0; lane < kWarpSize; ++lane) {
    for (u32 reg = 0; reg < 4; ++reg) {
      for (u32 e = 0; e < in_register; ++e) {
        const u32 row = lane / 4 + reg % 2 * 8, k = lane % 4 * in_register + e + reg / 2 * 4 * in_register;
        const u32 raw = warp.in<u32>(a[reg])[lane] >> width * e % 32;
        rows[row * depth + k] = Product<T>::number(type, width == 32 ? raw : raw & ((1u << width) - 1));
      }
    }
  }
  return rows;
}

// d, a (descriptor, or four registers), b, scale-d [, scale-a, scale-b [, transpose-a], transpose-b]
template <class T>
Product<T> product_of(const Warp& warp, const Instruction& i) {
  const Control c = unpacked(i.control);
  const Slot* d = i.wide != nullptr ? i.wide : i.slot;
  const Slot* a = d + c.columns / 2 / (c.d == Type::f16 ? 2 : 1);
  const Slot* b = a + (c.a_in_registers ? 4 : 1);
  const Slot* scale = b + 1;
  const u32 lane0 = u32(std::countr_zero(warp.mask));
  const auto immediate = [&](u32 n) { return n < c.immediates ? warp.in<i32>(scale[1 + n])[lane0] : 0; };
  Product<T> product{};
  product.control = c, product.d = d, product.mask = warp.mask, product.first = warp.index % 4 * kRows;
  product.accumulate =
      c.scale_is_predicate ? (warp.predicate(scale[0]) >> lane0 & 1) != 0 : warp.in<u32>(scale[0])[lane0] != 0;
  product.negative = (c.immediates >= 2) && (immediate(0) < 0) != (immediate(1) < 0);
  const bool a_by_columns = c.immediates == 4 && immediate(2) != 0;
  const bool b_by_rows = immediate(c.immediates - 1) != 0 && c.immediates > 2;
  if (c.a_in_registers)
    product.rows = rows_in_registers<T>(warp, c.a, a);
  else
    product.a = stored(warp.in<u64>(a[0])[lane0], a_by_columns, lane0);
  product.b = stored(warp.in<u64>(b[0])[lane0], b_by_rows, lane0);
  return product;
}

// Where element `e` of a lane's fragment of the sums is.
u32 place(u32 columns, u32 lane, u32 e) {
  return (lane / 4 + e / 2 % 2 * 8) * columns + e / 4 * 8 + lane % 4 * 2 + e % 2;
}

template <class T>
std::vector<T> sums_before(const Warp& warp, const Product<T>& product) {
  const Control& c = product.control;
  std::vector<T> sums(kRows * c.columns);
  const u32 per = c.d == Type::f16 ? 2 : 1;
  for (u32 lane = 0; product.accumulate && lane < kWarpSize; ++lane) {
    for (u32 e = 0; e < c.columns / 2; ++e) {
      const u32 word = warp.in<u32>(product.d[e / per])[lane];
      T& sum = sums[place(c.columns, lane, e)];
      if constexpr (std::is_same_v<T, double>)
        sum = value(c.d, per == 2 ? word >> 16 * (e % 2) & 0xffff : word);
      else
        sum = i32(word);
    }
  }
  return sums;
}

template <class T>
void store_sums(Warp& warp, const Product<T>& product, const std::vector<T>& sums) {
  const Control& c = product.control;
  const u32 per = c.d == Type::f16 ? 2 : 1;
  for (const u32 lane : set_bits(product.mask)) {
    for (u32 e = 0; e < c.columns / 2; ++e) {
      u32& word = warp.out<u32>(product.d[e / per])[lane];
      const T sum = sums[place(c.columns, lane, e)];
      if constexpr (std::is_same_v<T, double>) {
        const u32 raw = u32(code(c.d, sum));
        word = per == 1 ? raw : e % 2 == 0 ? (word & 0xffff0000u) | raw : (word & 0xffffu) | raw << 16;
      } else {
        word = u32(c.satfinite ? std::clamp<i64>(sum, std::numeric_limits<i32>::min(), std::numeric_limits<i32>::max())
                               : sum);
      }
    }
  }
}

template <class T>
void multiply(Warp& warp, const Product<T>& product) {
  const Control& c = product.control;
  const u32 depth = product.depth();
  std::vector<T> a = product.rows, b(depth * c.columns), sums = sums_before(warp, product);
  if (!c.a_in_registers) {
    a.resize(kRows * depth);
    for_stored(warp, product.a, product.first, kRows, c.a,
               [&](u32 row, u32 k, u32 raw) { a[row * depth + k] = Product<T>::number(c.a, raw); });
  }
  if (product.negative) std::transform(a.begin(), a.end(), a.begin(), std::negate());
  for_stored(warp, product.b, 0, c.columns, c.b,
             [&](u32 column, u32 k, u32 raw) { b[k * c.columns + column] = Product<T>::number(c.b, raw); });
  std::optional<ShortSums> short_sums;
  if constexpr (std::is_same_v<T, double>) {
    if (c.a == Type::e4m3 && c.b == Type::e4m3 && c.d == Type::f32) short_sums.emplace(b, depth, c.columns);
  }
  for (u32 row = 0; row < kRows; ++row) {
    if constexpr (std::is_same_v<T, double>) {
      if (short_sums && short_sums->add(&a[row * depth], &sums[row * c.columns])) continue;
    }
    for (u32 k = 0; k < depth; ++k) {
      const T x = a[row * depth + k];
      for (u32 column = 0; column < c.columns; ++column) {
        T& sum = sums[row * c.columns + column];
        const T y = b[k * c.columns + column];
        sum += c.a == Type::b1 ? T(i64(x) & i64(y)) : x * y;
      }
    }
  }
  store_sums(warp, product, sums);
}

template <class T>
void run_multiply(Warp& warp, const Instruction& i) {
  if (!gather(warp, i, kNoSlot)) return;
  if ((i.control & kDeferred) == 0) return multiply(warp, product_of<T>(warp, i));
  warp.block->async.multiply(warp, [&warp, frame = warp.frame, code = warp.code, product = product_of<T>(warp, i)] {
    if (warp.frame == frame && warp.code == code) multiply(warp, product);  // else its registers are gone
  });
}

void run_commit(Warp& warp, const Instruction& i) {
  if ((i.control & kDeferred) != 0) warp.block->async.commit_products(warp);
}
void run_wait(Warp& warp, const Instruction& i) {
  if ((i.control & kDeferred) != 0) warp.block->async.wait_for_products(warp, static_cast<u32>(i.offset));
}
void run_nothing(Warp&, const Instruction&) {}
template <Handler run>
Bound bind(const Form&) {
  return run;
}

Bound bind_multiply(const Form& form) {
  Control c{};
  for (const std::string_view word : form.modifiers) {
    const std::size_t n = word.find('n'), k = word.find('k');
    if (word[0] != 'm' || n == std::string_view::npos || k == std::string_view::npos) continue;
    for (const char digit : word.substr(n + 1, k - n - 1)) c.columns = c.columns * 10 + u32(digit - '0');
  }
  c.d = form.type[0], c.a = form.type[1], c.b = form.type[2];
  c.satfinite = form.has("satfinite");
  c.a_in_registers = (form.predicate >> 1 & 1) != 0;
  c.scale_is_predicate = (form.predicate >> 3 & 1) != 0;
  const bool sixteen = c.a == Type::f16 || c.a == Type::bf16;
  const bool four = form.width[7] != 0;
  if (sixteen && four == c.a_in_registers) return nullptr;  // registers are not transposed
  c.immediates = sixteen ? (four ? 4 : 3) : c.d == Type::s32 ? 0 : 2;
  return {c.d == Type::s32 ? run_multiply<i64> : run_multiply<double>, packed(c)};
}

std::span<const Row> rows() {
  static std::deque<std::string>& texts = *new std::deque<std::string>;  // what the rows point into
  static const std::vector<Row>& all = *new std::vector<Row>([] {
    std::vector<Row> made = {{"wgmma.fence.sync.aligned", "", bind<run_nothing>, 80, kOnly90a},
                             {"wgmma.commit_group.sync.aligned", "", bind<run_commit>, 80, kOnly90a},
                             {"wgmma.wait_group.sync.aligned", "imm", bind<run_wait>, 80, kOnly90a}};
    const auto add = [&](u32 columns, const std::string& k, const std::string& types, u32 registers, const char* sum,
                         const std::string& rest) {
      const std::string n = std::to_string(columns);
      texts.push_back("wgmma.mma_async.sync.aligned.m64n" + n + "k" + k + types);
      const char* syntax = texts.back().c_str();
      texts.push_back("+{" + std::string(sum) + "}" + std::to_string(registers) + " b64^{b32}4 b64 u32^pred" + rest);
      made.push_back({syntax, texts.back().c_str(), bind_multiply, 80, kOnly90a});
    };
    for (u32 n = 8; n <= kMostColumns; n += 8) {
      add(n, "16", ".f32.f16.f16", n / 2, "f32", " s32 s32 s32 s32?");
      add(n, "16", ".f16.f16.f16", n / 4, "b32", " s32 s32 s32 s32?");
      add(n, "16", ".f32.bf16.bf16", n / 2, "f32", " s32 s32 s32 s32?");
      add(n, "8", ".f32.tf32.tf32", n / 2, "f32", " s32 s32");
      add(n, "32", ".f32.e4m3|e5m2.e4m3|e5m2", n / 2, "f32", " s32 s32");
      add(n, "32", ".f16.e4m3|e5m2.e4m3|e5m2", n / 4, "b32", " s32 s32");
      if (n % 16 == 0 || n == 8 || n == 24) {  // whole numbers have fewer shapes
        add(n, "32", "{.satfinite}.s32.u8|s8.u8|s8", n / 2, "s32", "");
        add(n, "256", ".s32.b1.b1.and.popc", n / 2, "s32", "");
      }
    }
    return made;
  }());
  return all;
}

}  // namespace

std::span<const Row> wgmma_rows() { return rows(); }

}  // namespace cudasim
