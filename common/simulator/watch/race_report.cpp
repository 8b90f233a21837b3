// What is said of a race.
#include "common/simulator/exec/grid.hpp"
#include "common/simulator/exec/report.hpp"
#include "common/simulator/numbers.hpp"
#include "common/simulator/watch/finding.hpp"
#include "common/simulator/watch/race.hpp"

#include <algorithm>

namespace cudasim {

std::string done(u8 kind, bool now, u32 size) {
  const std::string bytes = now ? " " + std::to_string(size) + (size == 1 ? " byte" : " bytes") : "";
  if ((kind & AccessLog::kAsync) != 0) {
    const bool writes = (kind & AccessLog::kWrites) != 0;
    return std::string("copies asynchronously ") + (writes ? "to" : "from") + " there";
  }
  if ((kind & AccessLog::kAtomic) != 0) return now ? "changes" + bytes + " atomically" : "has changed them atomically";
  if ((kind & AccessLog::kWrites) != 0) return now ? "writes" + bytes : "has written there";
  return now ? "reads" + bytes : "has read there";
}

namespace {

std::string why(const Race& race) {
  const Race::Side &now = race.now, &before = race.before;
  const bool same_block = now.block == before.block, same_warp = same_block && now.thread / 32 == before.thread / 32;
  const u8 either = now.kind | before.kind, both = now.kind & before.kind;
  if ((either & AccessLog::kAsync) != 0) {
    return same_block && now.thread == before.thread
               ? "the copy may still be in progress: nothing has waited for it (cp.async.wait_group, an mbarrier)"
               : "before another thread touches these bytes, the copy must be waited for, followed by a barrier; or "
                 "use "
                 "an mbarrier that counts the copy";
  }
  if (before.site == now.site && same_warp && now.kind == before.kind && (now.kind & AccessLog::kWrites) != 0)
    return "lanes of one warp write different values to the same address, and any of them may remain";
  if ((both & AccessLog::kIsVolatile) != 0 && same_block) {
    return "both are volatile, but the lanes of a warp need not run in step, and no __syncwarp or barrier separates "
           "the "
           "two";
  }
  if ((both & AccessLog::kIsStrong) != 0)
    return "one of them is atomic for its own block only (.cta), and these are two blocks";
  if ((either & AccessLog::kIsStrong) != 0)
    return "one of them is atomic or volatile, the other is not, and nothing orders them";
  if (!same_block) {
    return "blocks run in any order, and nothing orders these two accesses (an atomic operation with fences around it "
           "would, or release and acquire, or another launch)";
  }
  return same_warp ? "the lanes of a warp run independently, and no __syncwarp or barrier separates the two"
                   : "no barrier that both threads reach (__syncthreads) separates the two";
}

}  // namespace

void report_race(const Grid& grid, const Race& race) {
  const std::string here = where(grid.program, race.now.site), there = where(grid.program, race.before.site);
  const bool shared = race.space == Space::shared;
  const std::string place = shared ? shared_name(grid, race.address)
                                   : AddressSpace::instance().describe(race.address, race.size, grid.launch.context);
  find(grid, "data race", "race " + std::min(here, there) + " " + std::max(here, there),
       {{"thread", thread_name(grid, race.now.block, race.now.thread) + " " + done(race.now.kind, true, race.size) +
                       " at " + here},
        {"thread", thread_name(grid, race.before.block, race.before.thread) + " " + done(race.before.kind, false, 0) +
                       ", at " + there},
        {"where", hex(race.address) + (shared ? " (shared): " : " (global): ") + place},
        {"why", why(race)}});
}

}  // namespace cudasim
