// What a fault looks like to the person who wrote the kernel: which kernel, line and thread, what it tried, and where
// that lies.
#include "common/simulator/exec/report.hpp"

#include "common/simulator/exec/grid.hpp"
#include "common/simulator/numbers.hpp"
#include "common/simulator/text.hpp"
#include "common/simulator/variables.hpp"
#include "common/simulator/wanted.hpp"

#include <cstdio>
#include <map>
#include <mutex>
#include <set>

namespace cudasim {
namespace {

// "kernels.cu:12"; nothing if the line is unknown.
std::string written(const Program& program, u32 file, u32 line) {
  if (file == 0 || file >= program.files.size()) return "";
  const std::string& path = program.files[file];
  return path.substr(path.rfind('/') + 1) + ":" + std::to_string(line);
}

// Where an inlined function was called: "called from kernels.cu:12".
std::string called(const Program& program, const SourceLine& at) {
  const std::string call = written(program, at.outer_file, at.outer_line);
  return call.empty() ? "" : "called from " + call;
}

void fill(Fault& fault, const Warp& warp, const Frame& frame, const Instruction& instruction) {
  const Code& code = *frame.code;
  if (instruction.statement < code.statements.size()) {
    const StatementInfo& info = code.statements[instruction.statement];
    const Program& program = warp.block->grid->program;
    const std::string line = "line " + std::to_string(info.line) + " of the PTX", call = called(program, info.source);
    fault.ptx_line = info.line;
    fault.at = written(program, info.source.file, info.source.line);
    fault.at = fault.at.empty() ? line + " (nvcc's -lineinfo adds the line of the source)"
                                : fault.at + " (" + call + (call.empty() ? "" : "; ") + line + ")";
  }
  const Block& block = *warp.block;
  fault.block = block.index;
  const u32 thread = warp.index * kWarpSize + fault.lane;
  const Grid& grid = *block.grid;
  fault.thread = {grid.tid[0][thread], grid.tid[1][thread], grid.tid[2][thread]};
}

bool is_access(const Fault& fault) { return fault.size != 0; }

}  // namespace

std::string where(const Program& program, const Site& site) {
  if (site.instruction->statement >= site.code->statements.size()) return site.code->name;
  const StatementInfo& info = site.code->statements[site.instruction->statement];
  const std::string own = written(program, info.source.file, info.source.line), call = called(program, info.source);
  if (own.empty()) return "PTX line " + std::to_string(info.line);
  return own + (call.empty() ? "" : " (" + call + ")");
}

std::string thread_name(const Grid& grid, u64 block, u32 thread) {
  const Dim3 own{grid.tid[0][thread], grid.tid[1][thread], grid.tid[2][thread]};
  return coordinates(own) + " of block " + coordinates(place_in(block, grid.launch.grid));
}

std::string shared_name(const Grid& grid, u64 address) {
  std::string text = "byte " + std::to_string(address) + " of the block's shared memory";
  const Kernel::SharedVariable* found = nullptr;
  for (const auto& variable : grid.kernel.shared_variables) {
    if (address < variable.offset || (variable.size != 0 && address >= variable.offset + variable.size)) continue;
    found = &variable;
    if (variable.size != 0) break;
  }
  if (found == nullptr) return text;
  return "byte " + std::to_string(address - found->offset) + " of '" + unscoped(found->name) + "', " + text;
}

std::string unscoped(const std::string& variable) {
  const std::string name = demangled(variable);
  const std::size_t scope = name.rfind("::");
  return scope == std::string::npos ? name : name.substr(scope + 2);
}

void locate(Fault& fault, const Warp& warp) {
  if (warp.frame == nullptr || warp.pc == 0) return;
  fill(fault, warp, *warp.frame, warp.frame->code->instructions[warp.pc - 1]);
}

void locate(Fault& fault, const Warp& warp, const Fragment& fragment) {
  fault.lane = first_lane(fragment.lanes);
  const u32 pc = fragment.pc < fragment.frame->code->instructions.size() ? fragment.pc : 0;
  fill(fault, warp, *fragment.frame, fragment.at != nullptr ? *fragment.at : fragment.frame->code->instructions[pc]);
}

std::string no_stack_left(const Grid& grid) {
  return "no room is left on the thread's stack, which is limited to " + std::to_string(grid.launch.stack_bytes) +
         " bytes (cuCtxSetLimit and CU_LIMIT_STACK_SIZE, or cudaDeviceSetLimit and cudaLimitStackSize, change that)";
}

const char* name(FaultKind kind) {
  switch (kind) {
    case FaultKind::illegal_address: return "illegal address";
    case FaultKind::misaligned_address: return "misaligned address";
    case FaultKind::invalid_address_space: return "address of the wrong state space";
    case FaultKind::invalid_pc: return "jump to an invalid address";
    case FaultKind::illegal_instruction: return "illegal instruction";
    case FaultKind::trap: return "trap";
    case FaultKind::assertion: return "assertion failed";
    case FaultKind::stack_overflow: return "stack overflow";
    case FaultKind::timeout: return "the kernel does not end";
    case FaultKind::barrier: return "a barrier that can never complete";
    case FaultKind::breakpoint: return "breakpoint";
  }
  return "fault";
}

std::string report(const Fault& fault) {
  // A device reports some bad accesses as if the kernel had executed `trap`.
  const FaultKind kind = fault.kind == FaultKind::trap && is_access(fault) ? FaultKind::illegal_address : fault.kind;
  std::string text = std::string("========= simulated GPU: ") + name(kind) + "\n";
  text += row("kernel", readable(fault.kernel));
  if (!fault.at.empty()) text += row("at", fault.at);
  text += row("thread", coordinates(fault.thread) + " of block " + coordinates(fault.block));
  if (!is_access(fault)) return text + row("why", fault.what);
  text += row("access", fault.what + " at " + hex(fault.address) +
                            (fault.space == Space::generic ? "" : std::string(" (") + name(fault.space) + ")"));
  text += row("which is", fault.where);
  if (fault.mapped && !hardware_bounds() && !quiet())
    text += row("but", "on a GPU that memory is mapped; CUDASIM_BOUNDS=hardware permits such accesses");
  return text;
}

void tell_tolerated(Fault fault, const Warp& warp) {
  locate(fault, warp);
  fault.kernel = warp.block->grid->kernel.name;
  static std::mutex& mutex = *new std::mutex;
  static auto& told = *new std::set<std::pair<std::string, u32>>;
  constexpr std::size_t kMost = 50;
  const std::scoped_lock lock(mutex);
  if (told.size() >= kMost || !told.insert({fault.kernel, fault.ptx_line}).second) return;
  const std::string text = report(fault);
  std::fprintf(stderr, "========= simulated GPU: access past the end, which a GPU permits%s",
               text.substr(text.find('\n')).c_str());
}

// One line for each group of lanes that wait for the same thing at the same place.
std::string Block::who_waits_where() const {
  std::map<std::pair<std::string, std::string>, u32> whole;  // verb and place → warps that are there with all lanes
  const auto verb = [](const std::string& word, bool one) { return one ? word + "s" : word; };
  std::string parts;
  for (const Warp& warp : warps) {
    for (const Fragment& f : warp.fragments) {
      std::string what;
      switch (f.wait) {
        case Wait::barrier: what = "barrier " + std::to_string(f.barrier); break;
        case Wait::sync: what = "the other lanes of a .sync instruction (" + members("lane", f.members) + ")"; break;
        case Wait::warp_sync: what = "bar.warp.sync of " + members("lane", f.members); break;
        case Wait::cluster: what = "the cluster's barrier"; break;
        case Wait::none: what = "nothing"; break;
      }
      const Instruction& at = f.at != nullptr ? *f.at : f.frame->code->instructions[f.pc];
      const std::string does = f.wait == Wait::none ? "run" : "wait";
      const std::string line =
          (f.wait == Wait::none ? "" : " for " + what) + " at " + where(grid->program, {f.frame->code, &at});
      if (f.lanes == warp.present)
        whole[{does, line}] |= 1u << warp.index;
      else
        parts += "\nwarp " + std::to_string(warp.index) + ", " + members("lane", f.lanes) + ": " +
                 verb(does, __builtin_popcount(f.lanes) == 1) + line;
    }
  }
  std::string text;
  for (const auto& [line, set] : whole)
    text += "\n" + members("warp", set) + ": " + verb(line.first, __builtin_popcount(set) == 1) + line.second;
  text += parts;
  u32 gone = 0, some = 0;
  for (const Warp& warp : warps) {
    if (warp.live == 0) gone |= 1u << warp.index;
    if (warp.live != 0 && warp.live != warp.present) some |= 1u << warp.index;
  }
  const auto have = [](u32 set) { return __builtin_popcount(set) == 1 ? ": has ended" : ": have ended"; };
  if (gone != 0) text += "\n" + members("warp", gone) + have(gone);
  if (some != 0) text += "\n" + members("warp", some) + ": some lanes have ended";
  constexpr std::size_t kMost = 1200;
  if (text.size() > kMost) text = text.substr(0, text.rfind('\n', kMost)) + "\n…";
  return text;
}

}  // namespace cudasim
