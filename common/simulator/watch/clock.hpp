// Vector clocks: up to which time each thread knows what the other threads have done.
//
// Each warp counts its own time, which advances whenever one of its lanes publishes what it has done. An access happens
// at its warp's time. A thread knows it if its clock has that time, or a later one, for the lane. Threads that know the
// same share a clock, so a barrier costs one clock, not one per thread. One thread of the machine uses all clocks of a
// grid.
#pragma once
#include "common/simulator/types.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace cudasim {

// Shares an object that counts its users.
template <class T>
class Ref {
 public:
  Ref() = default;
  static Ref make() {
    Ref made;
    made.object_ = new T;
    made.object_->users = 1;
    return made;
  }
  Ref(const Ref& other) : object_(other.object_) {
    if (object_ != nullptr) ++object_->users;
  }
  Ref(Ref&& other) noexcept { std::swap(object_, other.object_); }
  Ref& operator=(Ref other) noexcept { return std::swap(object_, other.object_), *this; }
  ~Ref() {
    if (object_ != nullptr && --object_->users == 0) delete object_;
  }
  const T* operator->() const { return object_; }
  const T& operator*() const { return *object_; }
  explicit operator bool() const { return object_ != nullptr; }
  bool operator==(const Ref& other) const { return object_ == other.object_; }
  // To be changed: a copy, unless it has only one user.
  T& own() {
    if (object_ == nullptr) {
      *this = make();
    } else if (object_->users > 1) {
      Ref copy = make();
      static_cast<typename T::Value&>(*copy.object_) = *object_;
      *this = std::move(copy);
    }
    return *object_;
  }
  u32 users() const { return object_ == nullptr ? 0 : object_->users; }

 private:
  T* object_ = nullptr;
};

// By member of a block: its threads, and behind them what each thread copies asynchronously.
struct TimesValue {
  std::vector<u32> at;
  u32 of(u32 member) const { return member < at.size() ? at[member] : 0; }
  void set(u32 member, u32 time) {
    if (member >= at.size()) at.resize((member / 32 + 1) * 32);
    at[member] = std::max(at[member], time);
  }
  void set(u32 warp, u32 lanes, u32 time) {
    if (warp * kWarpSize >= at.size()) at.resize((warp + 1) * kWarpSize);
    u32* const row = at.data() + warp * kWarpSize;
    for (u32 lane = 0; lane < kWarpSize; ++lane) row[lane] = std::max(row[lane], (lanes >> lane & 1) != 0 ? time : 0);
  }
};
struct Times : TimesValue {
  using Value = TimesValue;
  u32 users = 0;
};

inline void join(Ref<Times>& to, const Ref<Times>& from) {
  if (!from || to == from) return;
  if (!to) {
    to = from;
    return;
  }
  bool more = from->at.size() > to->at.size();
  for (std::size_t i = 0; i < std::min(from->at.size(), to->at.size()) && !more; ++i) more = from->at[i] > to->at[i];
  if (!more) return;
  std::vector<u32>& mine = to.own().at;
  if (mine.size() < from->at.size()) mine.resize(from->at.size());
  for (std::size_t i = 0; i < from->at.size(); ++i) mine[i] = std::max(mine[i], from->at[i]);
}

// By block of the grid.
struct BlocksValue {
  std::vector<std::pair<u64, Ref<Times>>> known;  // sorted
  const Ref<Times>* find(u64 block) const {
    const auto at = std::lower_bound(known.begin(), known.end(), block,
                                     [](const auto& entry, u64 number) { return entry.first < number; });
    return at == known.end() || at->first != block ? nullptr : &at->second;
  }
  Ref<Times>& entry(u64 block) {
    const auto at = std::lower_bound(known.begin(), known.end(), block,
                                     [](const auto& entry, u64 number) { return entry.first < number; });
    if (at != known.end() && at->first == block) return at->second;
    return known.insert(at, {block, Ref<Times>()})->second;
  }
};
struct Blocks : BlocksValue {
  using Value = BlocksValue;
  u32 users = 0;
};

inline void join(Ref<Blocks>& to, const Ref<Blocks>& from) {
  if (!from || to == from) return;
  if (!to) {
    to = from;
    return;
  }
  bool same = true;
  for (const auto& [block, times] : from->known) {
    const Ref<Times>* mine = to->find(block);
    same = same && mine != nullptr && *mine == times;
  }
  if (same) return;
  BlocksValue& mine = to.own();
  for (const auto& [block, times] : from->known) join(mine.entry(block), times);
}

// What a thread, or a place in memory that threads tell each other something through, knows.
struct Clock {
  Ref<Times> own;  // of the thread's own block
  Ref<Blocks> others;  // of all others

  bool empty() const { return !own && !others; }
  bool operator==(const Clock& other) const { return own == other.own && others == other.others; }
  void join(const Clock& other) {
    cudasim::join(own, other.own);
    cudasim::join(others, other.others);
  }
  // Also from the clock of another block.
  void join(u64 block, const Ref<Blocks>& all) {
    if (!all) return;
    if (all->known.size() == 1 && all->known.front().first == block)
      return cudasim::join(own, all->known.front().second);
    if (const Ref<Times>* mine = all->find(block)) cudasim::join(own, *mine);
    cudasim::join(others, all);  // what it says of this block does no harm
  }
};

}  // namespace cudasim
