#include "common/simulator/watch/families.hpp"

#include "common/simulator/exec/grid.hpp"
#include "common/simulator/exec/report.hpp"
#include "common/simulator/numbers.hpp"
#include "common/simulator/text.hpp"
#include "common/simulator/watch/finding.hpp"
#include "common/simulator/watch/watch.hpp"

#include <utility>

namespace cudasim {
namespace {

thread_local std::shared_ptr<const LaunchPoint> now;

}  // namespace

template <class F>
void Shadow::each_known(u64 address, u64 size, F f) const {
  for (u64 at = address; at < address + size;) {
    const auto found = pages_.find(at / kPage);
    if (found == pages_.end()) {
      at = (at / kPage + 1) * kPage;
      continue;
    }
    const u64 unit = found->second.split ? 1 : 4;
    f(found->second.cells[at % kPage / unit]);
    at = (at / unit + 1) * unit;
  }
}

template <class F>
void GridRaces::each_beside(const LaunchPoint& point, u64 address, u64 size, F f) const {
  const auto known = [&](const AccessLog::Entry& e, u32 lane) {
    if ((e.kind & AccessLog::kAsync) != 0) return true;
    const u32 whose = e.warp * kWarpSize + lane;
    if (e.block != static_cast<u32>(point.block)) {
      const Ref<Times>* times = point.known.others ? point.known.others->find(e.block) : nullptr;
      return times != nullptr && *times && (*times)->of(whose) >= e.time;
    }
    if (whose == point.thread) return e.time <= point.time;
    return point.known.own && point.known.own->of(whose) >= e.time;
  };
  shadow.each_known(address, size, [&](const Shadow::Cell& cell) {
    for (const Access32 access : cell.by) {
      if (access.bits == 0) break;
      const AccessLog::Entry& e = log[access.index()];
      if (!known(e, access.lane())) f(e, access.lane());
    }
  });
}

std::shared_ptr<const LaunchPoint> BlockRaces::launch_point(const Warp& warp, u32 lane) {
  const u32 time = now_[warp.index]++;
  return std::make_shared<LaunchPoint>(
      LaunchPoint{grid_.shared_from_this(), knows(warp, lane).seen, block_.number, member(warp, lane), time});
}

void BlockRaces::check_ancestors(Warp& warp, const Site& site, const Touch& touch, u8 kind) {
  constexpr u64 kOther = ~u64{0};  // no block of an ancestor's
  bool reported = false;
  for (const LaunchPoint* at = grid_.launched_at.get(); at != nullptr; at = at->parent->launched_at.get()) {
    const GridRaces& ancestor = *at->parent;
    ancestor.each_beside(*at, touch.address, touch.size, [&](const AccessLog::Entry& e, u32 lane) {
      if (std::exchange(reported, reported || conflict(kind, kOther, touch.silent, e))) return;
      if (!reported) return;
      const Grid& grid = *block_.grid;
      const Site& there = ancestor.site(e.site);
      const std::string here_at = where(grid.program, site), there_at = where(*ancestor.program, there);
      find(grid, "data race", "race with an ancestor " + here_at + " " + there_at,
           {{"thread", thread_name(grid, block_.number, member(warp, touch.lane)) + " " + done(kind, true, touch.size) +
                           " at " + here_at},
            {"kernel", readable(ancestor.kernel) + ", which launched it" +
                           (at == grid_.launched_at.get() ? "" : " through others")},
            {"thread", coordinates(place_in(e.warp * kWarpSize + lane, ancestor.threads)) + " of block " +
                           coordinates(place_in(e.block, ancestor.blocks)) + " " + done(e.kind, false, 0) + ", at " +
                           there_at},
            {"where", hex(touch.address) + " (global): " +
                          AddressSpace::instance().describe(touch.address, touch.size, grid.launch.context)},
            {"why",
             "a child may run while its parent does, and nothing orders these two accesses: no kernel can wait for its "
             "child (a launch in the same stream, or cudaStreamTailLaunch, comes later)"}});
    });
  }
}

std::shared_ptr<const LaunchPoint> launch_point(const Warp& warp, u32 lane) {
  if (warp.observer == nullptr || Watch::of(*warp.block).races() == nullptr) return nullptr;
  return Watch::of(*warp.block).races()->launch_point(warp, lane);
}

LaunchedAt::LaunchedAt(std::shared_ptr<const LaunchPoint> point) { now = std::move(point); }
LaunchedAt::~LaunchedAt() { now = nullptr; }
std::shared_ptr<const LaunchPoint> LaunchedAt::current() { return now; }

}  // namespace cudasim
