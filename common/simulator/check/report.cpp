// What a fault looks like to the person who wrote the kernel: which kernel, line and thread, what it tried, and where
// that lies.
#include "common/simulator/check/report.hpp"

#include "common/simulator/check/finding.hpp"
#include "common/simulator/exec/grid.hpp"
#include "common/simulator/numbers.hpp"

#include <cxxabi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>

namespace cudasim {
namespace {

std::string base_name(const std::string& path) {
  const std::size_t slash = path.find_last_of('/');
  return slash == std::string::npos ? path : path.substr(slash + 1);
}

void fill(Fault& fault, const Warp& warp, const Frame& frame, const Instruction& instruction) {
  const Code& code = *frame.code;
  if (instruction.statement < code.statements.size()) {
    const StatementInfo& info = code.statements[instruction.statement];
    const auto& files = warp.block->grid->program.files;
    fault.ptx_line = info.line;
    // A header's function, inlined, says less than the line that calls it.
    const bool called = info.source.outer_file != 0 && info.source.outer_file != info.source.file;
    const u32 file = called ? info.source.outer_file : info.source.file;
    fault.line = called ? info.source.outer_line : info.source.line;
    if (file != 0 && file < files.size()) fault.file = base_name(files[file]);
  }
  const Block& block = *warp.block;
  fault.block = block.index;
  const u32 thread = warp.index * kWarpSize + fault.lane;
  const Grid& grid = *block.grid;
  fault.thread = {grid.tid[0][thread], grid.tid[1][thread], grid.tid[2][thread]};
}

bool is_access(const Fault& fault) { return fault.size != 0; }

// Breaks a sentence at blanks so that it fits the width, with the lines after the first indented.
std::string wrapped(const std::string& text, std::size_t indent) {
  constexpr std::size_t kWidth = 100;
  std::string out;
  std::size_t column = indent, begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find_first_of(" \n", begin), text.size());
    if (column > indent && column + (end - begin) > kWidth) {
      if (!out.empty() && out.back() == ' ') out.pop_back();
      out += "\n" + std::string(indent, ' ');
      column = indent;
    }
    out.append(text, begin, end - begin);
    column += end - begin + 1;
    if (end < text.size()) {
      if (text[end] == '\n') {
        out += "\n" + std::string(indent, ' ');
        column = indent;
      } else {
        out += ' ';
      }
    }
    begin = end + 1;
  }
  return out;
}

}  // namespace

std::string row(const char* title, const std::string& text) {
  char head[16];
  std::snprintf(head, sizeof head, "  %-9s", title);
  return head + wrapped(text, 11) + "\n";
}

std::string source_of(const Program& program, const Frame& frame, const Instruction& instruction) {
  return where(program, {frame.code, &instruction});
}

void locate(Fault& fault, const Warp& warp) {
  if (warp.frame == nullptr || warp.pc == 0) return;
  fill(fault, warp, *warp.frame, warp.frame->code->instructions[warp.pc - 1]);
}

void place(Fault& fault, const Warp& warp, const Fragment& fragment) {
  fault.lane = static_cast<u32>(__builtin_ctz(fragment.lanes));
  const u32 pc = fragment.pc < fragment.frame->code->instructions.size() ? fragment.pc : 0;
  fill(fault, warp, *fragment.frame, fragment.at != nullptr ? *fragment.at : fragment.frame->code->instructions[pc]);
}

// A plain name may be a type's to the library: "rd" is "double restrict".
std::string demangled(const std::string& name) {
  if (!name.starts_with("_Z")) return name;
  int status = 0;
  char* text = abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status);
  const std::string result = status == 0 && text != nullptr ? text : name;
  std::free(text);
  return result;
}

std::string coordinates(Dim3 d) {
  return "(" + std::to_string(d.x) + "," + std::to_string(d.y) + "," + std::to_string(d.z) + ")";
}

std::string members(const char* one, u32 set) {
  std::string text = one;
  if (__builtin_popcount(set) != 1) text += "s";
  const char* separator = " ";
  for (u32 i = 0; i < 32; ++i) {
    if ((set >> i & 1) == 0) continue;
    u32 last = i;
    while (last + 1 < 32 && (set >> (last + 1) & 1) != 0) ++last;
    text += separator + std::to_string(i);
    if (last == i + 1) text += ", " + std::to_string(last);
    if (last > i + 1) text += " to " + std::to_string(last);
    separator = ", ";
    i = last;
  }
  return text;
}

const char* name(FaultKind kind) {
  switch (kind) {
    case FaultKind::illegal_address: return "illegal address";
    case FaultKind::misaligned_address: return "misaligned address";
    case FaultKind::invalid_address_space: return "address of the wrong state space";
    case FaultKind::invalid_pc: return "jump to no instruction";
    case FaultKind::illegal_instruction: return "illegal instruction";
    case FaultKind::trap: return "trap";
    case FaultKind::assertion: return "assertion failed";
    case FaultKind::stack_overflow: return "stack overflow";
    case FaultKind::timeout: return "the kernel does not end";
    case FaultKind::barrier: return "a barrier that can never be complete";
    case FaultKind::breakpoint: return "breakpoint";
  }
  return "fault";
}

std::string report(const Fault& fault) {
  // What a device answers as if a kernel had trapped, without one having asked for it.
  const FaultKind kind = fault.kind == FaultKind::trap && is_access(fault) ? FaultKind::illegal_address : fault.kind;
  std::string text = std::string("========= simulated GPU: ") + name(kind) + "\n";
  text += row("kernel", demangled(fault.kernel));
  std::string at = fault.file.empty() ? "" : fault.file + ":" + std::to_string(fault.line);
  if (fault.ptx_line != 0) {
    const std::string line = "line " + std::to_string(fault.ptx_line) + " of the PTX";
    at += at.empty() ? line : " (" + line + ")";
  }
  if (!at.empty()) text += row("at", at);
  text += row("thread", coordinates(fault.thread) + " of block " + coordinates(fault.block));
  if (!is_access(fault)) return text + row("why", fault.what);
  text += row("tried", fault.what + " at " + hex(fault.address) +
                           (fault.space == Space::generic ? "" : std::string(" (") + name(fault.space) + ")"));
  return text + row("which is", fault.where);
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
          (f.wait == Wait::none ? "" : " for " + what) + " at " + source_of(grid->program, *f.frame, at);
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
  if (some != 0) text += "\n" + members("warp", some) + ": part of the lanes have ended";
  constexpr std::size_t kMost = 1200;
  if (text.size() > kMost) text = text.substr(0, text.rfind('\n', kMost)) + "\n…";
  return text;
}

}  // namespace cudasim
