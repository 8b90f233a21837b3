// What the lanes of a warp do together. PTX ISA, "shfl", "vote", "match", "redux", "activemask", "elect".
#include "common/simulator/exec/exchange.hpp"
#include "common/simulator/exec/fragments.hpp"
#include "common/simulator/isa/row.hpp"

#include <algorithm>

namespace cudasim {
namespace {

// The operands of each exchange (Instruction::control); the last one is the member mask.
constexpr auto kWord = Exchanged::word, kDoubleword = Exchanged::doubleword, kPredicate = Exchanged::predicate,
               kToWord = Exchanged::to_word, kToPredicate = Exchanged::to_predicate;
constexpr u32 kShuffles = exchange_of({kToWord, kToPredicate, kWord, kWord, kWord, kWord});
constexpr u32 kVotes = exchange_of({kToPredicate, kPredicate, kWord});
constexpr u32 kBallots = exchange_of({kToWord, kPredicate, kWord});
constexpr u32 kElects = exchange_of({kToWord, kToPredicate, kWord});
constexpr u32 kReduces = exchange_of({kToWord, kWord, kWord});

enum Shuffle : u32 { kUp, kDown, kBfly, kIdx };

// d[|p], a, b, c [, members]: the lane that each reads from; PTX ISA, "shfl.sync", in the manual's own words (bval,
// cval, segmask, maxLane, minLane).
template <u32 kMode, bool kSync>
void run_shuffle(Warp& warp, const Instruction& i) {
  if (kSync && !gather(warp, i, i.slot[5])) return;
  const u32* a = warp.in<u32>(i.slot[2]);
  const u32* b = warp.in<u32>(i.slot[3]);
  const u32* c = warp.in<u32>(i.slot[4]);
  u32 value[kWarpSize], valid = 0;
  for (const u32 lane : set_bits(warp.mask)) {
    const u32 bval = b[lane] & 31, cval = c[lane] & 31, segments = c[lane] >> 8 & 31;
    const u32 most = (lane & segments) | (cval & ~segments), least = lane & segments;
    u32 from = 0;
    bool in_range = false;
    switch (kMode) {
      case kUp:
        from = lane - bval;
        in_range = static_cast<i32>(from) >= static_cast<i32>(most);
        break;
      case kDown:
        from = lane + bval;
        in_range = from <= most;
        break;
      case kBfly:
        from = lane ^ bval;
        in_range = from <= most;
        break;
      default: from = least | (bval & ~segments); in_range = from <= most;
    }
    if (!in_range) from = lane;
    // What comes from a lane that does not execute this is undefined. It is 0 here: kernels that are in wide use add it
    // to a sum.
    value[lane] = (warp.mask >> from & 1) != 0 ? a[from] : 0;
    valid |= u32{in_range} << lane;
  }
  u32* d = warp.out<u32>(i.slot[0]);
  for_lanes(warp.mask, [&](u32 lane) { d[lane] = value[lane]; });
  if (i.slot[1] != kNoSlot) warp.set_predicate(i.slot[1], valid);
}

template <bool kSync>
Bound bind_shuffle(const Form& form) {
  if (form.has("up")) return {run_shuffle<kUp, kSync>, kShuffles};
  if (form.has("down")) return {run_shuffle<kDown, kSync>, kShuffles};
  return {form.has("bfly") ? run_shuffle<kBfly, kSync> : run_shuffle<kIdx, kSync>, kShuffles};
}

// Calls f(group) for each set of executing lanes that gave the same member mask; without .sync all are one.
template <bool kSync, class F>
void for_groups(Warp& warp, Slot members, F f) {
  if (!kSync) return f(warp.mask);
  const u32* masks = warp.in<u32>(members);
  for (u32 rest = warp.mask; rest != 0;) {
    const u32 wanted = masks[first_lane(rest)];
    const u32 group = lanes_where(rest, [&](u32 lane) { return masks[lane] == wanted; });
    f(group);
    rest &= ~group;
  }
}

enum Vote : u32 { kAll, kAny, kUni, kBallot };

// d, {!}a [, members]
template <u32 kMode, bool kSync>
void run_vote(Warp& warp, const Instruction& i) {
  if (kSync && !gather(warp, i, i.slot[2])) return;
  const u32 a = warp.predicate(i.slot[1]);
  u32 holds = 0;
  u32* d = kMode == kBallot ? warp.out<u32>(i.slot[0]) : nullptr;
  for_groups<kSync>(warp, i.slot[2], [&](u32 group) {
    const u32 in_favour = a & group;
    if (kMode == kBallot) {
      for (const u32 lane : set_bits(group)) d[lane] = in_favour;
    } else if (kMode == kAll   ? in_favour == group
               : kMode == kAny ? in_favour != 0
                               : in_favour == 0 || in_favour == group) {
      holds |= group;
    }
  });
  if (kMode != kBallot) warp.set_predicate(i.slot[0], holds);
}

template <bool kSync>
Bound bind_vote(const Form& form) {
  if (form.has("all")) return {run_vote<kAll, kSync>, kVotes};
  if (form.has("any")) return {run_vote<kAny, kSync>, kVotes};
  if (form.has("uni")) return {run_vote<kUni, kSync>, kVotes};
  return {run_vote<kBallot, kSync>, kBallots};
}

// match.any d, a, members: the lanes that have the same value.
template <class T>
void run_match_any(Warp& warp, const Instruction& i) {
  if (!gather(warp, i, i.slot[2])) return;
  const T* a = warp.in<T>(i.slot[1]);
  u32* d = warp.out<u32>(i.slot[0]);
  u32 result[kWarpSize];
  for_groups<true>(warp, i.slot[2], [&](u32 group) {
    for (const u32 lane : set_bits(group)) {
      const u32 same = lanes_where(group, [&](u32 other) { return a[other] == a[lane]; });
      result[lane] = same;
    }
  });
  for_lanes(warp.mask, [&](u32 lane) { d[lane] = result[lane]; });
}

// match.all d[|p], a, members: the members if all have the same value, else none.
template <class T>
void run_match_all(Warp& warp, const Instruction& i) {
  if (!gather(warp, i, i.slot[3])) return;
  const T* a = warp.in<T>(i.slot[2]);
  u32* d = warp.out<u32>(i.slot[0]);
  u32 result[kWarpSize], matched = 0;
  for_groups<true>(warp, i.slot[3], [&](u32 group) {
    const T value = a[first_lane(group)];
    bool same = true;
    for (const u32 lane : set_bits(group)) same &= a[lane] == value;
    for (const u32 lane : set_bits(group)) result[lane] = same ? group : 0;
    matched |= same ? group : 0;
  });
  for_lanes(warp.mask, [&](u32 lane) { d[lane] = result[lane]; });
  if (i.slot[1] != kNoSlot) warp.set_predicate(i.slot[1], matched);
}

template <bool kAllSame>
Bound bind_match(const Form& form) {
  const bool wide = bits(form.type[0]) == 64;
  const Exchanged value = wide ? kDoubleword : kWord;
  if (kAllSame)
    return {wide ? run_match_all<u64> : run_match_all<u32>, exchange_of({kToWord, kToPredicate, value, kWord})};
  return {wide ? run_match_any<u64> : run_match_any<u32>, exchange_of({kToWord, value, kWord})};
}

struct And {
  static u32 of(u32 a, u32 b) { return a & b; }
};
struct Or {
  static u32 of(u32 a, u32 b) { return a | b; }
};
struct Xor {
  static u32 of(u32 a, u32 b) { return a ^ b; }
};
struct Add {
  static u32 of(u32 a, u32 b) { return a + b; }
};
struct Min {
  template <class T>
  static T of(T a, T b) {
    return std::min(a, b);
  }
};
struct Max {
  template <class T>
  static T of(T a, T b) {
    return std::max(a, b);
  }
};

template <class Op, class T>
void run_redux(Warp& warp, const Instruction& i) {
  if (!gather(warp, i, i.slot[2])) return;
  const T* a = warp.in<T>(i.slot[1]);
  T* d = warp.out<T>(i.slot[0]);
  T result[kWarpSize];
  for_groups<true>(warp, i.slot[2], [&](u32 group) {
    T sum = a[first_lane(group)];
    for (const u32 lane : set_bits(group & (group - 1))) sum = static_cast<T>(Op::of(sum, a[lane]));
    for (const u32 lane : set_bits(group)) result[lane] = sum;
  });
  for_lanes(warp.mask, [&](u32 lane) { d[lane] = result[lane]; });
}

Handler redux(const Form& form) {
  const bool is_s32 = form.type[0] == Type::s32;
  if (form.has("and")) return run_redux<And, u32>;
  if (form.has("or")) return run_redux<Or, u32>;
  if (form.has("xor")) return run_redux<Xor, u32>;
  if (form.has("add")) return run_redux<Add, u32>;
  if (form.has("min")) return is_s32 ? run_redux<Min, i32> : run_redux<Min, u32>;
  return is_s32 ? run_redux<Max, i32> : run_redux<Max, u32>;
}
Bound bind_redux(const Form& form) { return {redux(form), kReduces}; }

void run_activemask(Warp& warp, const Instruction& i) {
  u32* d = warp.out<u32>(i.slot[0]);
  const u32 mask = warp.mask;
  for_lanes(mask, [=](u32 lane) { d[lane] = mask; });
}

// elect.sync d|p, members: the same lane each time, here the lowest.
void run_elect(Warp& warp, const Instruction& i) {
  if (!gather(warp, i, i.slot[2])) return;
  u32 elected = 0;
  for_groups<true>(warp, i.slot[2], [&](u32 group) {
    const u32 leader = first_lane(group);
    elected |= 1u << leader;
    if (i.slot[0] == kNoSlot) return;
    for (const u32 lane : set_bits(group)) warp.out<u32>(i.slot[0])[lane] = leader;
  });
  if (i.slot[1] != kNoSlot) warp.set_predicate(i.slot[1], elected);
}

Bound bind_elect(const Form&) { return {run_elect, kElects}; }

template <Handler run>
Bound bind(const Form&) {
  return run;
}

const Row kRows[] = {
    {"shfl.sync.up|down|bfly|idx.b32", "=b32 |pred b32 b32 b32 u32", bind_shuffle<true>, 60, 30},
    // Without .sync: for the lanes that happen to execute it together; gone from sm_70 on.
    {"shfl.up|down|bfly|idx.b32", "=b32 |pred b32 b32 b32", bind_shuffle<false>, 0, 0, kWithoutSync},
    {"vote.sync.all|any|uni.pred", "=pred pred u32", bind_vote<true>},
    {"vote.sync.ballot.b32", "=b32 pred u32", bind_vote<true>},
    {"vote.all|any|uni.pred", "=pred pred", bind_vote<false>, 0, 0, kWithoutSync},
    {"vote.ballot.b32", "=b32 pred", bind_vote<false>, 0, 0, kWithoutSync},
    {"match.any.sync.b32|b64", "=b32 t0 u32", bind_match<false>, 60, 70},
    {"match.all.sync.b32|b64", "=b32_ |pred t0 u32", bind_match<true>, 60, 70},
    {"redux.sync.add|min|max.u32|s32", "=t0 t0 u32", bind_redux, 70, 80},
    {"redux.sync.and|or|xor.b32", "=t0 t0 u32", bind_redux, 70, 80},
    {"activemask.b32", "=b32", bind<run_activemask>, 62, 30},
    {"elect.sync", "=b32_ |pred! b32", bind_elect, 80, 90},
};

}  // namespace

std::span<const Row> warp_rows() { return kRows; }

}  // namespace cudasim
