// Handlers that the resolver emits without a row: addresses of variables, packing and unpacking of vectors.
#include "common/simulator/exec/pseudo.hpp"

#include "common/simulator/exec/block.hpp"
#include "common/simulator/exec/described.hpp"
#include "common/simulator/exec/grid.hpp"

namespace cudasim {
namespace {

template <class T>
void fill(Warp& warp, Slot slot, u64 value) {
  T* d = warp.out<T>(slot);
  const T v = static_cast<T>(value);
  for_lanes(warp.mask, [=](u32 lane) { d[lane] = v; });
}

template <class T>
void local_address(Warp& warp, const Instruction& i) {
  fill<T>(warp, i.slot[0], warp.frame->local_base + static_cast<u64>(i.offset));
}

template <class T>
void sum(Warp& warp, const Instruction& i) {
  described<sum<T>, AddsOffset<T>>();
  if (i.slot[1] == kNoSlot) return fill<T>(warp, i.slot[0], static_cast<u64>(i.offset));
  T* d = warp.out<T>(i.slot[0]);
  const T* a = warp.in<T>(i.slot[1]);
  const T offset = static_cast<T>(i.offset);
  for_lanes(warp.mask, [=](u32 lane) { d[lane] = a[lane] + offset; });
}

template <class T>
void shared_address(Warp& warp, const Instruction& i) {
  const auto& offsets = warp.block->grid->kernel.shared_offset;
  const auto found = offsets.find(i.target);
  if (found == offsets.end()) {
    throw Fault{.kind = FaultKind::illegal_address,
                .what = "a shared variable for which the kernel has no memory",
                .lane = first_lane(warp.mask)};
  }
  fill<T>(warp, i.slot[0], warp.block->shared_begin + found->second + static_cast<u64>(i.offset));
}

template <class T>
void own_shared_address(Warp& warp, const Instruction& i) {
  described<own_shared_address<T>, SharedAddress<T>>();
  fill<T>(warp, i.slot[0], warp.block->shared_begin + static_cast<u64>(i.offset));
}

// The first element has the lowest bits.
template <class Whole, class Piece, u32 kCount>
void pack(Warp& warp, const Instruction& i) {
  Whole* d = warp.out<Whole>(i.slot[0]);
  const Piece* pieces[kCount];
  for (u32 p = 0; p < kCount; ++p) pieces[p] = warp.in<Piece>(i.slot[1 + p]);
  for_lanes(warp.mask, [=](u32 lane) {
    Whole whole = 0;
    for (u32 p = 0; p < kCount; ++p)
      whole |= static_cast<Whole>(static_cast<Whole>(pieces[p][lane]) << (8 * sizeof(Piece) * p));
    d[lane] = whole;
  });
}

template <class Whole, class Piece, u32 kCount>
void unpack(Warp& warp, const Instruction& i) {
  const Whole* a = warp.in<Whole>(i.slot[kCount]);
  // A destination may share its slot with nothing, but the source is read before any is written all the same.
  Whole whole[kWarpSize];
  for_lanes(warp.mask, [&](u32 lane) { whole[lane] = a[lane]; });
  for (u32 p = 0; p < kCount; ++p) {
    if (i.slot[p] == kNoSlot) continue;
    Piece* d = warp.out<Piece>(i.slot[p]);
    for_lanes(warp.mask, [&](u32 lane) { d[lane] = static_cast<Piece>(whole[lane] >> (8 * sizeof(Piece) * p)); });
  }
}

using Wide = unsigned __int128;

template <class T, class Index>
void indexed_sum(Warp& warp, const Instruction& i) {
  T* d = warp.out<T>(i.slot[0]);
  const T* base = warp.in<T>(i.slot[1]);
  const Index* index = warp.in<Index>(i.slot[2]);
  using Product = std::conditional_t<sizeof(Index) == 8, u64, u32>;  // of a smaller index: never more than 32 bits
  const auto scale = static_cast<Product>(i.control);
  const T offset = static_cast<T>(i.offset);
  for_lanes(warp.mask, [=](u32 lane) {
    d[lane] = base[lane] + static_cast<T>(static_cast<Product>(index[lane]) * scale) + offset;
  });
}

template <class T>
Handler indexed_sum_of(u32 index_bytes, bool index_signed) {
  switch (index_bytes) {
    case 2: return index_signed ? indexed_sum<T, i16> : indexed_sum<T, u16>;
    case 4: return indexed_sum<T, u32>;
    case 8: return indexed_sum<T, u64>;
    default: return nullptr;
  }
}

}  // namespace

Handler indexed_sum_handler(u32 bytes, u32 index_bytes, bool index_signed) {
  if (bytes != 4 && bytes != 8) return nullptr;
  return bytes == 8 ? indexed_sum_of<u64>(index_bytes, index_signed) : indexed_sum_of<u32>(index_bytes, index_signed);
}

Handler sum_handler(u32 bytes) {
  return bytes == 8 ? sum<u64> : bytes == 4 ? sum<u32> : bytes == 2 ? sum<u16> : nullptr;
}

Handler local_address_handler(u32 bytes) {
  return bytes == 8 ? local_address<u64> : bytes == 4 ? local_address<u32> : nullptr;
}

Handler shared_address_handler(u32 bytes) {
  return bytes == 8 ? shared_address<u64> : bytes == 4 ? shared_address<u32> : nullptr;
}

Handler own_shared_address_handler(u32 bytes) {
  return bytes == 8 ? own_shared_address<u64> : bytes == 4 ? own_shared_address<u32> : nullptr;
}

Handler pack_handler(u32 elements, u32 bytes) {
  switch (elements * 100 + bytes) {
    case 201: return pack<u16, u8, 2>;
    case 202: return pack<u32, u16, 2>;
    case 204: return pack<u64, u32, 2>;
    case 208: return pack<Wide, u64, 2>;
    case 401: return pack<u32, u8, 4>;
    case 402: return pack<u64, u16, 4>;
    case 404: return pack<Wide, u32, 4>;
    default: return nullptr;
  }
}

Handler unpack_handler(u32 elements, u32 bytes) {
  switch (elements * 100 + bytes) {
    case 201: return unpack<u16, u8, 2>;
    case 202: return unpack<u32, u16, 2>;
    case 204: return unpack<u64, u32, 2>;
    case 208: return unpack<Wide, u64, 2>;
    case 401: return unpack<u32, u8, 4>;
    case 402: return unpack<u64, u16, 4>;
    case 404: return unpack<Wide, u32, 4>;
    default: return nullptr;
  }
}

}  // namespace cudasim
