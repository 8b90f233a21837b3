// Passes each instruction of a grid to the counters (CUDASIM_PROFILE), the trace (CUDASIM_TRACE=ptx) and the film
// (CUDASIM_FILM).
#pragma once
#include "common/simulator/exec/observer.hpp"

#include <memory>
#include <vector>

namespace cudasim {

class Counter;
class Film;
class Tracer;
struct Grid;

class Sight {
 public:
  // Null if none of them wants this grid.
  static std::unique_ptr<Sight> of(Grid& grid);
  ~Sight();

  bool sees(const Block& block) const;
  // An instruction is about to run for `mask` of the fragment's `lanes`, or is passed by if mask is 0 …
  void begin(Warp& warp, const Code& code, const Instruction& instruction, u32 mask);
  // … and done, having touched this.
  void end(Warp& warp, const std::vector<Touch>& touches);
  // … or it was the one that ended the kernel.
  void fault(Warp& warp, const Fault& fault);
  // The executing warp waits at a barrier; the barrier opens.
  void arrive(const Warp& warp, u32 barrier);
  void open(const Block& block, u32 barrier);

 private:
  explicit Sight(Grid& grid);
  Grid& grid_;
  std::unique_ptr<Counter> counter_;
  std::unique_ptr<Tracer> tracer_;
  std::unique_ptr<Film> film_;
  struct {
    const Code* code = nullptr;
    const Instruction* instruction = nullptr;
    u32 lanes = 0, mask = 0;
    const std::byte* registers = nullptr;
  } now_;
};

}  // namespace cudasim
