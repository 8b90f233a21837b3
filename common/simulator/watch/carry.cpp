// How unwritten bits pass through registers.
#include "common/simulator/exec/exchange.hpp"
#include "common/simulator/exec/grid.hpp"
#include "common/simulator/exec/pseudo.hpp"
#include "common/simulator/watch/init.hpp"

#include <cstring>

namespace cudasim {
namespace {

Carries carries(const Site& site) { return site.code->statements[site.instruction->statement].carries; }

u32 bytes_of(const Unwritten::Register& reg) { return reg.bytes == 0 ? 4 : reg.bytes * kWarpSize; }

// How an instruction uses a register whose value must be known; null: it only passes it on.
const char* use_of(const Site& site, const Code::Use& use) {
  const Instruction& i = *site.instruction;
  const bool branches = i.run == run_branch;
  if (i.guard != kNoSlot && use.bytes == 0 && use.slot == (i.guard & ~3u))
    return branches ? "the condition of a branch" : "the predicate of an instruction";
  if (use.address) return "an address";
  if (i.run == run_branch_indexed) return "the index of a branch";
  if (carries(site) == Carries::nothing) return "an operand of an atomic operation or a barrier";
  return nullptr;
}

}  // namespace

std::span<const Code::Use> GridReads::uses(const Site& site) {
  if (code_ != site.code) {
    code_ = site.code;
    now_ = &first_[code_];
    if (now_->empty()) {
      now_->resize(code_->instructions.size() + 1);
      for (const Code::Use& use : code_->uses) ++(*now_)[use.instruction + 1];
      for (std::size_t i = 1; i < now_->size(); ++i) (*now_)[i] += (*now_)[i - 1];
    }
  }
  const auto index = static_cast<std::size_t>(site.instruction - code_->instructions.data());
  return std::span(code_->uses).subspan((*now_)[index], (*now_)[index + 1] - (*now_)[index]);
}

const BlockReads::Source* BlockReads::source(Slot slot) const {
  for (const Source& each : sources_) {
    if (each.bits.slot == slot) return &each;
  }
  return nullptr;
}

// Reports what the instruction uses, and keeps what it passes on.
void BlockReads::begins(Warp& warp, const Site& site, u32 mask) {
  sources_.clear();
  const auto found = frames_.find(warp.frame);
  frame_ = found == frames_.end() ? nullptr : warp.frame;
  if (frame_ == nullptr) return;
  const bool others = carries(site) == Carries::passed_bits || carries(site) == Carries::lanes;
  for (const Code::Use& use : grid_.uses(site)) {
    Unwritten::Register* reg = use.written || (use.slot & kConstant) != 0 ? nullptr : found->second.find(use.slot);
    if (reg == nullptr || reg->bytes != use.bytes) continue;
    const char* const used = use_of(site, use);
    const bool guards = site.instruction->guard != kNoSlot && use.slot == (site.instruction->guard & ~3u);
    const u32 lanes = reg->lanes & (used != nullptr && guards ? warp.lanes : others && mask != 0 ? kAllLanes : mask);
    if (lanes == 0) continue;
    if (used != nullptr) {
      report_use(warp, site, first_lane(lanes), reg->origin[first_lane(lanes)], used);
      found->second.clear(use.slot, lanes);  // one report is enough
    } else if (source(use.slot) == nullptr) {
      Source& kept = sources_.emplace_back();
      kept.bits = *reg;
      std::memcpy(kept.before.data(), warp.base[0] + use.slot, bytes_of(*reg));
    }
  }
  if (found->second.empty()) frames_.erase(found), frame_ = nullptr;
}

void BlockReads::carried(Warp& warp, const Site& site) {
  // A call and a return have said what they pass.
  const bool elsewhere = frame_ == nullptr || warp.frame != frame_ || site.instruction->run == run_return;
  if (elsewhere) return;
  const bool called = site.instruction->run == run_call;
  switch (called ? Carries::nothing : carries(site)) {
    case Carries::bits:
    case Carries::passed_bits: carry_bits(warp, site); break;
    case Carries::lanes: carry_whole(warp, site, kAllLanes, warp.mask); break;
    case Carries::result: carry_whole(warp, site, warp.mask, warp.mask); break;
    default: carry_whole(warp, site, 0, warp.mask);
  }
  if (const auto found = frames_.find(frame_); found != frames_.end() && found->second.empty()) frames_.erase(found);
  frame_ = nullptr;
}

// The results of the lanes `to` are unwritten where a source is: in the same lane, or in any of `from`.
void BlockReads::carry_whole(const Warp& warp, const Site& site, u32 from, u32 to) {
  u32 lanes = 0;
  std::array<u32, kWarpSize> origin{};
  for (const Source& each : sources_) {
    for (const u32 lane : set_bits(each.bits.lanes & from)) origin[lane] = each.bits.origin[lane];
    lanes |= each.bits.lanes & from;
  }
  if (lanes != 0 && carries(site) == Carries::lanes) {
    origin.fill(origin[first_lane(lanes)]);
    lanes = to;
  }
  Unwritten& registers = frames_[warp.frame];
  for (const Code::Use& use : grid_.uses(site)) {
    if (!use.written) continue;
    registers.clear(use.slot, to & ~lanes);
    for (const u32 lane : set_bits(to & lanes)) registers.set(use.slot, use.bytes, lane, nullptr, origin[lane]);
  }
}

namespace {

// The register with its unwritten bits as zeros or as ones.
void replace(std::byte* to, const Unwritten::Register& bits, const std::byte* before, bool ones) {
  std::memcpy(to, before, bytes_of(bits));
  if (bits.bytes == 0) {
    u32 word = 0;
    std::memcpy(&word, to, sizeof word);
    word = ones ? word | bits.lanes : word & ~bits.lanes;
    std::memcpy(to, &word, sizeof word);
    return;
  }
  for (const u32 lane : set_bits(bits.lanes)) {
    for (u32 b = 0; b < bits.bytes; ++b) {
      std::byte& byte = to[lane * bits.bytes + b];
      const std::byte unwritten{bits.of(lane)[b]};
      byte = ones ? byte | unwritten : byte & ~unwritten;
    }
  }
}

// Which combinations of zeros and ones show every bit that depends on one of `count` operands: all of up to three, as
// xor and lop3 need them; of more, as mov packs them, each alone.
u32 combinations(u32 count) { return count <= 3 ? 1u << count : count + 1; }
bool is_one(u32 combination, u32 operand, u32 count) {
  return count <= 3 ? (combination >> operand & 1) != 0 : combination == operand + 1;
}

}  // namespace

// The instruction is executed again with the unwritten bits as zeros and as ones: the bits of the results that differ
// are unwritten.
void BlockReads::carry_bits(Warp& warp, const Site& site) {
  Unwritten& registers = frames_[warp.frame];
  struct Result {
    const Code::Use* use;
    u32 size;
    std::array<std::byte, 512> now, first;
    std::array<u8, 512> differs{};
  };
  std::vector<Result> results;
  for (const Code::Use& use : grid_.uses(site)) {
    if (!use.written) continue;
    registers.clear(use.slot, warp.mask);
    if (sources_.empty()) continue;
    Result& result = results.emplace_back();
    result.use = &use;
    result.size = use.bytes == 0 ? 4 : use.bytes * kWarpSize;
    std::memcpy(result.now.data(), warp.base[0] + use.slot, result.size);
  }
  if (results.empty()) return;
  std::vector<std::array<std::byte, 512>> sources_now(sources_.size());
  const u32 count = static_cast<u32>(sources_.size());
  for (u32 s = 0; s < count; ++s)
    std::memcpy(sources_now[s].data(), warp.base[0] + sources_[s].bits.slot, bytes_of(sources_[s].bits));
  Instruction again = *site.instruction;
  again.control |= carries(site) == Carries::passed_bits ? kGathered : 0;
  for (u32 c = 0; c < combinations(count); ++c) {
    for (const Result& r : results) std::memcpy(warp.base[0] + r.use->slot, r.now.data(), r.size);
    for (u32 s = 0; s < count; ++s)
      replace(warp.base[0] + sources_[s].bits.slot, sources_[s].bits, sources_[s].before.data(), is_one(c, s, count));
    again.run(warp, again);
    for (Result& r : results) {
      const std::byte* const now = warp.base[0] + r.use->slot;
      if (c == 0) std::memcpy(r.first.data(), now, r.size);
      for (u32 b = 0; b < r.size; ++b) r.differs[b] |= static_cast<u8>(now[b] ^ r.first[b]);
    }
  }
  for (u32 s = 0; s < count; ++s)
    std::memcpy(warp.base[0] + sources_[s].bits.slot, sources_now[s].data(), bytes_of(sources_[s].bits));
  for (const Result& r : results) {
    std::memcpy(warp.base[0] + r.use->slot, r.now.data(), r.size);
    u32 word = 0;
    std::memcpy(&word, r.differs.data(), sizeof word);
    for (const u32 lane : set_bits(warp.mask)) {
      const u32 bytes = r.use->bytes;
      const u8* const bits = r.differs.data() + lane * bytes;
      const bool any =
          bytes == 0 ? (word >> lane & 1) != 0 : std::any_of(bits, bits + bytes, [](u8 b) { return b != 0; });
      if (!any) continue;
      const auto from = std::find_if(sources_.begin(), sources_.end(),
                                     [&](const Source& each) { return (each.bits.lanes >> lane & 1) != 0; });
      const Unwritten::Register& origin = from == sources_.end() ? sources_.front().bits : from->bits;
      const u32 of = from == sources_.end() ? first_lane(origin.lanes) : lane;
      registers.set(r.use->slot, bytes, lane, bits, origin.origin[of]);
    }
  }
}

}  // namespace cudasim
