// Warp-level matrix instructions. PTX ISA, "Warp Level Matrix Multiply-Accumulate Instructions".
//
// A warp's fragments are unpacked into whole matrices, multiplied, and packed again. Where an element lies is what the
// manual says for mma and ldmatrix; for wmma it is left to the implementation, and ours is row_of_fragment().
//
// Sums: products are exact; for single and half precision the products and the addend are summed in double precision in
// the order of k and rounded once, to nearest even. (Hardware sums in an order and with a number of extra bits that are
// not documented.) Double precision: one fma after the other, in the order of k.
#include "common/simulator/exec/access.hpp"
#include "common/simulator/exec/fragments.hpp"
#include "common/simulator/exec/raw.hpp"
#include "common/simulator/isa/common_mma.hpp"
#include "common/simulator/isa/elements.hpp"
#include "common/simulator/isa/floats.hpp"
#include "common/simulator/isa/lanes.hpp"

#include <algorithm>
#include <limits>

namespace cudasim {
namespace {

constexpr u32 kLargestK = 256;

const Slot* slots(const Instruction& i) { return i.wide ? i.wide : i.slot; }
u32 register_bits(Type type) { return bits(type) == 64 ? 64 : 32; }

// What Instruction::control says of a multiplication, and of a matrix in memory.
struct Shape {
  u32 m, n, k;
  Type a, b, c, d;
  bool satfinite;
  bool conjunction;  // of bits: and, not xor
  bool wmma;
  bool a_column, b_column;  // m8n8k4 only: layouts of A and B
  u32 mode;  // Rounding, of double precision
  bool sparse;  // A is stored without its zeros
};
constexpr Type kOperands[] = {Type::f16, Type::bf16, Type::tf32, Type::f64, Type::e4m3, Type::e5m2,
                              Type::u8,  Type::s8,   Type::u4,   Type::s4,  Type::b1};
constexpr Type kSums[] = {Type::f16, Type::f32, Type::f64, Type::s32};

template <std::size_t n>
u32 index_of_type(const Type (&list)[n], Type type) {
  return u32(std::find(list, list + n, type) - list);
}
u32 packed(const Shape& s) {
  return u32(std::countr_zero(s.m)) | u32(std::countr_zero(s.n)) << 3 | u32(std::countr_zero(s.k)) << 6 |
         index_of_type(kOperands, s.a) << 10 | index_of_type(kOperands, s.b) << 14 | index_of_type(kSums, s.c) << 18 |
         index_of_type(kSums, s.d) << 20 | u32{s.satfinite} << 22 | u32{s.conjunction} << 23 | u32{s.wmma} << 24 |
         u32{s.a_column} << 25 | u32{s.b_column} << 26 | s.mode << 27 | u32{s.sparse} << 29;
}
Shape unpacked(u32 c) {
  return {1u << (c & 7),      1u << (c >> 3 & 7), 1u << (c >> 6 & 15), kOperands[c >> 10 & 15], kOperands[c >> 14 & 15],
          kSums[c >> 18 & 3], kSums[c >> 20 & 3], (c >> 22 & 1) != 0,  (c >> 23 & 1) != 0,      (c >> 24 & 1) != 0,
          (c >> 25 & 1) != 0, (c >> 26 & 1) != 0, c >> 27 & 3,         (c >> 29 & 1) != 0};
}

// Where elements lie -------------------------------------------------------------------------------------------------

struct Cell {
  u32 row, column;
};
enum class Role { a, b, c };

u32 elements_of(const Shape& s, Role role) {
  return role == Role::a ? s.m * s.k : role == Role::b ? s.k * s.n : s.m * s.n;
}

// The manual's figures of mma fragments follow one rule. A group of four lanes holds a row (of A, C, D) or a column (of
// B); its lanes hold one register's elements each, in order. The next register is eight rows below, then further along
// the row. `e` is an element of `lane`; `per_register` elements share a register.
Cell cell_of_mma(Role role, const Shape& s, u32 lane, u32 e, u32 per_register) {
  const u32 group = lane / 4, within = lane % 4;
  if (role == Role::c) return {group + 8 * (e / 2), within * 2 + e % 2};
  const u32 reg = e / per_register, along = within * per_register + e % per_register;
  if (role == Role::b) return {along + 4 * per_register * reg, group};
  const u32 blocks = s.m / 8;
  return {group + 8 * (reg % blocks), along + 4 * per_register * (reg / blocks)};
}
// wmma: a matrix's elements, row by row, in equal shares. A fragment with room for more repeats them.
Cell cell_of_wmma(Role role, const Shape& s, u32 lane, u32 e) {
  const u32 columns = role == Role::a ? s.k : s.n, share = elements_of(s, role) / kWarpSize;
  const u32 linear = lane * share + e % share;
  return {linear / columns, linear % columns};
}
Cell cell_of(Role role, const Shape& s, u32 lane, u32 e, u32 per_register) {
  return s.wmma ? cell_of_wmma(role, s, lane, e) : cell_of_mma(role, s, lane, e, per_register);
}

// 32-bit (f64: 64-bit) registers of one lane's fragment.
u32 registers_of(const Shape& s, Role role, Type type) {
  if (s.wmma && type == Type::f16 && role != Role::c) return 8;  // for every shape the same
  return elements_of(s, role) * std::max(bits(type) == 64 ? 64u : bits(type), type == Type::tf32 ? 32u : 1u) /
         kWarpSize / register_bits(type);
}

// Calls f(row, column, raw bits) for each element of a fragment whose first register is slot[0].
template <class F>
void for_elements(const Warp& warp, const Slot* slot, const Shape& s, Role role, Type type, F f) {
  const u32 width = type == Type::tf32 ? 32 : bits(type), per = register_bits(type) / width;
  const u32 registers = registers_of(s, role, type);
  const u64 mask = width == 64 ? ~u64{0} : (u64{1} << width) - 1;
  for (u32 r = 0; r < registers; ++r) {
    for (u32 lane = 0; lane < kWarpSize; ++lane) {
      u64 word = width == 64 ? warp.in<u64>(slot[r])[lane] : warp.in<u32>(slot[r])[lane];
      for (u32 k = 0; k < per; ++k) {
        const Cell p = cell_of(role, s, lane, r * per + k, per);
        f(p.row, p.column, word & mask);
        if (width < 64) word >>= width;
      }
    }
  }
}
// Writes a fragment of f(row, column) → raw bits to the executing lanes.
template <class F>
void store_elements(Warp& warp, const Slot* slot, const Shape& s, Role role, Type type, F f) {
  const u32 width = type == Type::tf32 ? 32 : bits(type), per = register_bits(type) / width;
  const u32 registers = registers_of(s, role, type);
  for (u32 r = 0; r < registers; ++r) {
    for (const u32 lane : set_bits(warp.mask)) {
      u64 word = 0;
      for (u32 k = 0; k < per; ++k) {
        const Cell p = cell_of(role, s, lane, r * per + k, per);
        word |= u64(f(p.row, p.column)) << width * k % 64;
      }
      if (width == 64)
        warp.out<u64>(slot[r])[lane] = word;
      else
        warp.out<u32>(slot[r])[lane] = u32(word);
    }
  }
}

// Multiplication -----------------------------------------------------------------------------------------------------

constexpr u32 kLargestSide = 32;  // wmma's m and n

template <class T>
struct Matrices {
  T a[16 * 128];  // m × k: 16 × 128 at most, or 32 × 16
  T b[kLargestSide * kLargestK / 8];  // k × n
  T c[kLargestSide * kLargestSide];  // m × n
};

// c += a b; kFma: with one rounding for each product and sum, which is how double precision is summed.
template <bool kFma, class T>
void multiply(const Shape& s, Matrices<T>& x) {
  for (u32 m = 0; m < s.m; ++m) {
    T* sums = x.c + m * s.n;
    for (u32 k = 0; k < s.k; ++k) {
      const T a = x.a[m * s.k + k];
      const T* b = x.b + k * s.n;
      for (u32 n = 0; n < s.n; ++n) {
        if constexpr (kFma)
          sums[n] = __builtin_fma(a, b[n], sums[n]);
        else
          sums[n] += a * b[n];
      }
    }
  }
}

struct Slots {
  const Slot *d, *a, *b, *c;
};
// As A's fragment is laid out: without half of each row, if it is sparse.
Shape stored_a(Shape s) {
  if (s.sparse) s.k /= 2;
  return s;
}
Slots operands(const Instruction& i, const Shape& s) {
  const Slot* d = slots(i);
  const Slot* a = d + registers_of(s, Role::c, s.d);
  const Slot* b = a + registers_of(stored_a(s), Role::a, s.a);
  return {d, a, b, b + registers_of(s, Role::b, s.b)};
}

// Expands a sparse A. Half of each chunk of a row is stored, in order (a chunk is four elements; eight 4-bit integers;
// two tf32). Four bits of metadata hold the two positions, the first one's in the lower two bits (tf32: positions of
// halves of elements). The selector picks, among the four lanes that hold a row of C, those with the metadata of that
// row and of the row eight below. For elements of 16 bits and more, one lane has four chunks of both rows, the upper
// row's in the lower half. For narrower ones, one lane has eight chunks of the upper row, the next lane those of the
// lower row. (Observed on an H200.)
template <class T>
void spread(const Warp& warp, const Instruction& i, const Shape& s, Slot metadata, const T* stored, T* dense) {
  const u32 width = s.a == Type::tf32 ? 32 : bits(s.a), chunk = width == 4 ? 8 : width == 32 ? 2 : 4;
  const u32 chunks = s.k / chunk, lanes = chunks / 4, half = chunk / 2;
  const bool narrow = width < 16;
  const u32 selector = static_cast<u32>(i.offset);
  if (selector >= 4 / lanes) {
    throw Fault{.kind = FaultKind::illegal_instruction,
                .what = "mma.sp with a sparsity selector of " + std::to_string(selector) + ": the shape has " +
                        std::to_string(4 / lanes),
                .lane = static_cast<u32>(std::countr_zero(warp.mask))};
  }
  std::fill_n(dense, s.m * s.k, T{0});
  for (u32 row = 0; row < s.m; ++row) {
    for (u32 c = 0; c < chunks; ++c) {
      const u32 lane = row % 8 * 4 + selector * lanes + (narrow ? c / 8 * 2 + row / 8 : c / 4);
      const u32 nibble = warp.in<u32>(metadata)[lane] >> 4 * (narrow ? c % 8 : c % 4 + row / 8 * 4) & 15;
      const T* from = stored + row * (s.k / 2) + c * half;
      T* to = dense + row * s.k + c * chunk;
      for (u32 k = 0; k < half; ++k) {
        const u32 place = nibble >> 2 * (k * 2 / half) & 3;
        to[width == 4 ? place * 2 + k % 2 : width == 32 ? place / 2 : place] = from[k];
      }
    }
  }
}

template <class T, class F>
void load_a(const Warp& warp, const Instruction& i, const Slots& o, const Shape& s, Matrices<T>& x, F f) {
  const Shape stored = stored_a(s);
  T compressed[16 * 64];
  T* to = s.sparse ? compressed : x.a;
  for_elements(warp, o.a, stored, Role::a, s.a, [&](u32 row, u32 k, u64 raw) { to[row * stored.k + k] = f(raw); });
  if (s.sparse) spread(warp, i, s, o.c[registers_of(s, Role::c, s.c)], compressed, x.a);
}

template <bool kDouble>
void run_mma_float(Warp& warp, const Instruction& i) {
  if (!gather(warp, i, kNoSlot)) return;
  const Shape s = unpacked(i.control);
  const Slots o = operands(i, s);
  Matrices<double> x;
  load_a(warp, i, o, s, x, [&](u64 raw) { return value(s.a, raw); });
  for_elements(warp, o.b, s, Role::b, s.b,
               [&](u32 k, u32 column, u64 raw) { x.b[k * s.n + column] = value(s.b, raw); });
  for_elements(warp, o.c, s, Role::c, s.c,
               [&](u32 row, u32 column, u64 raw) { x.c[row * s.n + column] = value(s.c, raw); });
  {
    const RoundingScope scope(kDouble ? s.mode : u32{kNearest});
    multiply<kDouble>(s, x);
  }
  store_elements(warp, o.d, s, Role::c, s.d, [&](u32 row, u32 column) { return code(s.d, x.c[row * s.n + column]); });
}

// The shape that has a handler of its own.
constexpr Shape common_shape(Type type) {
  return {16, 8, 16, type, type, Type::f32, Type::f32, false, false, false, false, true, kNearest, false};
}

void run_mma_integer(Warp& warp, const Instruction& i) {
  if (!gather(warp, i, kNoSlot)) return;
  const Shape s = unpacked(i.control);
  const Slots o = operands(i, s);
  Matrices<i64> x;
  load_a(warp, i, o, s, x, [&](u64 raw) { return i64{integer(s.a, u32(raw))}; });
  for_elements(warp, o.b, s, Role::b, s.b,
               [&](u32 k, u32 column, u64 raw) { x.b[k * s.n + column] = integer(s.b, u32(raw)); });
  for_elements(warp, o.c, s, Role::c, s.c, [&](u32 row, u32 column, u64 raw) { x.c[row * s.n + column] = i32(raw); });
  multiply<false>(s, x);
  store_elements(warp, o.d, s, Role::c, s.d, [&](u32 row, u32 column) {
    const i64 sum = x.c[row * s.n + column];
    return u32(s.satfinite ? std::clamp<i64>(sum, std::numeric_limits<i32>::min(), std::numeric_limits<i32>::max())
                           : sum);
  });
}

// Bits: the number of ones in the xor, or the and, of a row of A and a column of B is added.
void run_mma_bits(Warp& warp, const Instruction& i) {
  if (!gather(warp, i, kNoSlot)) return;
  const Shape s = unpacked(i.control);
  const Slots o = operands(i, s);
  u64 a[16][kLargestK / 64] = {}, b[8][kLargestK / 64] = {};
  u32 c[16][8];
  for_elements(warp, o.a, s, Role::a, s.a, [&](u32 row, u32 k, u64 raw) { a[row][k / 64] |= raw << k % 64; });
  for_elements(warp, o.b, s, Role::b, s.b, [&](u32 k, u32 column, u64 raw) { b[column][k / 64] |= raw << k % 64; });
  for_elements(warp, o.c, s, Role::c, s.c, [&](u32 row, u32 column, u64 raw) { c[row][column] = u32(raw); });
  store_elements(warp, o.d, s, Role::c, s.d, [&](u32 row, u32 column) {
    u32 sum = c[row][column];
    for (u32 k = 0; k < s.k / 64; ++k) {
      sum += u32(std::popcount(s.conjunction ? a[row][k] & b[column][k] : a[row][k] ^ b[column][k]));
    }
    return sum;
  });
}

// m8n8k4 of half precision is four multiplications, one for each pair of groups of four lanes (0–3 with 16–19 …).
Cell cell_of_m8n8k4(Role role, bool by_column, Type type, u32 lane, u32 e) {
  const u32 within = lane % 4, upper = lane < 16 ? 0 : 4;
  if (role == Role::c) {
    if (type == Type::f16) return {within + upper, e};
    return {(lane & 1) + (e & 2) + upper, (e & 4) + (lane & 2) + (e & 1)};
  }
  if (role == Role::a) return by_column ? Cell{e + upper, within} : Cell{within + upper, e};
  return by_column ? Cell{e, within + upper} : Cell{within, e + upper};
}
void run_mma_m8n8k4(Warp& warp, const Instruction& i) {
  if (!gather(warp, i, kNoSlot)) return;
  const Shape s = unpacked(i.control);
  const Slot* d = slots(i);
  const u32 sums = s.d == Type::f16 ? 4 : 8;
  const Slot *a = d + sums, *b = a + 2, *c = b + 2;
  double ma[4][8][4], mb[4][4][8], mc[4][8][8];
  for (u32 lane = 0; lane < kWarpSize; ++lane) {
    const u32 q = lane % 16 / 4;
    const auto halfword = [&](Slot slot, u32 e) {
      return double(from_f16(u16(warp.in<u32>(slot)[lane] >> 16 * (e % 2))));
    };
    for (u32 e = 0; e < 4; ++e) {
      const Cell pa = cell_of_m8n8k4(Role::a, s.a_column, s.a, lane, e);
      const Cell pb = cell_of_m8n8k4(Role::b, s.b_column, s.b, lane, e);
      ma[q][pa.row][pa.column] = halfword(a[e / 2], e);
      mb[q][pb.row][pb.column] = halfword(b[e / 2], e);
    }
    for (u32 e = 0; e < 8; ++e) {
      const Cell p = cell_of_m8n8k4(Role::c, false, s.c, lane, e);
      mc[q][p.row][p.column] = s.c == Type::f16 ? halfword(c[e / 2], e) : double(warp.in<float>(c[e])[lane]);
    }
  }
  for (u32 q = 0; q < 4; ++q) {
    for (u32 row = 0; row < 8; ++row) {
      for (u32 k = 0; k < 4; ++k) {
        for (u32 column = 0; column < 8; ++column) mc[q][row][column] += ma[q][row][k] * mb[q][k][column];
      }
    }
  }
  for (const u32 lane : set_bits(warp.mask)) {
    u32 word = 0;
    for (u32 e = 0; e < 8; ++e) {
      const Cell p = cell_of_m8n8k4(Role::c, false, s.d, lane, e);
      const u32 raw = u32(code(s.d, mc[lane % 16 / 4][p.row][p.column]));
      if (s.d == Type::f32) {
        warp.out<u32>(d[e])[lane] = raw;
      } else {
        word = e % 2 ? word | raw << 16 : raw;
        if (e % 2) warp.out<u32>(d[e / 2])[lane] = word;
      }
    }
  }
}

// Binding ------------------------------------------------------------------------------------------------------------

// "m16n8k32" → 16, 8, 32.
void read_shape(const Form& form, Shape& s) {
  for (const std::string_view word : form.modifiers) {
    const std::size_t n = word.find('n'), k = word.find('k');
    if (word[0] != 'm' || n == std::string_view::npos || k == std::string_view::npos) continue;
    const auto number = [](std::string_view digits) {
      u32 r = 0;
      for (const char c : digits) r = r * 10 + u32(c - '0');
      return r;
    };
    s.m = number(word.substr(1, n - 1));
    s.n = number(word.substr(n + 1, k - n - 1));
    s.k = number(word.substr(k + 1));
  }
}
// The layouts as they are written: of A, then of B.
void read_layouts(const Form& form, Shape& s) {
  bool first = true;
  for (const std::string_view word : form.modifiers) {
    if (word != "row" && word != "col") continue;
    (first ? s.a_column : s.b_column) = word == "col";
    first = false;
  }
}
Shape shape_of(const Form& form, bool wmma) {
  Shape s{};
  read_shape(form, s);
  read_layouts(form, s);
  s.satfinite = form.has("satfinite");
  s.conjunction = form.has("and");
  s.wmma = wmma;
  s.sparse = form.has("sp") || form.has("sp::ordered_metadata");
  s.mode = form.has("rz") ? kZero : form.has("rm") ? kDown : form.has("rp") ? kUp : kNearest;
  if (form.types == 2) {  // wmma of half precision names the sums only
    s.d = form.type[0], s.a = s.b = Type::f16, s.c = form.type[1];
  } else {
    s.d = form.type[0], s.a = form.type[1], s.b = form.type[2], s.c = form.type[3];
  }
  return s;
}
Bound bound(const Shape& s) {
  const u32 shape = packed(s);
  const Handler run = shape == packed(common_shape(Type::bf16))  ? run_common_mma<Type::bf16>
                      : shape == packed(common_shape(Type::f16)) ? run_common_mma<Type::f16>
                      : s.a == Type::b1                          ? run_mma_bits
                      : s.d == Type::s32                         ? run_mma_integer
                      : s.d == Type::f64                         ? run_mma_float<true>
                      : !s.wmma && s.m == 8 && s.k == 4          ? run_mma_m8n8k4
                                                                 : run_mma_float<false>;
  return {run, shape};
}
Bound bind_mma(const Form& form) {
  const Shape s = shape_of(form, false);
  const bool any_layout = s.a == Type::f16 && s.m == 8;
  if (!any_layout && (s.a_column || !s.b_column)) return nullptr;  // .row.col only
  if (s.c != s.d && !(any_layout && s.d == Type::f32)) return nullptr;
  return bound(s);
}
Bound bind_wmma(const Form& form) {
  const Shape s = shape_of(form, true);
  if (bits(s.a) < 8 && (s.a_column || !s.b_column)) return nullptr;  // .row.col only
  return bound(s);
}

// Matrices in memory -------------------------------------------------------------------------------------------------

// wmma.load and wmma.store.
struct Transfer {
  Shape shape;
  Role role;
  Type type;
  bool by_column;
  MatrixMemory memory;
};
constexpr Type kMemoryTypes[] = {Type::f16, Type::bf16, Type::tf32, Type::f32, Type::f64, Type::u8,
                                 Type::s8,  Type::u4,   Type::s4,   Type::b1,  Type::s32};
u32 packed_transfer(const Transfer& t, const Form& form) {
  return packed_memory(form) | u32(std::countr_zero(t.shape.m)) << 5 | u32(std::countr_zero(t.shape.n)) << 8 |
         u32(std::countr_zero(t.shape.k)) << 11 | u32(t.role) << 15 | index_of_type(kMemoryTypes, t.type) << 17 |
         u32{t.by_column} << 21;
}
Transfer unpacked_transfer(u32 c) {
  Transfer t{};
  t.memory = unpacked_memory(c);
  t.shape.m = 1u << (c >> 5 & 7);
  t.shape.n = 1u << (c >> 8 & 7);
  t.shape.k = 1u << (c >> 11 & 15);
  t.shape.wmma = true;
  t.role = Role(c >> 15 & 3);
  t.type = kMemoryTypes[c >> 17 & 15];
  t.by_column = c >> 21 & 1;
  return t;
}

// Where the lines (rows, or columns if by_column) of the matrix are. All lanes give the same address and stride.
struct Lines {
  std::byte* line[32];
  u32 per_line;  // elements
};
Lines lines_of(Warp& warp, const Instruction& i, const Transfer& t, Slot base, Slot stride, Access kind) {
  const Shape& s = t.shape;
  const u32 rows = t.role == Role::b ? s.k : s.m, columns = t.role == Role::a ? s.k : s.n;
  Lines lines;
  lines.per_line = t.by_column ? rows : columns;
  const u32 count = t.by_column ? columns : rows, width = t.type == Type::tf32 ? 32 : bits(t.type);
  const u32 first = u32(std::countr_zero(warp.mask));
  const u64 start = address_of(warp, i, base, t.memory.narrow, first);
  const u64 step = stride == kNoSlot ? lines.per_line : warp.in<u32>(stride)[first];
  const u32 bytes = lines.per_line * width / 8;
  for (u32 n = 0; n < count; ++n) {
    const u64 address = start + n * step * width / 8;
    lines.line[n] =
        access(warp, first, t.memory.space, address, bytes, std::min(bytes, std::max(width / 8, 4u)), kind, nullptr);
  }
  return lines;
}
void run_wmma_load(Warp& warp, const Instruction& i) {
  if (!gather(warp, i, kNoSlot)) return;
  const Transfer t = unpacked_transfer(i.control);
  const Slot* d = slots(i);
  const u32 registers = registers_of(t.shape, t.role, t.type);
  const Lines lines = lines_of(warp, i, t, d[registers], d[registers + 1], Access::read);
  const u32 width = t.type == Type::tf32 ? 32 : bits(t.type);
  store_elements(warp, d, t.shape, t.role, t.type, [&](u32 row, u32 column) {
    const std::byte* line = lines.line[t.by_column ? column : row];
    const u32 at = t.by_column ? row : column;
    if (width < 8) return u64{raw_load<u8>(line + at * width / 8)} >> at * width % 8 & ((1u << width) - 1);
    return raw_element(line + at * (width / 8), width / 8);
  });
}
void run_wmma_store(Warp& warp, const Instruction& i) {
  if (!gather(warp, i, kNoSlot)) return;
  const Transfer t = unpacked_transfer(i.control);
  const Slot* o = slots(i);
  const u32 registers = registers_of(t.shape, t.role, t.type);
  const Lines lines = lines_of(warp, i, t, o[0], o[registers + 1], Access::write);
  for_elements(warp, o + 1, t.shape, t.role, t.type, [&](u32 row, u32 column, u64 raw) {
    const u32 width = bits(t.type) / 8;
    raw_store_element(lines.line[t.by_column ? column : row] + width * (t.by_column ? row : column), raw, width);
  });
}
Bound bind_transfer(const Form& form) {
  Transfer t{};
  read_shape(form, t.shape);
  t.role = form.has("a") ? Role::a : form.has("b") ? Role::b : Role::c;
  t.type = form.type[0];
  t.by_column = form.has("col");
  return {form.has("store") ? run_wmma_store : run_wmma_load, packed_transfer(t, form)};
}

#define MMA "mma.sync.aligned."
#define SPARSE "mma.sp|sp::ordered_metadata.sync.aligned."
#define WMMA "wmma.mma.sync.aligned."
#define LOAD(what) "wmma.load." what ".sync.aligned.row|col"
#define STORE "wmma.store.d.sync.aligned.row|col"
#define WHERE "{.global|shared|shared::cta}"
#define LARGE ".m16n16k16|m8n32k16|m32n8k16"

constexpr Row kRows[] = {
    {MMA "m8n8k4.row|col.row|col.f16.f16.f16.f16", "={b32}4 {b32}2 {b32}2 {b32}4", bind_mma, 64, 70},
    {MMA "m8n8k4.row|col.row|col.f32.f16.f16.f16", "={f32}8 {b32}2 {b32}2 {b32}4", bind_mma, 64, 70},
    {MMA "m8n8k4.row|col.row|col.f32.f16.f16.f32", "={f32}8 {b32}2 {b32}2 {f32}8", bind_mma, 64, 70},
    {MMA "m16n8k8.row.col.f16.f16.f16.f16", "={b32}2 {b32}2 {b32}1 {b32}2", bind_mma, 65, 75},
    {MMA "m16n8k8.row.col.f32.f16.f16.f32", "={f32}4 {b32}2 {b32}1 {f32}4", bind_mma, 65, 75},
    {MMA "m16n8k16.row.col.f16.f16.f16.f16", "={b32}2 {b32}4 {b32}2 {b32}2", bind_mma, 70, 80},
    {MMA "m16n8k16.row.col.f32.f16.f16.f32", "={f32}4 {b32}4 {b32}2 {f32}4", bind_mma, 70, 80},
    {MMA "m16n8k8.row.col.f32.bf16.bf16.f32", "={f32}4 {b32}2 {b32}1 {f32}4", bind_mma, 70, 80},
    {MMA "m16n8k16.row.col.f32.bf16.bf16.f32", "={f32}4 {b32}4 {b32}2 {f32}4", bind_mma, 70, 80},
    {MMA "m16n8k4.row.col.f32.tf32.tf32.f32", "={f32}4 {b32}2 {b32}1 {f32}4", bind_mma, 70, 80},
    {MMA "m16n8k8.row.col.f32.tf32.tf32.f32", "={f32}4 {b32}4 {b32}2 {f32}4", bind_mma, 70, 80},
    {MMA "m16n8k16.row.col.f32.e4m3|e5m2.e4m3|e5m2.f32", "={f32}4 {b32}2 {b32}1 {f32}4", bind_mma, 87, 89},
    {MMA "m16n8k32.row.col.f32.e4m3|e5m2.e4m3|e5m2.f32", "={f32}4 {b32}4 {b32}2 {f32}4", bind_mma, 84, 89},
    {MMA "m16n8k16.row.col.f16.e4m3|e5m2.e4m3|e5m2.f16", "={b32}2 {b32}2 {b32}1 {b32}2", bind_mma, 87, 89},
    {MMA "m16n8k32.row.col.f16.e4m3|e5m2.e4m3|e5m2.f16", "={b32}2 {b32}4 {b32}2 {b32}2", bind_mma, 87, 89},
    {MMA "m8n8k4.row.col{.rnd}.f64.f64.f64.f64", "={f64}2 {f64}1 {f64}1 {f64}2", bind_mma, 70, 80},
    {MMA "m16n8k4.row.col{.rnd}.f64.f64.f64.f64", "={f64}4 {f64}2 {f64}1 {f64}4", bind_mma, 78, 90},
    {MMA "m16n8k8.row.col{.rnd}.f64.f64.f64.f64", "={f64}4 {f64}4 {f64}2 {f64}4", bind_mma, 78, 90},
    {MMA "m16n8k16.row.col{.rnd}.f64.f64.f64.f64", "={f64}4 {f64}8 {f64}4 {f64}4", bind_mma, 78, 90},
    {MMA "m8n8k16.row.col{.satfinite}.s32.u8|s8.u8|s8.s32", "={s32}2 {b32}1 {b32}1 {s32}2", bind_mma, 65, 75},
    {MMA "m16n8k16.row.col{.satfinite}.s32.u8|s8.u8|s8.s32", "={s32}4 {b32}2 {b32}1 {s32}4", bind_mma, 70, 80},
    {MMA "m16n8k32.row.col{.satfinite}.s32.u8|s8.u8|s8.s32", "={s32}4 {b32}4 {b32}2 {s32}4", bind_mma, 70, 80},
    {MMA "m8n8k32.row.col{.satfinite}.s32.u4|s4.u4|s4.s32", "={s32}2 {b32}1 {b32}1 {s32}2", bind_mma, 65, 75},
    {MMA "m16n8k32.row.col{.satfinite}.s32.u4|s4.u4|s4.s32", "={s32}4 {b32}2 {b32}1 {s32}4", bind_mma, 70, 80},
    {MMA "m16n8k64.row.col{.satfinite}.s32.u4|s4.u4|s4.s32", "={s32}4 {b32}4 {b32}2 {s32}4", bind_mma, 70, 80},
    {MMA "m8n8k128.row.col.s32.b1.b1.s32.xor|and.popc", "={s32}2 {b32}1 {b32}1 {s32}2", bind_mma, 70, 75},
    {MMA "m16n8k128.row.col.s32.b1.b1.s32.xor|and.popc", "={s32}4 {b32}2 {b32}1 {s32}4", bind_mma, 70, 80},
    {MMA "m16n8k256.row.col.s32.b1.b1.s32.xor|and.popc", "={s32}4 {b32}4 {b32}2 {s32}4", bind_mma, 70, 80},

    {SPARSE "m16n8k16.row.col.f16.f16.f16.f16", "={b32}2 {b32}2 {b32}2 {b32}2 b32 imm", bind_mma, 71, 80},
    {SPARSE "m16n8k32.row.col.f16.f16.f16.f16", "={b32}2 {b32}4 {b32}4 {b32}2 b32 imm", bind_mma, 71, 80},
    {SPARSE "m16n8k16.row.col.f32.f16.f16.f32", "={f32}4 {b32}2 {b32}2 {f32}4 b32 imm", bind_mma, 71, 80},
    {SPARSE "m16n8k32.row.col.f32.f16.f16.f32", "={f32}4 {b32}4 {b32}4 {f32}4 b32 imm", bind_mma, 71, 80},
    {SPARSE "m16n8k16.row.col.f32.bf16.bf16.f32", "={f32}4 {b32}2 {b32}2 {f32}4 b32 imm", bind_mma, 71, 80},
    {SPARSE "m16n8k32.row.col.f32.bf16.bf16.f32", "={f32}4 {b32}4 {b32}4 {f32}4 b32 imm", bind_mma, 71, 80},
    {SPARSE "m16n8k8.row.col.f32.tf32.tf32.f32", "={f32}4 {b32}2 {b32}2 {f32}4 b32 imm", bind_mma, 71, 80},
    {SPARSE "m16n8k16.row.col.f32.tf32.tf32.f32", "={f32}4 {b32}4 {b32}4 {f32}4 b32 imm", bind_mma, 71, 80},
    {SPARSE "m16n8k64.row.col.f32.e4m3|e5m2.e4m3|e5m2.f32", "={f32}4 {b32}4 {b32}4 {f32}4 b32 imm", bind_mma, 84, 89},
    {SPARSE "m16n8k32.row.col{.satfinite}.s32.u8|s8.u8|s8.s32", "={s32}4 {b32}2 {b32}2 {s32}4 b32 imm", bind_mma, 71,
     80},
    {SPARSE "m16n8k64.row.col{.satfinite}.s32.u8|s8.u8|s8.s32", "={s32}4 {b32}4 {b32}4 {s32}4 b32 imm", bind_mma, 71,
     80},
    {SPARSE "m16n8k64.row.col{.satfinite}.s32.u4|s4.u4|s4.s32", "={s32}4 {b32}2 {b32}2 {s32}4 b32 imm", bind_mma, 71,
     80},
    {SPARSE "m16n8k128.row.col{.satfinite}.s32.u4|s4.u4|s4.s32", "={s32}4 {b32}4 {b32}4 {s32}4 b32 imm", bind_mma, 71,
     80},

    {LOAD("a|b") LARGE WHERE ".f16", "={b32}8 [m] u32?", bind_transfer, 60, 70},
    {LOAD("a|b") ".m16n16k16" WHERE ".bf16", "={b32}4 [m] u32?", bind_transfer, 70, 80},
    {LOAD("a") ".m8n32k16" WHERE ".bf16", "={b32}2 [m] u32?", bind_transfer, 70, 80},
    {LOAD("b") ".m8n32k16" WHERE ".bf16", "={b32}8 [m] u32?", bind_transfer, 70, 80},
    {LOAD("a") ".m32n8k16" WHERE ".bf16", "={b32}8 [m] u32?", bind_transfer, 70, 80},
    {LOAD("b") ".m32n8k16" WHERE ".bf16", "={b32}2 [m] u32?", bind_transfer, 70, 80},
    {LOAD("a|b") ".m16n16k8" WHERE ".tf32", "={b32}4 [m] u32?", bind_transfer, 70, 80},
    {LOAD("a|b") ".m8n8k4" WHERE ".f64", "={f64}1 [m] u32?", bind_transfer, 70, 80},
    {LOAD("a|b") ".m16n16k16" WHERE ".u8|s8", "={b32}2 [m] u32?", bind_transfer, 63, 72},
    {LOAD("a") ".m8n32k16" WHERE ".u8|s8", "={b32}1 [m] u32?", bind_transfer, 63, 72},
    {LOAD("b") ".m8n32k16" WHERE ".u8|s8", "={b32}4 [m] u32?", bind_transfer, 63, 72},
    {LOAD("a") ".m32n8k16" WHERE ".u8|s8", "={b32}4 [m] u32?", bind_transfer, 63, 72},
    {LOAD("b") ".m32n8k16" WHERE ".u8|s8", "={b32}1 [m] u32?", bind_transfer, 63, 72},
    {"wmma.load.a.sync.aligned.row.m8n8k32" WHERE ".u4|s4", "={b32}1 [m] u32?", bind_transfer, 63, 75},
    {"wmma.load.b.sync.aligned.col.m8n8k32" WHERE ".u4|s4", "={b32}1 [m] u32?", bind_transfer, 63, 75},
    {"wmma.load.a.sync.aligned.row.m8n8k128" WHERE ".b1", "={b32}1 [m] u32?", bind_transfer, 63, 75},
    {"wmma.load.b.sync.aligned.col.m8n8k128" WHERE ".b1", "={b32}1 [m] u32?", bind_transfer, 63, 75},
    {LOAD("c") LARGE WHERE ".f16", "={b32}4 [m] u32?", bind_transfer, 60, 70},
    {LOAD("c") LARGE WHERE ".f32", "={f32}8 [m] u32?", bind_transfer, 60, 70},
    {LOAD("c") LARGE WHERE ".s32", "={s32}8 [m] u32?", bind_transfer, 63, 72},
    {LOAD("c") ".m16n16k8" WHERE ".f32", "={f32}8 [m] u32?", bind_transfer, 70, 80},
    {LOAD("c") ".m8n8k4" WHERE ".f64", "={f64}2 [m] u32?", bind_transfer, 70, 80},
    {LOAD("c") ".m8n8k32|m8n8k128" WHERE ".s32", "={s32}2 [m] u32?", bind_transfer, 63, 75},
    {STORE LARGE WHERE ".f16", "[m] {b32}4 u32?", bind_transfer, 60, 70},
    {STORE LARGE WHERE ".f32", "[m] {f32}8 u32?", bind_transfer, 60, 70},
    {STORE LARGE WHERE ".s32", "[m] {s32}8 u32?", bind_transfer, 63, 72},
    {STORE ".m16n16k8" WHERE ".f32", "[m] {f32}8 u32?", bind_transfer, 70, 80},
    {STORE ".m8n8k4" WHERE ".f64", "[m] {f64}2 u32?", bind_transfer, 70, 80},
    {STORE ".m8n8k32|m8n8k128" WHERE ".s32", "[m] {s32}2 u32?", bind_transfer, 63, 75},

    {WMMA "row|col.row|col" LARGE ".f16.f16", "={b32}4 {b32}8 {b32}8 {b32}4", bind_wmma, 60, 70},
    {WMMA "row|col.row|col" LARGE ".f16.f32", "={b32}4 {b32}8 {b32}8 {f32}8", bind_wmma, 60, 70},
    {WMMA "row|col.row|col" LARGE ".f32.f16", "={f32}8 {b32}8 {b32}8 {b32}4", bind_wmma, 60, 70},
    {WMMA "row|col.row|col" LARGE ".f32.f32", "={f32}8 {b32}8 {b32}8 {f32}8", bind_wmma, 60, 70},
    {WMMA "row|col.row|col.m16n16k16.f32.bf16.bf16.f32", "={f32}8 {b32}4 {b32}4 {f32}8", bind_wmma, 70, 80},
    {WMMA "row|col.row|col.m8n32k16.f32.bf16.bf16.f32", "={f32}8 {b32}2 {b32}8 {f32}8", bind_wmma, 70, 80},
    {WMMA "row|col.row|col.m32n8k16.f32.bf16.bf16.f32", "={f32}8 {b32}8 {b32}2 {f32}8", bind_wmma, 70, 80},
    {WMMA "row|col.row|col.m16n16k8.f32.tf32.tf32.f32", "={f32}8 {b32}4 {b32}4 {f32}8", bind_wmma, 70, 80},
    {WMMA "row|col.row|col.m8n8k4{.rnd}.f64.f64.f64.f64", "={f64}2 {f64}1 {f64}1 {f64}2", bind_wmma, 70, 80},
    {WMMA "row|col.row|col.m16n16k16{.satfinite}.s32.u8.u8.s32", "={s32}8 {b32}2 {b32}2 {s32}8", bind_wmma, 63, 72},
    {WMMA "row|col.row|col.m16n16k16{.satfinite}.s32.s8.s8.s32", "={s32}8 {b32}2 {b32}2 {s32}8", bind_wmma, 63, 72},
    {WMMA "row|col.row|col.m8n32k16{.satfinite}.s32.u8.u8.s32", "={s32}8 {b32}1 {b32}4 {s32}8", bind_wmma, 63, 72},
    {WMMA "row|col.row|col.m8n32k16{.satfinite}.s32.s8.s8.s32", "={s32}8 {b32}1 {b32}4 {s32}8", bind_wmma, 63, 72},
    {WMMA "row|col.row|col.m32n8k16{.satfinite}.s32.u8.u8.s32", "={s32}8 {b32}4 {b32}1 {s32}8", bind_wmma, 63, 72},
    {WMMA "row|col.row|col.m32n8k16{.satfinite}.s32.s8.s8.s32", "={s32}8 {b32}4 {b32}1 {s32}8", bind_wmma, 63, 72},
    {WMMA "row.col.m8n8k32{.satfinite}.s32.u4.u4.s32", "={s32}2 {b32}1 {b32}1 {s32}2", bind_wmma, 63, 75},
    {WMMA "row.col.m8n8k32{.satfinite}.s32.s4.s4.s32", "={s32}2 {b32}1 {b32}1 {s32}2", bind_wmma, 63, 75},
    {"wmma.mma.xor|and.popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32", "={s32}2 {b32}1 {b32}1 {s32}2", bind_wmma, 63,
     75},
};

}  // namespace

std::span<const Row> matrix_rows() { return kRows; }

}  // namespace cudasim
