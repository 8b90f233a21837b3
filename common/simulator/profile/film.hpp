// CUDASIM_FILM: records the warp instructions of one block of a kernel, for `make see`. The format is in README.md.
#pragma once
#include "common/simulator/exec/observer.hpp"
#include "common/simulator/ptx/notes.hpp"
#include "common/simulator/wanted.hpp"

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace cudasim {

struct Grid;

class Film {
 public:
  // Null if this launch is not among those that are wanted.
  static std::unique_ptr<Film> of(Grid& grid, u64 launch, const TraceChoice& choice);
  ~Film();  // writes the recording

  bool wants(const Block& block) const;
  // An instruction has run for the lanes of `mask`, out of `lanes`. `registers`: of the frame that it ran in.
  void executed(const Warp& warp, const Code& code, const Instruction& instruction, u32 mask, u32 lanes,
                const std::byte* registers, const std::vector<Touch>& touches);
  void fault(const Warp& warp, const Code& code, const Instruction& instruction, u32 mask, const Fault& fault);
  // A warp waits at a barrier; the barrier opens.
  void arrives(const Warp& warp, u32 barrier);
  void opens(u32 barrier);

  // A finding belongs to the last step that was recorded of this grid.
  static void add_finding(const Grid& grid, const std::string& title,
                          const std::vector<std::pair<const char*, std::string>>& rows);

 private:
  Film(Grid& grid, u64 launch, const TraceChoice& choice);
  u32 statement_of(const Code& code, u32 index);
  u32 name_of(const std::string& name);
  bool step(const Warp& warp, const Code& code, const Instruction& instruction, u32 mask, u32 lanes);
  std::string results(const Notes& notes, u32 index, const std::byte* registers, u32 mask);

  Grid& grid_;
  const TraceChoice& choice_;
  const u64 launch_;
  u64 block_ = 0;
  Dim3 index_{0, 0, 0};
  u64 count_ = 0, cut_ = 0;  // steps that were recorded; that came after
  std::map<std::pair<const Code*, u32>, u32> statements_;
  std::map<std::string, u32> names_;
  std::string statements_text_, names_text_, steps_, events_, findings_;  // JSON, without the brackets
};

}  // namespace cudasim
