// CUDASIM_TRACE=ptx: what a teacher projects. The instructions of a warp, one after the other, with the lanes that ran
// them, what came out in each register, and which addresses were touched; at most 100 columns.
#pragma once
#include "common/simulator/exec/observer.hpp"
#include "common/simulator/ptx/notes.hpp"
#include "common/simulator/wanted.hpp"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace cudasim {

struct Grid;

// How often a kernel of this name has been launched, this launch included.
u64 count_launch(const Grid& grid);
bool wanted_launch(const Grid& grid, u64 launch, const TraceChoice& choice);
bool wanted_block(const Block& block, const TraceChoice& choice);

// A value as a person reads it, and that of one lane of a register.
std::string shown_value(u64 value, Type type, u32 size);
std::string lane_value(const std::byte* values, Type type, u32 lane);

class Tracer {
 public:
  // Null if this launch is not among those that are wanted.
  static std::unique_ptr<Tracer> of(Grid& grid, u64 launch, const TraceChoice& choice);

  bool wants(const Block& block) const;
  // `registers`: of the frame that the instruction ran in.
  void executed(const Warp& warp, const Code& code, const Instruction& instruction, u32 mask, u32 lanes,
                const std::byte* registers, const std::vector<Touch>& touches);
  void fault(const Warp& warp, const Code& code, const Instruction& instruction, u32 mask, const Fault& fault);

 private:
  Tracer(Grid& grid, const TraceChoice& choice) : grid_(grid), choice_(choice) {}
  bool shows(const Warp& warp);
  void head(const Warp& warp);

  Grid& grid_;
  const TraceChoice& choice_;
  const Warp* last_ = nullptr;
  u64 last_block_ = 0;
  std::map<std::pair<u64, u32>, u64> shown_;  // by block and warp
};

}  // namespace cudasim
