// Copies of boxes of tensors, as a tensor map describes them. PTX ISA, "cp.async.bulk.tensor",
// "cp.reduce.async.bulk.tensor", "Tensors". Boxes are tiles; im2col is not simulated.
#include "common/simulator/check/watch.hpp"
#include "common/simulator/isa/bulk.hpp"
#include "common/simulator/isa/floats.hpp"
#include "common/simulator/memory/tensor_map.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace cudasim {
namespace {

constexpr u16 kNanOutside = 0x7ff7;  // see fma.oob

// Beside the operands' spaces in Instruction::control.
struct Control {
  u32 dimensions;
  bool multicast;
  BulkReduction operation;
};
u32 packed(u32 dimensions, bool multicast, BulkReduction operation) {
  return dimensions << kFlags | u32{multicast} << (kFlags + 3) | static_cast<u32>(operation) << (kFlags + 4);
}
Control unpacked(u32 control) {
  return {control >> kFlags & 7, (control >> (kFlags + 3) & 1) != 0,
          static_cast<BulkReduction>(control >> (kFlags + 4) & 7)};
}

[[noreturn]] void refuse(u32 lane, std::string what) {
  throw Fault{.kind = FaultKind::illegal_instruction, .what = std::move(what), .lane = lane};
}

struct Box {
  TensorMap map;
  std::array<i64, TensorMap::kMostDimensions> start{};
  std::array<u32, TensorMap::kMostDimensions> count{};  // elements along each dimension, steps taken
  u32 element = 0, rows = 1, row_bytes = 0;

  u32 bytes() const { return rows * row_bytes; }
};

Box box_of(Warp& warp, const Instruction& i, u32 operand, Slot slot, const Slot* coordinates, u32 dimensions, u32 lane) {
  Box box;
  const std::byte* at = access(warp, lane, space_of_operand(i, operand), operand_address(warp, i, operand, slot, lane),
                               sizeof(TensorMap), alignof(TensorMap), Access::read, nullptr);
  std::memcpy(&box.map, at, sizeof box.map);
  if (box.map.mark != TensorMap::kMark) refuse(lane, "a tensor copy whose tensor map is none");
  if (box.map.dimensions != dimensions) {
    refuse(lane, "a tensor copy with " + std::to_string(dimensions) + " coordinates of a tensor map with " +
                     std::to_string(box.map.dimensions) + " dimensions");
  }
  box.element = cudasim::bytes(box.map.type);
  for (u32 k = 0; k < dimensions; ++k) {
    box.start[k] = warp.in<i32>(coordinates[k])[lane];
    box.count[k] = (box.map.box[k] + box.map.step[k] - 1u) / box.map.step[k];
    if (k != 0) box.rows *= box.count[k];
  }
  box.row_bytes = box.count[0] * box.element;
  return box;
}

// Calls f(offset in the box, address in global memory, bytes) for each stretch that lies within the tensor.
template <class F>
void for_stretches(const Box& box, F f) {
  const TensorMap& map = box.map;
  for (u32 row = 0; row < box.rows; ++row) {
    u64 address = map.address;
    bool inside = true;
    for (u32 k = 1, rest = row; k < map.dimensions; rest /= box.count[k], ++k) {
      const i64 at = box.start[k] + i64{rest % box.count[k]} * map.step[k];
      inside &= at >= 0 && at <= i64{map.size[k]};
      address += u64(at) * map.stride[k - 1];
    }
    if (!inside) continue;
    const u32 offset = row * box.row_bytes;
    if (map.step[0] == 1) {
      const i64 first = std::max<i64>(0, -box.start[0]);
      const i64 end = std::min<i64>(box.count[0], i64{map.size[0]} + 1 - box.start[0]);
      if (first < end) {
        f(offset + u32(first) * box.element, address + u64(box.start[0] + first) * box.element,
          u32(end - first) * box.element);
      }
      continue;
    }
    for (u32 k = 0; k < box.count[0]; ++k) {
      const i64 at = box.start[0] + i64{k} * map.step[0];
      if (at >= 0 && at <= i64{map.size[0]})
        f(offset + k * box.element, address + u64(at) * box.element, box.element);
    }
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

std::vector<std::byte> read_box(Warp& warp, u32 lane, const Box& box) {
  std::vector<std::byte> bytes((box.bytes() + 15) / 16 * 16);
  if (box.map.fill_nan) {
    for (u32 at = 0; at < box.bytes(); at += 2) std::memcpy(&bytes[at], &kNanOutside, 2);
  }
  for_stretches(box, [&](u32 offset, u64 address, u32 size) {
    copy_bytes(&bytes[offset],
               access(warp, lane, Space::global, address, size, box.element, Access::read, nullptr), size);
  });
  for (u32 at = 0; box.map.flush && at < box.bytes(); at += 4) {
    float x;
    std::memcpy(&x, &bytes[at], 4);
    x = flush(x);
    std::memcpy(&bytes[at], &x, 4);
  }
  return bytes;
}

// [to], [map, {coordinates}], [mbarrier] [, mask of the cluster's blocks]
void run_load(Warp& warp, const Instruction& i) {
  if (warp.watch != nullptr) warp.watch->asynchronous();
  const Slot* slot = i.wide != nullptr ? i.wide : i.slot;
  const Control c = unpacked(i.control);
  for_each_lane(warp, [&](u32 lane) {
    const Box box = box_of(warp, i, 1, slot[1], slot + 2, c.dimensions, lane);
    const std::vector<std::byte> bytes = read_box(warp, lane, box);
    const u64 to = operand_address(warp, i, 0, slot[0], lane);
    const u64 barrier = operand_address(warp, i, 2, slot[2 + c.dimensions], lane);
    const auto send = [&](Space space, u64 to, Space barrier_space, u64 barrier) {
      deliver(warp, lane, mbarrier_at(warp, lane, barrier_space, barrier), box.bytes(),
              [bytes, places = pieces(warp, lane, space, to, box, Access::write)] {
                for (std::size_t k = 0; k < places.size(); ++k) copy_bytes(places[k], &bytes[k * 16], 16);
              });
    };
    if (!c.multicast) return send(space_of_operand(i, 0), to, space_of_operand(i, 2), barrier);
    for (u32 rest = warp.in<u16>(slot[3 + c.dimensions])[lane]; rest != 0; rest &= rest - 1) {
      const u64 block = (u64{static_cast<u32>(__builtin_ctz(rest))} + 1) * kSharedStride;
      send(Space::shared_cluster, block + to % kSharedStride, Space::shared_cluster, block + barrier % kSharedStride);
    }
  });
  warp.polls = 0;
}

// [map, {coordinates}], [from]. What lies outside of the tensor is not written.
template <bool kReduce>
void run_store(Warp& warp, const Instruction& i) {
  if (warp.watch != nullptr) warp.watch->asynchronous();
  const Slot* slot = i.wide != nullptr ? i.wide : i.slot;
  const Control c = unpacked(i.control);
  for_each_lane(warp, [&](u32 lane) {
    const Box box = box_of(warp, i, 0, slot[0], slot + 1, c.dimensions, lane);
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
  });
  warp.polls = 0;
}

// [map, {coordinates}]: only the map is looked at.
void run_prefetch(Warp& warp, const Instruction& i) {
  const Slot* slot = i.wide != nullptr ? i.wide : i.slot;
  for_each_lane(warp, [&](u32 lane) { box_of(warp, i, 0, slot[0], slot + 1, unpacked(i.control).dimensions, lane); });
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
  return {run_load, operand_control(to, form.width[0]) | operand_control(Space::generic, form.width[1]) << kOperandBits |
                        operand_control(to, form.width[3]) << (2 * kOperandBits) |
                        packed(dimensions(form), form.has("multicast::cluster"), BulkReduction::add)};
}
// Map, coordinates, from.
template <bool kReduce>
Bound bind_store(const Form& form) {
  return {run_store<kReduce>, operand_control(Space::generic, form.width[0]) |
                                  operand_control(Space::shared, form.width[2]) << kOperandBits |
                                  packed(dimensions(form), false, bulk_reduction(form))};
}
Bound bind_prefetch(const Form& form) {
  return {run_prefetch, operand_control(Space::generic, form.width[0]) | packed(dimensions(form), false, BulkReduction::add)};
}

#define LOAD(n)                                                                                                     \
  {"cp.async.bulk.tensor." n "d.shared::cluster|shared::cta.global{.tile}.mbarrier::complete_tx::bytes",            \
   "[m] [m] {s32}" n " [m]", bind_load, 80, 90},                                                                    \
      {"cp.async.bulk.tensor." n                                                                                    \
       "d.shared::cluster|shared::cta.global{.tile}.mbarrier::complete_tx::bytes.L2::cache_hint",                   \
       "[m] [m] {s32}" n " [m] b64", bind_load, 80, 90},                                                            \
      {"cp.async.bulk.tensor." n                                                                                    \
       "d.shared::cluster.global{.tile}.mbarrier::complete_tx::bytes.multicast::cluster",                           \
       "[m] [m] {s32}" n " [m] b16", bind_load, 80, 90},                                                            \
  {                                                                                                                 \
    "cp.async.bulk.tensor." n                                                                                       \
    "d.shared::cluster.global{.tile}.mbarrier::complete_tx::bytes.multicast::cluster.L2::cache_hint",               \
        "[m] [m] {s32}" n " [m] b16 b64", bind_load, 80, 90                                                         \
  }
#define STORE(n)                                                                                                     \
  {"cp.async.bulk.tensor." n "d.global.shared::cta{.tile}.bulk_group", "[m] {s32}" n " [m]", bind_store<false>, 80,  \
   90},                                                                                                              \
      {"cp.async.bulk.tensor." n "d.global.shared::cta{.tile}.bulk_group.L2::cache_hint", "[m] {s32}" n " [m] b64",  \
       bind_store<false>, 80, 90},                                                                                   \
      {"cp.reduce.async.bulk.tensor." n                                                                              \
       "d.global.shared::cta.add|min|max|inc|dec|and|or|xor{.tile}.bulk_group",                                      \
       "[m] {s32}" n " [m]", bind_store<true>, 80, 90},                                                              \
  { "cp.async.bulk.prefetch.tensor." n "d.L2.global{.tile}", "[m] {s32}" n, bind_prefetch, 80, 90 }

const Row kRows[] = {LOAD("1"), LOAD("2"), LOAD("3"), LOAD("4"), LOAD("5"), STORE("1"), STORE("2"),
                     STORE("3"), STORE("4"), STORE("5")};

}  // namespace

std::span<const Row> tensor_rows() { return kRows; }

}  // namespace cudasim
