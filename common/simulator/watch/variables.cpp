#include "common/simulator/watch/variables.hpp"

#include "common/simulator/exec/grid.hpp"
#include "common/simulator/exec/report.hpp"
#include "common/simulator/numbers.hpp"
#include "common/simulator/text.hpp"
#include "common/simulator/watch/finding.hpp"

#include <algorithm>

namespace cudasim {
namespace {

const Kernel::SharedVariable* variable_of(const Kernel& kernel, const Site& site) {
  const std::vector<u32>& known = site.code->shared_variable_of;
  const u32 statement = site.instruction->statement;
  if (statement >= known.size() || known[statement] == 0) return nullptr;
  const auto offset = kernel.shared_offset.find(known[statement] - 1);
  if (offset == kernel.shared_offset.end()) return nullptr;
  const auto found = std::find_if(kernel.shared_variables.begin(), kernel.shared_variables.end(),
                                  [&](const auto& each) { return each.offset == offset->second && each.size != 0; });
  return found == kernel.shared_variables.end() ? nullptr : &*found;
}

std::string count(u64 n) { return std::to_string(n) + (n == 1 ? " byte" : " bytes"); }

}  // namespace

void check_variables(const Warp& warp, const Site& site, const std::vector<Touch>& touches) {
  const Block& block = *warp.block;
  const Grid& grid = *block.grid;
  const Kernel::SharedVariable* variable = variable_of(grid.kernel, site);
  if (variable == nullptr) return;
  const u64 begin = variable->offset, end = begin + variable->size;
  for (const Touch& touch : touches) {
    if (touch.space != Space::shared || touch.owner != &block || touch.asynchronous) continue;
    if (touch.address >= begin && touch.address + touch.size <= end) continue;
    const std::string name = unscoped(variable->name);
    const std::string place = where(grid.program, site);
    const char* verb = touch.kind == Access::read    ? "read of "
                       : touch.kind == Access::write ? "write of "
                                                     : "atomic operation on ";
    std::string distance = count(begin - touch.address) + " before '" + name + "'";
    if (touch.address >= end) distance = count(touch.address - end) + " past the end of '" + name + "'";
    if (touch.address >= begin && touch.address <= end) distance = "just past the end of '" + name + "'";
    find(grid, "index outside a shared variable", "memory " + place,
         {{"at", place},
          {"thread", thread_name(grid, block.number, warp.index * kWarpSize + touch.lane)},
          {"access", verb + count(touch.size) + " at " + hex(touch.address) + " (shared)"},
          {"which is", distance + ", which has " + count(variable->size)},
          {"there is", shared_name(grid, touch.address)}});
    return;
  }
}

}  // namespace cudasim
