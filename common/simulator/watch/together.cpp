#include "common/simulator/watch/together.hpp"

#include "common/simulator/exec/grid.hpp"
#include "common/simulator/isa/memory.hpp"

#include <utility>

namespace cudasim {

bool Together::begins(Warp& warp, const Site& site, u32 mask) {
  const Instruction& i = *site.instruction;
  const StatementInfo& statement = site.code->statements[i.statement];
  const Way way = way_of(i.control);
  if (statement.element == 0 || (i.control & (kStrong | kAcquires | kReleases)) != 0) return false;
  if (way == Way::local || way == Way::parameter || way == Way::carefully) return false;
  const u32 elements = i.control & kElements;
  writes = statement.carries == Carries::stores;
  size = elements * statement.element;
  lanes = mask;
  return find(warp, i, i.slot[writes ? 0 : elements]);
}

bool Together::find(Warp& warp, const Instruction& i, Slot base) {
  Block& block = *warp.block;
  const Listed list(warp, i, base);
  const u64 first = list.address[first_lane(lanes)];
  const u64 own = kSharedWindow + block.shared_begin;
  shared = space_in(i) == Space::shared;
  u64 from = shared && base != kNoSlot ? block.shared_begin : 0, bytes = block.shared_bytes;
  if (space_in(i) == Space::generic && first - own < kSharedStride) shared = true, from = own;
  begin = 0;
  host = reinterpret_cast<u64>(block.shared);
  if (!shared) {
    const View* const view = lend(i, block.grid->launch.context, first);
    if (view == nullptr || (writes && !view->writable)) return false;
    begin = from = view->begin;
    bytes = view->end - view->begin;
    host = begin + static_cast<u64>(view->delta);
  }
  if (first - from >= bytes || bytes < size || bytes > ~u32{0}) return false;

  const u32 last = static_cast<u32>(bytes) - size, low = size - 1, low_begin = static_cast<u32>(from) & low;
  const u32 first_offset = static_cast<u32>(first - from);
  u32 wrong = 0;
  for (u32 lane = 0; lane < kWarpSize; ++lane) {
    const u64 at = list.address[lane] - from;
    const u32 here = 0 - (lanes >> lane & 1), near = static_cast<u32>(at);
    wrong |= (static_cast<u32>(at >> 32) | u32{near > last} | ((near + low_begin) & low)) & here;
    offset[lane] = (near & here) | (first_offset & ~here);
  }
  if (wrong != 0) return false;
  const u32 next = lanes_where([&](u32 lane) { return offset[lane + 1] - offset[lane] == size; });
  const u32 same = lanes_where([&](u32 lane) { return offset[lane + 1] == offset[lane]; });
  follows = lanes & (lanes & next) << 1;
  repeats = lanes & (lanes & same) << 1;
  if (writes && !apart()) return false;
  if (writes) each_word([&](u32 word, u64 at) { before_[word] = at; });
  views_ = std::exchange(warp.views, lent_.data());
  block.quick_shared_bytes = block.shared_bytes;
  return true;
}

// What the executor may use for the instruction, if it contains the address.
const View* Together::lend(const Instruction& i, u64 context, u64 first) {
  AddressSpace& space = AddressSpace::instance();
  const u64 now = space.epoch();
  if (std::exchange(epoch_, now) != now) lent_.fill(View());
  View& view = lent_[reinterpret_cast<u64>(&i) / sizeof(Instruction) % kViews];
  if (first >= view.begin && first + size <= view.end) return &view;
  const auto found = space.view(first, size, context);
  if (!found || !found->readable) return nullptr;
  view = *found;
  return &view;
}

// Whether no two lanes have the same address.
bool Together::apart() const {
  if (row()) return true;
  bool ascending = true;
  for (u32 rest = lanes & (lanes - 1), before = first_lane(lanes); rest != 0; rest &= rest - 1) {
    const u32 lane = first_lane(rest);
    ascending &= offset[before] < offset[lane];
    before = lane;
  }
  if (ascending) return true;
  for (u32 rest = lanes; rest != 0; rest &= rest - 1) {
    const u32 mine = offset[first_lane(rest)];
    const u32 same = lanes_where([&](u32 lane) { return offset[lane] == mine; });
    if ((same & rest & (rest - 1)) != 0) return false;
  }
  return true;
}

// f(number, value) for each lane's first 8 bytes, and its last 8 if it has 16.
template <class F>
void Together::each_word(F f) const {
  const auto each = [&](auto word, u32 part) {
    for_lanes(lanes, [&](u32 lane) {
      f(part * kWarpSize + lane, u64{raw_load<decltype(word)>(at(host + offset[lane] + part * sizeof word))});
    });
  };
  switch (size) {
    case 1: return each(u8{}, 0);
    case 2: return each(u16{}, 0);
    case 4: return each(u32{}, 0);
    case 16: each(u64{}, 1); [[fallthrough]];
    default: each(u64{}, 0);
  }
}

void Together::ended(Warp& warp) {
  warp.views = views_;
  warp.block->quick_shared_bytes = 0;
  silent = 0;
  if (!writes) return;
  u32 changed = 0;
  each_word([&](u32 word, u64 now) { changed |= u32{before_[word] != now} << word % kWarpSize; });
  silent = lanes & ~changed;
}

void Together::list(Block& block, std::vector<Touch>& touches) const {
  for (const u32 lane : set_bits(lanes)) {
    Touch& touch = touches.emplace_back();
    touch.lane = lane;
    touch.kind = writes ? Access::write : Access::read;
    touch.space = shared ? Space::shared : Space::global;
    touch.silent = (silent >> lane & 1) != 0;
    touch.size = size;
    touch.address = address(lane);
    touch.owner = shared ? &block : nullptr;
    touch.at = at(host + offset[lane]);
  }
}

}  // namespace cudasim
