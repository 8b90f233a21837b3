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

// How often the fullest bank has to give a word, to the accesses [begin, end). `each`: to each lane by itself.
u64 turns(const LaneAccess* begin, const LaneAccess* end, bool each) {
  std::array<u32, kBanks> load{};
  Different<kWarpSize * 8> words;
  for (const LaneAccess* access = begin; access != end; ++access) {
    for (u64 word = access->address / kWord; word <= (access->address + access->size - 1) / kWord; ++word) {
      if (each)
        ++load[word % kBanks];
      else
        words.add(word);
    }
  }
  words.count();
  for (const u64 word : words) ++load[word % kBanks];
  return *std::max_element(load.begin(), load.end());
}

// How often each sector is gone to, if lanes that want the same place go one after the other.
u64 visits(const LaneAccess* accesses, std::size_t count) {
  std::array<u64, kWarpSize> address;
  std::size_t lanes = 0;
  for (std::size_t i = 0; i < count && lanes < kWarpSize; ++i) address[lanes++] = accesses[i].address;
  std::sort(address.begin(), address.begin() + static_cast<std::ptrdiff_t>(lanes));
  u64 sum = 0, most = 0;
  for (std::size_t i = 0, same = 0; i < lanes; ++i) {
    const bool new_sector = i == 0 || address[i] / kSector != address[i - 1] / kSector;
    if (new_sector) sum += most, most = 0;
    same = i != 0 && address[i] == address[i - 1] ? same + 1 : 1;
    most = std::max<u64>(most, same);
  }
  return sum + most;
}

}  // namespace

GlobalCost global_cost(const LaneAccess* accesses, std::size_t count, bool changes) {
  GlobalCost cost;
  Different<kWarpSize * 4> sectors;
  std::array<LaneAccess, kWarpSize> sorted;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const LaneAccess& access = accesses[i];
    for (u64 sector = access.address / kSector; sector <= (access.address + access.size - 1) / kSector; ++sector)
      sectors.add(sector);
    if (kept < kWarpSize) sorted[kept++] = access;
  }
  cost.sectors = changes ? visits(accesses, count) : sectors.count();
  const auto end = sorted.begin() + static_cast<std::ptrdiff_t>(kept);
  const auto lower = [](const LaneAccess& a, const LaneAccess& b) { return a.address < b.address; };
  if (!std::is_sorted(sorted.begin(), end, lower)) std::sort(sorted.begin(), end, lower);
  u64 reached = 0;
  for (auto access = sorted.begin(); access != end; ++access) {
    const u64 last = access->address + access->size;
    const u64 first = std::max(access->address, reached);
    if (last > first) cost.bytes += last - first;
    reached = std::max(reached, last);
  }
  return cost;
}

namespace {

// Whether each lane's neighbour at this distance wants the same, or nothing.
bool in_pairs(const LaneAccess* begin, const LaneAccess* end, u32 distance) {
  std::array<u64, kWarpSize> address;
  u32 active = 0;
  for (const LaneAccess* access = begin; access != end; ++access) {
    address[access->lane] = access->address;
    active |= 1u << access->lane;
  }
  return std::all_of(begin, end, [&](const LaneAccess& access) {
    const u32 other = access.lane ^ distance;
    return (active >> other & 1) == 0 || address[other] == access.address;
  });
}

}  // namespace

// A wavefront transfers at most 128 bytes, so wider accesses are served in halves or quarters of the warp. Two of these
// parts of a load are combined if all lanes of the warp want the same words in pairs.
SharedCost shared_cost(const LaneAccess* accesses, std::size_t count, SharedAccess access) {
  SharedCost cost;
  if (count == 0) return cost;
  const bool matrix = access == SharedAccess::matrix, load = access == SharedAccess::load;
  const u32 least = matrix ? 8 : accesses[0].size <= 4 ? 32 : accesses[0].size <= 8 ? 16 : 8;
  const LaneAccess* const end = accesses + count;
  const bool pairs = load && least < kWarpSize && (in_pairs(accesses, end, 1) || in_pairs(accesses, end, 2));
  const u32 together = pairs ? 2 * least : least;
  for (const LaneAccess* begin = accesses; begin != end; ++cost.least) {
    const LaneAccess* next = begin;
    while (next != end && next->lane / together == begin->lane / together) ++next;
    cost.wavefronts += turns(begin, next, access == SharedAccess::atomic);
    begin = next;
  }
  return cost;
}

}  // namespace cudasim
