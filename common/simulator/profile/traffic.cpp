#include "common/simulator/profile/traffic.hpp"

#include <algorithm>
#include <array>

namespace cudasim {
namespace {

constexpr u32 kBanks = 32, kWord = 4;

// Counts the different ones of the values that are put in. Most accesses touch few, in order.
template <std::size_t kMost>
class Different {
 public:
  void add(u64 value) {
    if (count_ != 0 && value == values_[count_ - 1]) return;
    sorted_ = sorted_ && (count_ == 0 || value > values_[count_ - 1]);
    if (count_ == kMost) shrink();
    if (count_ < kMost) values_[count_++] = value;
  }
  std::size_t count() {
    shrink();
    return count_;
  }
  const u64* begin() const { return values_.data(); }
  const u64* end() const { return values_.data() + count_; }

 private:
  void shrink() {
    if (sorted_) return;
    std::sort(values_.begin(), values_.begin() + static_cast<std::ptrdiff_t>(count_));
    count_ = static_cast<std::size_t>(
        std::unique(values_.begin(), values_.begin() + static_cast<std::ptrdiff_t>(count_)) - values_.begin());
    sorted_ = true;
  }
  std::array<u64, kMost> values_;
  std::size_t count_ = 0;
  bool sorted_ = true;
};

// How often the fullest bank has to give a word, to the parts [begin, end).
u64 turns(const Part* begin, const Part* end) {
  Different<kWarpSize * 8> words;
  for (const Part* part = begin; part != end; ++part) {
    for (u64 word = part->address / kWord; word <= (part->address + part->size - 1) / kWord; ++word) words.add(word);
  }
  words.count();
  std::array<u8, kBanks> load{};
  for (const u64 word : words) ++load[word % kBanks];
  return *std::max_element(load.begin(), load.end());
}

}  // namespace

GlobalCost global_cost(const Part* parts, std::size_t count) {
  GlobalCost cost;
  Different<kWarpSize * 4> sectors;
  std::array<Part, kWarpSize> sorted;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const Part& part = parts[i];
    for (u64 sector = part.address / kSector; sector <= (part.address + part.size - 1) / kSector; ++sector)
      sectors.add(sector);
    if (kept < kWarpSize) sorted[kept++] = part;
  }
  cost.sectors = sectors.count();
  const auto end = sorted.begin() + static_cast<std::ptrdiff_t>(kept);
  if (!std::is_sorted(sorted.begin(), end, [](const Part& a, const Part& b) { return a.address < b.address; }))
    std::sort(sorted.begin(), end, [](const Part& a, const Part& b) { return a.address < b.address; });
  u64 reached = 0;
  for (auto part = sorted.begin(); part != end; ++part) {
    const u64 last = part->address + part->size;
    const u64 first = std::max(part->address, reached);
    if (last > first) cost.bytes += last - first;
    reached = std::max(reached, last);
  }
  return cost;
}

// A turn serves at most 128 bytes: of wider accesses the lanes go in halves or quarters of the warp.
SharedCost shared_cost(const Part* parts, std::size_t count, SharedAccess access) {
  SharedCost cost;
  if (count == 0) return cost;
  const u32 together = access == SharedAccess::matrix ? 8 : parts[0].size <= 4 ? 32 : parts[0].size <= 8 ? 16 : 8;
  for (const Part* begin = parts; begin != parts + count;) {
    const Part* end = begin;
    while (end != parts + count && end->lane / together == begin->lane / together) ++end;
    cost.wavefronts += turns(begin, end);
    ++cost.least;
    begin = end;
  }
  return cost;
}

}  // namespace cudasim
