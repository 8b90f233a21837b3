// Exchanges between lanes that are at different places of a program: .sync instructions with a member mask need the
// same qualifiers and the same mask, but not the same instruction. On the sides of a branch, in a switch, in loops, in
// functions, with lanes that have exited.
#pragma once
#include "tests/instructions/programs.hpp"

#include <algorithm>

namespace instructions {

using Lanes = std::array<u32, 32>;  // a value of each lane

// An exchange of the values in %r4 among the members in %r7; afterwards %a2 has the result. %r3: the lane.
struct Exchange {
  std::string before, instruction, after;
  std::function<u64(const Lanes& values, u32 members, u32 lane)> want;
};

using Answer = std::function<u64(const Lanes& values, u32 members, u32 lane)>;
inline const std::string kWord = "cvt.u64.u32 %a2, %r6;\n", kTruth = "selp.u64 %a2, 1, 0, %p5;\n",
                         kWordAndTruth = kWord + "selp.u64 %a1, 0x100000000, 0, %p5; or.b64 %a2, %a2, %a1;\n";

inline std::vector<Exchange> shuffles_and_votes() {
  std::vector<Exchange> all;
  const std::string odd = "and.b32 %r5, %r4, 1; setp.ne.u32 %p6, %r5, 0;\n";
  const auto add = [&](const std::string& before, const std::string& instruction, const std::string& after,
                       Answer want) { all.push_back({before, instruction, after, std::move(want)}); };
  add("", "shfl.sync.bfly.b32 %r6, %r4, 4, 31, %r7;", kWord, [](const Lanes& v, u32, u32 lane) { return v[lane ^ 4]; });
  add("", "shfl.sync.up.b32 %r6|%p5, %r4, 4, 0, %r7;", kWordAndTruth,
      [](const Lanes& v, u32, u32 lane) { return lane < 4 ? v[lane] : v[lane - 4] | u64{1} << 32; });
  add("", "shfl.sync.down.b32 %r6, %r4, 4, 23, %r7;", kWord,
      [](const Lanes& v, u32, u32 lane) { return v[lane > 19 ? lane : lane + 4]; });
  add("xor.b32 %r5, %r3, 4;\n", "shfl.sync.idx.b32 %r6, %r4, %r5, 31, %r7;", kWord,
      [](const Lanes& v, u32, u32 lane) { return v[lane ^ 4]; });
  const auto holding = [](const Lanes& v, u32 members) {
    u32 lanes = 0;
    for (u32 lane = 0; lane < 32; ++lane) lanes |= (v[lane] & 1) << lane;
    return lanes & members;
  };
  add(odd, "vote.sync.any.pred %p5, %p6, %r7;", kTruth,
      [=](const Lanes& v, u32 members, u32) { return u64{holding(v, members) != 0}; });
  add("setp.gt.u32 %p6, %r4, 999;\n", "vote.sync.all.pred %p5, %p6, %r7;", kTruth,
      [](const Lanes& v, u32 members, u32) {
        bool each = true;
        for (u32 lane = 0; lane < 32; ++lane) each = each && ((members >> lane & 1) == 0 || v[lane] > 999);
        return u64{each};
      });
  add(odd, "vote.sync.uni.pred %p5, !%p6, %r7;", kTruth, [=](const Lanes& v, u32 members, u32) {
    return u64{holding(v, members) == 0 || holding(v, members) == members};
  });
  add(odd, "vote.sync.ballot.b32 %r6, %p6, %r7;", kWord,
      [=](const Lanes& v, u32 members, u32) { return holding(v, members); });
  return all;
}

inline std::vector<Exchange> matches_and_reductions() {
  std::vector<Exchange> all;
  const std::string few = "shr.u32 %r5, %r4, 30;\n", wide = few + "cvt.u64.u32 %a1, %r5; shl.b64 %a1, %a1, 33;\n";
  const auto add = [&](const std::string& before, const std::string& instruction, const std::string& after,
                       Answer want) { all.push_back({before, instruction, after, std::move(want)}); };
  const auto same = [](const Lanes& v, u32 members, u32 lane) {
    u32 lanes = 0;
    for (u32 other = 0; other < 32; ++other) lanes |= u32{v[other] >> 30 == v[lane] >> 30} << other;
    return lanes & members;
  };
  const auto all_same = [=](const Lanes& v, u32 members, u32 lane) {
    return same(v, members, lane) == members ? u64{members} | u64{1} << 32 : 0;
  };
  add(few, "match.any.sync.b32 %r6, %r5, %r7;", kWord, same);
  add(wide, "match.any.sync.b64 %r6, %a1, %r7;", kWord, same);
  add(few, "match.all.sync.b32 %r6|%p5, %r5, %r7;", kWordAndTruth, all_same);
  add(wide, "match.all.sync.b64 %r6|%p5, %a1, %r7;", kWordAndTruth, all_same);
  const auto reduced = [&](const std::string& name, u32 (*of)(u32, u32)) {
    add("", "redux.sync." + name + " %r6, %r4, %r7;", kWord, [of](const Lanes& v, u32 members, u32) {
      u32 sum = v[u32(__builtin_ctz(members))];
      for (u32 rest = members & (members - 1); rest != 0; rest &= rest - 1) sum = of(sum, v[u32(__builtin_ctz(rest))]);
      return u64{sum};
    });
  };
  reduced("add.s32", [](u32 a, u32 b) { return a + b; });
  reduced("min.u32", [](u32 a, u32 b) { return std::min(a, b); });
  reduced("max.s32", [](u32 a, u32 b) { return u32(std::max(i32(a), i32(b))); });
  reduced("and.b32", [](u32 a, u32 b) { return a & b; });
  reduced("or.b32", [](u32 a, u32 b) { return a | b; });
  reduced("xor.b32", [](u32 a, u32 b) { return a ^ b; });
  // All know the one that is elected.
  add("", "elect.sync %r6|%p5, %r7;",
      "setp.eq.u32 %p6, %r6, %r3; xor.pred %p6, %p6, %p5; selp.u64 %a2, 1, 0, %p6; shl.b32 %r6, 1, %r6; and.b32 %r6, "
      "%r6, %r7; setp.eq.u32 %p6, %r6, 0; selp.u64 %a1, 2, 0, %p6; or.b64 %a2, %a2, %a1;\n",
      [](const Lanes&, u32, u32) { return u64{0}; });
  return all;
}

inline std::vector<Exchange> exchanges() {
  std::vector<Exchange> all = shuffles_and_votes();
  const std::vector<Exchange> more = matches_and_reductions();
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

// How the lanes come to be at different places.
struct Apart {
  const char* how;
  u32 places = 2;    // the lanes are at place `lane / 4 % places`
  bool halves = false;  // even and odd lanes have masks of their own
  u32 live = 32;     // the others have exited
  u32 rounds = 1;    // of a loop
};

inline std::string in_function(const Exchange& e, const std::string& name) {
  return ".func (.param .b64 result) " + name +
         "(.param .b32 value, .param .b32 members) {\n.reg .b64 %a<4>; .reg .b32 %r<8>; .reg .pred %p<8>;\n"
         "ld.param.u32 %r4, [value]; ld.param.u32 %r7, [members]; mov.u32 %r3, %laneid;\n" +
         e.before + e.instruction + "\n" + e.after + "st.param.b64 [result], %a2;\nret;\n}\n";
}

inline std::string call_of(const std::string& name) {
  return "{\n.param .b32 value; .param .b32 members; .param .b64 result;\nst.param.b32 [value], %r4; st.param.b32 "
         "[members], %r7;\ncall (result), " +
         name + ", (value, members);\nld.param.b64 %a2, [result];\n}\n";
}

inline Program apart(const Exchange& e, const Apart& apart) {
  const std::string how = apart.how;
  const std::string here = e.before + e.instruction + "\n" + e.after;
  Program p;
  p.threads = 32;
  if (how.find("function") == 0) p.before = in_function(e, "first") + in_function(e, "second");
  p.body =
      "mov.u32 %r3, %laneid; ld.global.u32 %r2, [%in]; mov.u64 %d0, 0;\n"
      "shr.u32 %r8, %r3, 2; and.b32 %r8, %r8, " +
      number(apart.places - 1) + ";\n";
  if (apart.live < 32) p.body += "setp.ge.u32 %p1, %r3, " + number(apart.live) + "; @%p1 exit;\n";
  p.body +=
      apart.halves ? "mov.u32 %r7, 0x55555555; and.b32 %r9, %r3, 1; shl.b32 %r7, %r7, %r9;\n" : "mov.u32 %r7, -1;\n";
  for (u32 k = 1; k < apart.places; ++k)
    p.body += "setp.eq.u32 %p1, %r8, " + number(k) + "; @%p1 bra PLACE" + number(k) + ";\n";
  for (u32 k = 0; k < apart.places; ++k) {
    const std::string place = number(k);
    const std::string what = how == "function called at two places"    ? call_of("first")
                             : how == "functions"                      ? call_of(k == 0 ? "first" : "second")
                             : how == "function on one side" && k == 0 ? call_of("first")
                                                                       : here;
    p.body += "PLACE" + place + ":\nadd.u32 %r4, %r2, " + number(1000 * k) + "; mov.u32 %r10, 0;\nAGAIN" + place +
              ":\nadd.u32 %r4, %r4, 7;\n" + what +
              "add.u64 %d0, %d0, %a2; add.u32 %r10, %r10, 1; setp.lt.u32 %p2, %r10, " + number(apart.rounds) +
              "; @%p2 bra AGAIN" + place + ";\nbra DONE;\n";
  }
  p.body += "DONE:\n";
  p.want = [e, apart](u32 lane) -> Results {
    if (lane >= apart.live) return {0xeeeeeeeeeeeeeeee, 0xeeeeeeeeeeeeeeee, 0xeeeeeeeeeeeeeeee, 0xeeeeeeeeeeeeeeee};
    Lanes values;
    for (u32 other = 0; other < 32; ++other) values[other] = u32(word(other, 0)) + 1000 * (other / 4 % apart.places);
    u32 members = apart.halves ? 0x55555555u << (lane & 1) : ~0u;
    if (apart.live < 32) members &= (1u << apart.live) - 1;
    u64 sum = 0;
    for (u32 round = 0; round < apart.rounds; ++round) {
      for (u32& value : values) value += 7;
      sum += e.want(values, members, lane);
    }
    return {sum, kUntouched, kUntouched, kUntouched};
  };
  return p;
}

// Both sides of a branch as two instructions under a guard and its opposite.
inline Program guarded(const Exchange& e) {
  Program p = apart(e, {"branch"});
  const std::string elsewhere = "and.b32 %r9, %r3, 4; setp.ne.u32 %p1, %r9, 0;\n";
  p.body = "mov.u32 %r3, %laneid; ld.global.u32 %r2, [%in]; mov.u32 %r7, -1; add.u32 %r4, %r2, 7;\n" + elsewhere +
           "@%p1 add.u32 %r4, %r4, 1000;\n" + e.before + "@%p1 " + e.instruction + "\n@!%p1 " + e.instruction + "\n" +
           e.after + "mov.u64 %d0, %a2;\n";
  return p;
}

inline Programs apart_cases() {
  Programs all;
  for (const Exchange& e : exchanges()) {
    for (const Apart& how : {Apart{"branch"}, Apart{"switch", 4}, Apart{"branch, two masks", 2, true},
                             Apart{"switch, two masks", 4, true}, Apart{"exited lanes", 2, false, 24},
                             Apart{"loop", 2, false, 32, 3}, Apart{"loop in a switch", 8, true, 32, 3},
                             Apart{"function called at two places"}, Apart{"functions"}, Apart{"function on one side"}})
      all.push_back(apart(e, how));
    all.push_back(guarded(e));
  }
  return all;
}

}  // namespace instructions
