#include "common/simulator/profile/sight.hpp"

#include "common/simulator/exec/grid.hpp"
#include "common/simulator/exec/pseudo.hpp"
#include "common/simulator/profile/counters.hpp"
#include "common/simulator/profile/film.hpp"
#include "common/simulator/profile/report.hpp"
#include "common/simulator/profile/trace.hpp"
#include "common/simulator/wanted.hpp"

namespace cudasim {

std::unique_ptr<Sight> Sight::of(Grid& grid) {
  if (!notes_wanted() || grid.entry.notes == nullptr) return nullptr;
  std::unique_ptr<Sight> sight(new Sight(grid));
  const bool wanted = sight->counter_ != nullptr || sight->tracer_ != nullptr || sight->film_ != nullptr;
  return wanted ? std::move(sight) : nullptr;
}

Sight::Sight(Grid& grid) : grid_(grid) {
  if (profile_wanted().on) counter_ = std::make_unique<Counter>();
  if (!trace_wanted().ptx && film_wanted().file.empty()) return;
  const u64 launch = count_launch(grid);
  if (trace_wanted().ptx) tracer_ = Tracer::of(grid, launch, trace_wanted().only);
  if (!film_wanted().file.empty()) film_ = Film::of(grid, launch, film_wanted().only);
}

Sight::~Sight() {
  if (counter_ != nullptr) record_profile(grid_, *counter_);
}

bool Sight::sees(const Block& block) const {
  return counter_ != nullptr || (tracer_ != nullptr && tracer_->wants(block)) ||
         (film_ != nullptr && film_->wants(block));
}

void Sight::begin(Warp& warp, const Code& code, const Instruction& instruction, u32 mask) {
  now_ = {&code, &instruction, warp.lanes, mask, warp.base[0]};
}

void Sight::end(Warp& warp, const std::vector<Touch>& touches) {
  u32 done = now_.mask;
  if (done != 0) {
    // A .sync operation runs once all lanes that it needs have arrived; those that still wait are counted then.
    done |= warp.mask;
    for (const Fragment& f : warp.fragments) {
      if (f.wait == Wait::sync && f.at == now_.instruction) done &= ~f.lanes;
    }
    if (now_.instruction->run == run_branch_indexed) done = warp.mask;
    if (done == 0) return;
  }
  const bool parted = done != 0 && done != now_.lanes;
  if (counter_ != nullptr) counter_->executed(*now_.code, *now_.instruction, done, parted, touches);
  if (tracer_ != nullptr && tracer_->wants(*warp.block))
    tracer_->executed(warp, *now_.code, *now_.instruction, done, now_.lanes, now_.registers, touches);
  if (film_ != nullptr && film_->wants(*warp.block))
    film_->executed(warp, *now_.code, *now_.instruction, done, now_.lanes, now_.registers, touches);
}

void Sight::fault(Warp& warp, const Fault& fault) {
  if (tracer_ != nullptr && now_.code != nullptr && tracer_->wants(*warp.block))
    tracer_->fault(warp, *now_.code, *now_.instruction, now_.mask, fault);
  if (film_ != nullptr && now_.code != nullptr && film_->wants(*warp.block))
    film_->fault(warp, *now_.code, *now_.instruction, now_.mask, fault);
}

void Sight::arrive(const Warp& warp, u32 barrier) {
  if (film_ != nullptr && film_->wants(*warp.block)) film_->arrives(warp, barrier);
}

void Sight::open(const Block& block, u32 barrier) {
  if (film_ != nullptr && film_->wants(block)) film_->opens(barrier);
}

}  // namespace cudasim
