// Linear scan over the registers' intervals, a list of free slots for each size.
#include "common/simulator/ptx/slots.hpp"

#include <algorithm>
#include <array>
#include <queue>

namespace cudasim::ptx {
namespace {

constexpr u32 kSizes = 6;  // predicates, 1, 2, 4, 8 and 16 bytes a lane

u32 size_class(Type type) {
  if (type == Type::pred) return 0;
  switch (bytes(type)) {
    case 1: return 1;
    case 2: return 2;
    case 4: return 3;
    case 16: return 5;
    default: return 4;
  }
}

constexpr std::array<u32, kSizes> kBytes = {4, 64, 64, 128, 256, 512};  // of a slot
constexpr std::array<u32, kSizes> kWords = {0, 1, 1, 1, 2, 4};

}  // namespace

SlotMap allot(const std::vector<Interval>& intervals, const std::vector<Type>& types) {
  const u32 count = static_cast<u32>(types.size());
  std::vector<u32> order;
  for (u32 reg = 0; reg < count; ++reg) {
    if (intervals[reg].first <= intervals[reg].last) order.push_back(reg);
  }
  std::sort(order.begin(), order.end(),
            [&](u32 a, u32 b) { return std::pair(intervals[a].first, a) < std::pair(intervals[b].first, b); });
  std::array<std::vector<u32>, kSizes> free;
  std::array<u32, kSizes> used{};
  std::vector<u32> number(count, 0);
  using Ending = std::pair<u32, u32>;  // last instruction, register
  std::priority_queue<Ending, std::vector<Ending>, std::greater<>> active;
  u32 words = 0, most = 0;
  for (u32 reg : order) {
    // A destination never shares a slot with a source of the same instruction.
    while (!active.empty() && active.top().first < intervals[reg].first) {
      const u32 ended = active.top().second;
      active.pop();
      free[size_class(types[ended])].push_back(number[ended]);
      words -= kWords[size_class(types[ended])];
    }
    const u32 size = size_class(types[reg]);
    if (free[size].empty()) {
      number[reg] = used[size]++;
    } else {
      number[reg] = free[size].back();
      free[size].pop_back();
    }
    active.push({intervals[reg].last, reg});
    words += kWords[size];
    most = std::max(most, words);
  }
  std::array<u32, kSizes> base{};
  SlotMap map;
  for (u32 size = kSizes; size-- > 0;) {
    base[size] = map.bytes;
    map.bytes += used[size] * kBytes[size];
  }
  map.bytes = (map.bytes + 63) / 64 * 64;
  map.words = most;
  map.slot.assign(count, 0);
  for (u32 reg : order) {
    const u32 size = size_class(types[reg]);
    map.slot[reg] = base[size] + number[reg] * kBytes[size];
  }
  return map;
}

}  // namespace cudasim::ptx
