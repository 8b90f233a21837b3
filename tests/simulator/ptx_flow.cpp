// Where diverged lanes meet again, and how long registers are kept: on small functions, drawn as lists of steps.
#include "common/simulator/ptx/flow.hpp"
#include "common/simulator/ptx/slots.hpp"
#include "tests/catch.hpp"

using namespace cudasim;
using namespace cudasim::ptx;

namespace {

constexpr u32 kNowhere = ~0u;

Step plain() { return {}; }
Step jump(u32 target) { return {false, false, target}; }
Step branch(u32 target) { return {true, false, target}; }  // @p bra
Step leave() { return {false, true}; }                     // exit
Step leave_if() { return {true, true}; }                   // @p exit
Step table(u32 index) { return {false, false, ~0u, index}; }
Step last() { return {false}; }  // the function's ret

std::vector<u32> meet(std::vector<Step> steps, bool is_entry = false, std::vector<std::vector<u32>> tables = {}) {
  return reconvergence({std::move(steps), std::move(tables), is_entry});
}

}  // namespace

TEST_CASE("Both sides of an if meet behind it") {
  CHECK(meet({branch(3), plain(), jump(4), plain(), plain(), last()}) ==
        std::vector<u32>{4, kNowhere, kNowhere, kNowhere, kNowhere, kNowhere});
}

TEST_CASE("Lanes that leave a loop early wait behind it for the others") {
  CHECK(meet({plain(), plain(), branch(1), plain(), last()})[2] == 3);
}

TEST_CASE("A loop with a break meets behind the loop") {
  //                0        1          2        3         4        5
  CHECK(meet({plain(), branch(4), plain(), jump(0), plain(), last()})[1] == 4);
}

TEST_CASE("Lanes that exit are not waited for") {
  // if (a) { if (b) exit; } rest: the outer if meets at the rest.
  const auto points = meet({branch(3), leave_if(), plain(), plain(), last()});
  CHECK(points[0] == 3);
  // if (a) exit; rest
  CHECK(meet({branch(2), leave(), plain(), last()})[0] == 2);
}

TEST_CASE("In an entry, a conditional branch to its ret is an exit") {
  // while (…) { if (p) return; … } rest
  const std::vector<Step> steps = {plain(), branch(5), plain(), branch(0), plain(), last()};
  CHECK(meet(steps, true)[3] == 4);
  CHECK(meet(steps, false)[3] == 5);
}

TEST_CASE("A kernel without an end still meets inside its loop") {
  CHECK(meet({plain(), branch(3), plain(), plain(), jump(0), last()})[1] == 3);
  // Everything ends in a trap.
  CHECK(meet({branch(2), plain(), plain(), leave(), last()})[0] == 2);
}

TEST_CASE("An indexed branch meets where its targets do") {
  CHECK(meet({table(0), plain(), jump(5), plain(), jump(5), plain(), last()}, false, {{1, 3, 3}})[0] == 5);
}

TEST_CASE("A long function takes no longer than it must") {
  std::vector<Step> steps;
  for (u32 i = 0; i < 50'000; ++i) {
    steps.push_back(branch(2 * i + 2));
    steps.push_back(plain());
  }
  steps.push_back(last());
  CHECK(meet(steps)[0] == 2);
  std::vector<Step> nested;
  for (u32 i = 0; i < 50'000; ++i) nested.push_back(branch(100'000 - i));
  for (u32 i = 0; i < 50'001; ++i) nested.push_back(plain());
  nested.push_back(last());
  CHECK(meet(nested)[49'999] == 50'001);
}

TEST_CASE("Registers that are not needed at the same time share a slot") {
  // r0 = …; r1 = f(r0); r2 = f(r1)
  const Flow flow{{plain(), plain(), plain(), last()}, {}, true};
  const std::vector<Mention> mentions = {{0, 0, true}, {1, 0, false}, {1, 1, true}, {2, 1, false}, {2, 2, true}};
  const SlotMap map = allot(intervals(flow, mentions, 3), {Type::b32, Type::b32, Type::b32});
  CHECK(map.slot[0] == map.slot[2]);
  CHECK(map.slot[0] != map.slot[1]);  // a destination never overlaps a source
  CHECK(map.bytes == 256);
}

TEST_CASE("What a loop carries keeps its slot for the whole loop") {
  // 0: r0 = …  1: (loop) r1 = …  2: use r1  3: r2 = …  4: use r0, @p bra 1  5: ret
  const Flow flow{{plain(), plain(), plain(), plain(), branch(1), last()}, {}, true};
  const std::vector<Mention> mentions = {{0, 0, true}, {1, 1, true}, {2, 1, false}, {3, 2, true}, {3, 0, false}};
  const auto found = intervals(flow, mentions, 3);
  CHECK(found[0].last == 4);
  CHECK(found[1].first == 1);
  CHECK(found[1].last == 2);
  // Used before it is set: the value of the round before.
  const auto carried = intervals(flow, {{0, 0, true}, {1, 0, false}, {3, 0, true}}, 1);
  CHECK(carried[0].first == 0);
  CHECK(carried[0].last == 4);
  // Set under a guard: what was in it may still be needed.
  const auto guarded = intervals(flow, {{2, 0, false}, {3, 0, false}}, 1);
  CHECK(guarded[0].first == 0);
  CHECK(guarded[0].last == 4);
}
