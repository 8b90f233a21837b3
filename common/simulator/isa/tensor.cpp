// Copies of boxes of tensors, as a tensor map describes them. PTX ISA, "cp.async.bulk.tensor",
// "cp.reduce.async.bulk.tensor", "tensormap.replace", "Tensors".
#include "common/simulator/exec/observer.hpp"
#include "common/simulator/isa/bulk.hpp"
#include "common/simulator/isa/floats.hpp"
#include "common/simulator/memory/tensor_map.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace cudasim {
namespace {

constexpr u16 kNanOutside = 0x7ff7;  // see fma.oob; in wider numbers it is there again and again

// Beside the operands' spaces in Instruction::control.
struct Control {
  u32 dimensions;
  bool multicast;
  BulkReduction operation;
  bool im2col;
};
u32 packed(u32 dimensions, bool multicast, BulkReduction operation, bool im2col) {
  return dimensions << kFlags | u32{multicast} << (kFlags + 3) | static_cast<u32>(operation) << (kFlags + 4) |
         u32{im2col} << (kFlags + 7);
}
Control unpacked(u32 control) {
  return {control >> kFlags & 7, (control >> (kFlags + 3) & 1) != 0,
          static_cast<BulkReduction>(control >> (kFlags + 4) & 7), (control >> (kFlags + 7) & 1) != 0};
}

[[noreturn]] void refuse(u32 lane, std::string what) {
  throw Fault{.kind = FaultKind::illegal_instruction, .what = std::move(what), .lane = lane};
}

struct Box {
  TensorMap map;
  std::array<i64, TensorMap::kMostDimensions> start{};
  std::array<u32, TensorMap::kMostDimensions> count{};   // elements along each dimension, steps taken
  std::array<u32, TensorMap::kMostDimensions> offset{};  // im2col: added to each pixel's place
  u32 element = 0, rows = 1, row_bytes = 0;

  u32 bytes() const { return rows * row_bytes; }
};

// `offsets`: of im2col, one for each dimension between the first and the last, or null.
Box box_of(Warp& warp, const Instruction& i, u32 operand, Slot slot, const Slot* coordinates, const Slot* offsets,
           u32 lane) {
  const auto [dimensions, multicast, operation, im2col] = unpacked(i.control);
  Box box;
  const u64 map = operand_address(warp, i, operand, slot, lane);
  // The TMA reads the map itself, and finds no memory of a thread or a block: an illegal address on an H200.
  if (const Space space = space_of(map); space == Space::local || space == Space::shared) {
    throw Fault{.kind = FaultKind::illegal_address,
                .what = std::string("a tensor copy whose tensor map is in ") +
                        (space == Space::local ? "local memory; if it is a parameter, declare it __grid_constant__"
                                               : "shared memory"),
                .lane = lane};
  }
  const std::byte* at = access(warp, lane, space_of_operand(i, operand), operand_address(warp, i, operand, slot, lane),
                               sizeof(TensorMap), alignof(TensorMap), Access::read, nullptr);
  std::memcpy(&box.map, at, sizeof box.map);
  if (box.map.mark != TensorMap::kMark) refuse(lane, "a tensor copy whose tensor map is none");
  if (box.map.dimensions != dimensions) {
    refuse(lane, "a tensor copy with " + std::to_string(dimensions) + " coordinates of a tensor map with " +
                     std::to_string(box.map.dimensions) + " dimensions");
  }
  if (box.map.im2col != im2col) {
    refuse(lane, im2col ? "an im2col copy with a tensor map of tiles" : "a copy of tiles with a tensor map for im2col");
  }
  if (box.map.wide) refuse(lane, "a copy with a tensor map for im2col::w, which is not simulated");
  if (box.map.interleave != 0) refuse(lane, "a tensor copy in an interleaved layout, which is not simulated");
  box.map.step[0] = 1;  // copies have no steps in the first dimension
  box.element = box.map.element();
  // Not in the manual: others are an error on an H200.
  if (warp.in<i32>(coordinates[0])[lane] * i64{box.element} % 16 != 0) {
    refuse(lane, "a tensor copy from or to coordinate " + std::to_string(warp.in<i32>(coordinates[0])[lane]) +
                     ", which is not at a multiple of 16 bytes");
  }
  if (im2col) {
    for (u32 k = 0; k < dimensions; ++k) {
      box.start[k] = warp.in<i32>(coordinates[k])[lane];
      if (offsets != nullptr && k != 0 && k + 1 < dimensions) box.offset[k] = warp.in<u16>(offsets[k - 1])[lane];
    }
    box.count[0] = box.map.box[0];
    box.rows = box.map.pixels;
    box.row_bytes = box.count[0] * box.element;
    return box;
  }
  for (u32 k = 0; k < dimensions; ++k) {
    box.start[k] = warp.in<i32>(coordinates[k])[lane];
    box.count[k] = (box.map.box[k] + box.map.step[k] - 1u) / box.map.step[k];
    if (k != 0) box.rows *= box.count[k];
  }
  box.row_bytes = box.count[0] * box.element;
  return box;
}

// One row of a box, whose first element would be at `address`: f for what lies within the tensor.
template <class F>
void for_row(const Box& box, u32 row, u64 address, F f) {
  const TensorMap& map = box.map;
  const u32 offset = row * box.row_bytes;
  if (map.step[0] == 1) {
    const i64 first = std::max<i64>(0, -box.start[0]);
    const i64 end = std::min<i64>(box.count[0], i64{map.size[0]} + 1 - box.start[0]);
    if (first < end) {
      f(offset + u32(first) * box.element, address + u64(box.start[0] + first) * box.element,
        u32(end - first) * box.element);
    }
    return;
  }
  for (u32 k = 0; k < box.count[0]; ++k) {
    const i64 at = box.start[0] + i64{k} * map.step[0];
    if (at >= 0 && at <= i64{map.size[0]}) f(offset + k * box.element, address + u64(at) * box.element, box.element);
  }
}

// Pixel by pixel from the start on: along a row of the bounding box, then the next row, the next plane, the next image.
template <class F>
void for_pixels(const Box& box, F f) {
  const TensorMap& map = box.map;
  const u32 last = map.dimensions - 1u;
  auto at = box.start;
  for (u32 pixel = 0; pixel < box.rows; ++pixel) {
    u64 address = map.address;
    bool inside = true;
    for (u32 k = 1; k <= last; ++k) {
      const i64 place = at[k] + box.offset[k];
      inside &= place >= 0 && place <= i64{map.size[k]};
      address += u64(place) * map.stride[k - 1];
    }
    if (inside) for_row(box, pixel, address, f);
    for (u32 k = 1; k <= last; ++k) {
      at[k] += k == last ? 1 : map.step[k];
      if (k == last || at[k] <= i64{map.size[k]} + map.upper[k - 1]) break;
      at[k] = map.lower[k - 1];
    }
  }
}

// Calls f(offset in the box, address in global memory, bytes) for each stretch that lies within the tensor.
template <class F>
void for_stretches(const Box& box, F f) {
  const TensorMap& map = box.map;
  if (map.im2col) return for_pixels(box, f);
  for (u32 row = 0; row < box.rows; ++row) {
    u64 address = map.address;
    bool inside = true;
    for (u32 k = 1, rest = row; k < map.dimensions; rest /= box.count[k], ++k) {
      const i64 at = box.start[k] + i64{rest % box.count[k]} * map.step[k];
      inside &= at >= 0 && at <= i64{map.size[k]};
      address += u64(at) * map.stride[k - 1];
    }
    if (inside) for_row(box, row, address, f);
  }
}

// Where 16 bytes of a box go in shared memory: bits of the address from 4 on are mixed with those from 7 on.
u64 swizzled(u64 address, Swizzle swizzle) {
  const u64 mask = (u64{1} << static_cast<u32>(swizzle)) - 1;
  return address ^ (address >> 7 & mask) << 4;
}
// The places in shared memory of a box's 16-byte pieces, checked.
std::vector<std::byte*> pieces(Warp& warp, u32 lane, Space space, u64 address, const Box& box, Access kind) {
  std::vector<std::byte*> result;
  if (address % 128 != 0) access(warp, lane, space, address, box.bytes(), 128, kind, nullptr);  // says what is wrong
  for (u32 at = 0; at < box.bytes(); at += 16)
    result.push_back(access(warp, lane, space, swizzled(address + at, box.map.swizzle), 16, 16, kind, nullptr));
  return result;
}

// To the nearest, ties to even; there is one NaN. As an H200 does it: the manual only says that it is done.
u32 rounded_to_tf32(u32 bits) {
  constexpr u32 kDropped = 13, kNan = 0x7fff'e000;
  if ((bits & 0x7fff'ffff) > 0x7f80'0000) return kNan;
  const u32 odd = bits >> kDropped & 1;
  return (bits + (1u << (kDropped - 1)) - 1 + odd) >> kDropped << kDropped;
}

std::vector<std::byte> read_box(Warp& warp, u32 lane, const Box& box) {
  std::vector<std::byte> bytes((box.bytes() + 15) / 16 * 16);
  if (box.map.fill_nan) {
    for (u32 at = 0; at < box.bytes(); at += 2) std::memcpy(&bytes[at], &kNanOutside, 2);
  }
  for_stretches(box, [&](u32 offset, u64 address, u32 size) {
    copy_bytes(&bytes[offset], access(warp, lane, Space::global, address, size, box.element, Access::read, nullptr),
               size);
    for (u32 at = offset; box.map.round && at < offset + size; at += 4) {
      u32 word;
      std::memcpy(&word, &bytes[at], 4);
      word = rounded_to_tf32(word);
      std::memcpy(&bytes[at], &word, 4);
    }
  });
  return bytes;
}

// [to], [map, {coordinates}], [mbarrier] [, offsets of im2col] [, mask of the cluster's blocks]
void run_load(Warp& warp, const Instruction& i) {
  if (warp.observer != nullptr) warp.observer->asynchronous();
  const Slot* slot = i.wide != nullptr ? i.wide : i.slot;
  const Control c = unpacked(i.control);
  for (const u32 lane : set_bits(warp.mask)) {
    const Slot* after = slot + 3 + c.dimensions;
    const Box box = box_of(warp, i, 1, slot[1], slot + 2, after, lane);
    const std::vector<std::byte> bytes = read_box(warp, lane, box);
    const u64 to = operand_address(warp, i, 0, slot[0], lane);
    const u64 barrier = operand_address(warp, i, 2, slot[2 + c.dimensions], lane);
    const auto send = [&](Space space, u64 to, Space barrier_space, u64 barrier) {
      deliver(warp, lane, mbarrier_at(warp, lane, barrier_space, barrier), box.bytes(),
              [bytes, places = pieces(warp, lane, space, to, box, Access::write)] {
                for (std::size_t k = 0; k < places.size(); ++k) copy_bytes(places[k], &bytes[k * 16], 16);
              });
    };
    if (!c.multicast) {
      send(space_of_operand(i, 0), to, space_of_operand(i, 2), barrier);
      continue;
    }
    for (const u32 rank : set_bits(warp.in<u16>(after[c.im2col ? c.dimensions - 2 : 0])[lane])) {
      const u64 block = u64{rank} * kSharedStride;
      send(Space::shared_cluster, block + to % kSharedStride, Space::shared_cluster, block + barrier % kSharedStride);
    }
  }
  warp.polls = 0;
}

// Not in the manual: an H200 stops at stores that begin before the tensor (they may go beyond its end), and at im2col
// stores whose bounding box is larger than the tensor on any side.
void check_store(const Box& box, u32 lane) {
  for (u32 k = 0; k < box.map.dimensions; ++k) {
    if (box.start[k] < 0)
      refuse(lane, "a store to a tensor at coordinate " + std::to_string(box.start[k]) + ", before its beginning");
  }
  for (u32 k = 0; box.map.im2col && k + 2 < box.map.dimensions; ++k) {
    if (box.map.lower[k] < 0 || box.map.upper[k] > 0)
      refuse(lane, "a store of pixels (im2col) whose bounding box goes beyond the tensor");
  }
}

// [map, {coordinates}], [from]. What lies outside of the tensor is not written.
template <bool kReduce>
void run_store(Warp& warp, const Instruction& i) {
  if (warp.observer != nullptr) warp.observer->asynchronous();
  const Slot* slot = i.wide != nullptr ? i.wide : i.slot;
  const Control c = unpacked(i.control);
  for (const u32 lane : set_bits(warp.mask)) {
    const Box box = box_of(warp, i, 0, slot[0], slot + 1, nullptr, lane);
    check_store(box, lane);
    const u64 from = operand_address(warp, i, 1, slot[1 + c.dimensions], lane);
    struct Stretch {
      u32 offset, size;
      std::byte* to;
    };
    std::vector<Stretch> stretches;
    for_stretches(box, [&](u32 offset, u64 address, u32 size) {
      stretches.push_back(
          {offset, size, access(warp, lane, Space::global, address, size, box.element, Access::write, nullptr)});
    });
    warp.block->async.bulk(warp, lane,
                           [=, places = pieces(warp, lane, space_of_operand(i, 1), from, box, Access::read)] {
                             std::vector<std::byte> bytes(places.size() * 16);
                             for (std::size_t k = 0; k < places.size(); ++k) copy_bytes(&bytes[k * 16], places[k], 16);
                             for (const Stretch& s : stretches) {
                               if (kReduce)
                                 reduce_bytes(c.operation, box.map.type, s.to, &bytes[s.offset], s.size);
                               else
                                 copy_bytes(s.to, &bytes[s.offset], s.size);
                             }
                           });
  }
  warp.polls = 0;
}

// [map, {coordinates}]: only the map is looked at.
void run_prefetch(Warp& warp, const Instruction& i) {
  const Slot* slot = i.wide != nullptr ? i.wide : i.slot;
  for (const u32 lane : set_bits(warp.mask))
    box_of(warp, i, 0, slot[0], slot + 1, slot + 1 + unpacked(i.control).dimensions, lane);
}

u32 dimensions(const Form& form) {
  for (u32 n = 1; n <= TensorMap::kMostDimensions; ++n) {
    const char name[] = {char('0' + n), 'd', '\0'};
    if (form.has(name)) return n;
  }
  return 0;
}
// Operands: to, map, coordinates, mbarrier.
Bound bind_load(const Form& form) {
  const Space to = form.has("shared::cluster") ? Space::shared_cluster : Space::shared;
  return {run_load,
          operand_control(to, form.width[0]) | operand_control(Space::generic, form.width[1]) << kOperandBits |
              operand_control(to, form.width[3]) << (2 * kOperandBits) |
              packed(dimensions(form), form.has("multicast::cluster"), BulkReduction::add, form.has("im2col"))};
}
// Map, coordinates, from.
template <bool kReduce>
Bound bind_store(const Form& form) {
  return {run_store<kReduce>, operand_control(Space::generic, form.width[0]) |
                                  operand_control(Space::shared, form.width[2]) << kOperandBits |
                                  packed(dimensions(form), false, bulk_reduction(form), form.has("im2col_no_offs"))};
}
Bound bind_prefetch(const Form& form) {
  return {run_prefetch, operand_control(Space::generic, form.width[0]) |
                            packed(dimensions(form), false, BulkReduction::add, form.has("im2col"))};
}

// tensormap.replace: slots map, (ordinal,) new value. Control beside the space: which field.
enum Field : u32 { kAddress, kRank, kBox, kSize, kStride, kStep, kElementType, kInterleave, kSwizzle, kFill };
constexpr std::string_view kFields[] = {"global_address", "rank",           "box_dim",  "global_dim",
                                        "global_stride",  "element_stride", "elemtype", "interleave_layout",
                                        "swizzle_mode",   "fill_mode"};

// The manual's table of element types: f32 and tf32 are there twice, the second time with .ftz, which copies do not
// heed on an H200.
constexpr Type kElementTypes[] = {Type::u8,  Type::u16, Type::u32, Type::s32,  Type::u64, Type::s64, Type::f16,
                                  Type::f32, Type::f32, Type::f64, Type::bf16, Type::f32, Type::f32};
constexpr u32 kFirstTf32 = 11;

void replace(TensorMap& map, u32 field, u32 ordinal, u64 value, u32 lane) {
  const auto limit = [&](u64 most, const char* what) {
    if (value > most) refuse(lane, std::string("tensormap.replace with a value that no tensor map has for ") + what);
  };
  if (ordinal >= TensorMap::kMostDimensions - (field == kStride ? 1 : 0))
    refuse(lane, "tensormap.replace of a dimension that no tensor has");
  switch (field) {
    case kAddress: map.address = value; return;
    case kRank:
      limit(TensorMap::kMostDimensions - 1, ".rank");
      map.dimensions = u8(value + 1);
      return;
    case kBox:
      limit(256, ".box_dim");
      map.box[ordinal] = u16(value);
      return;
    case kSize: map.size[ordinal] = u32(value - 1); return;
    case kStride: map.stride[ordinal] = value; return;
    case kStep:
      limit(8, ".element_stride");
      map.step[ordinal] = u8(std::max<u64>(value, 1));
      return;
    case kElementType:
      limit(std::size(kElementTypes) - 1, ".elemtype");
      map.type = kElementTypes[value];
      map.round = value >= kFirstTf32;
      return;
    case kInterleave:
      limit(2, ".interleave_layout");
      map.interleave = u8(value * 16);
      return;
    case kSwizzle:
      limit(3, ".swizzle_mode");
      map.swizzle = Swizzle(value);
      return;
    default:
      limit(1, ".fill_mode");
      map.fill_nan = value != 0;
      return;
  }
}
void run_replace(Warp& warp, const Instruction& i) {
  const u32 field = i.control >> kFlags & 15;
  const bool dimension = field >= kBox && field <= kStep, wide = field == kAddress || field == kStride;
  for (const u32 lane : set_bits(warp.mask)) {
    std::byte* at = access(warp, lane, space_of_operand(i, 0), operand_address(warp, i, 0, i.slot[0], lane),
                           sizeof(TensorMap), alignof(TensorMap), Access::write, nullptr);
    TensorMap map;
    std::memcpy(&map, at, sizeof map);
    if (std::all_of(at, at + sizeof map, [](std::byte b) { return b == std::byte{0}; })) map = TensorMap::of_zeros();
    if (map.mark != TensorMap::kMark) refuse(lane, "tensormap.replace in what is no tensor map");
    const Slot value = i.slot[dimension ? 2 : 1];
    replace(map, field, dimension ? warp.in<u32>(i.slot[1])[lane] : 0,
            wide ? warp.in<u64>(value)[lane] : warp.in<u32>(value)[lane], lane);
    std::memcpy(at, &map, sizeof map);
  }
}
Bound bind_replace(const Form& form) {
  const auto* field =
      std::find_if(std::begin(kFields), std::end(kFields), [&](std::string_view name) { return form.has(name); });
  return {run_replace, operand_control(form.space, form.width[0]) | u32(field - std::begin(kFields)) << kFlags};
}

// A tensor map from shared memory, where it was changed, to global memory, where copies find it.
void run_copy_map(Warp& warp, const Instruction& i) {
  for (const u32 lane : set_bits(warp.mask)) {
    if (warp.in<u32>(i.slot[2])[lane] != sizeof(TensorMap)) refuse(lane, "a tensor map of a size other than 128 bytes");
    const auto place = [&](u32 operand, Access kind) {
      return access(warp, lane, space_of_operand(i, operand), operand_address(warp, i, operand, i.slot[operand], lane),
                    sizeof(TensorMap), alignof(TensorMap), kind, nullptr);
    };
    copy_bytes(place(0, Access::write), place(1, Access::read), sizeof(TensorMap));
  }
}
Bound bind_copy_map(const Form& form) {
  return {run_copy_map, operand_control(Space::global, form.width[0]) | operand_control(Space::shared, form.width[1])
                                                                            << kOperandBits};
}

#define LOAD_TO(space, n, mode, offsets, ptx)                                                              \
  {"cp.async.bulk.tensor." n "d." space ".global" mode ".mbarrier::complete_tx::bytes",                    \
   "[m] [m] {s32}" n " [m]" offsets, bind_load, ptx, 90},                                                  \
      {"cp.async.bulk.tensor." n "d." space ".global" mode ".mbarrier::complete_tx::bytes.L2::cache_hint", \
       "[m] [m] {s32}" n " [m]" offsets " b64", bind_load, ptx, 90}
#define LOAD_AS(n, mode, offsets)                                                                                    \
  LOAD_TO("shared::cluster", n, mode, offsets, 80), LOAD_TO("shared::cta", n, mode, offsets, 86),                    \
      {"cp.async.bulk.tensor." n "d.shared::cluster.global" mode ".mbarrier::complete_tx::bytes.multicast::cluster", \
       "[m] [m] {s32}" n " [m]" offsets " b16", bind_load, 80, 90},                                                  \
      {"cp.async.bulk.tensor." n "d.shared::cluster.global" mode                                                     \
       ".mbarrier::complete_tx::bytes.multicast::cluster.L2::cache_hint",                                            \
       "[m] [m] {s32}" n " [m]" offsets " b16 b64", bind_load, 80, 90}
#define STORE_AS(n, mode)                                                                                            \
  {"cp.async.bulk.tensor." n "d.global.shared::cta" mode ".bulk_group", "[m] {s32}" n " [m]", bind_store<false>, 80, \
   90},                                                                                                              \
      {"cp.async.bulk.tensor." n "d.global.shared::cta" mode ".bulk_group.L2::cache_hint", "[m] {s32}" n " [m] b64", \
       bind_store<false>, 80, 90},                                                                                   \
      {"cp.reduce.async.bulk.tensor." n "d.global.shared::cta.add|min|max|inc|dec|and|or|xor" mode ".bulk_group",    \
       "[m] {s32}" n " [m]", bind_store<true>, 80, 90},                                                              \
      {"cp.reduce.async.bulk.tensor." n "d.global.shared::cta.add|min|max|inc|dec|and|or|xor" mode                   \
       ".bulk_group.L2::cache_hint",                                                                                 \
       "[m] {s32}" n " [m] b64", bind_store<true>, 80, 90}
#define PREFETCH_AS(n, mode, offsets)                                                                         \
  {"cp.async.bulk.prefetch.tensor." n "d.L2.global" mode, "[m] {s32}" n offsets, bind_prefetch, 80, 90},      \
      {"cp.async.bulk.prefetch.tensor." n "d.L2.global" mode ".L2::cache_hint", "[m] {s32}" n offsets " b64", \
       bind_prefetch, 80, 90}
#define TILES(n) LOAD_AS(n, "{.tile}", ""), STORE_AS(n, "{.tile}"), PREFETCH_AS(n, "{.tile}", "")
#define IM2COL(n, offsets) \
  LOAD_AS(n, ".im2col", offsets), STORE_AS(n, ".im2col_no_offs"), PREFETCH_AS(n, ".im2col", offsets)

const Row kRows[] = {
    TILES("1"),
    TILES("2"),
    TILES("3"),
    TILES("4"),
    TILES("5"),
    IM2COL("3", " {b16}1"),
    IM2COL("4", " {b16}2"),
    IM2COL("5", " {b16}3"),
    {"tensormap.replace.tile.global_address{.global|shared::cta}.b1024.b64", "[m] b64", bind_replace, 83, kOnly90a,
     counts_as(Class::other)},
    {"tensormap.replace.tile.rank|elemtype|interleave_layout|swizzle_mode|fill_mode{.global|shared::cta}.b1024.b32",
     "[m] b32", bind_replace, 83, kOnly90a, counts_as(Class::other)},
    {"tensormap.replace.tile.box_dim|global_dim|element_stride{.global|shared::cta}.b1024.b32", "[m] b32 b32",
     bind_replace, 83, kOnly90a, counts_as(Class::other)},
    {"tensormap.replace.tile.global_stride{.global|shared::cta}.b1024.b64", "[m] b32 b64", bind_replace, 83, kOnly90a,
     counts_as(Class::other)},
    {"tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.cta|cluster|gpu|sys.sync.aligned",
     "[m] [m] b32!(128)", bind_copy_map, 83, 90, counts_as(Class::other)},
};

}  // namespace

std::span<const Row> tensor_rows() { return kRows; }

}  // namespace cudasim
