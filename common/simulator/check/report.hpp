// What a fault looks like to the person who wrote the kernel.
#pragma once
#include "common/simulator/exec/block.hpp"

#include <string>

namespace cudasim {

// Fills in where the instruction that warp.pc has just passed comes from, and which thread ran it.
void locate(Fault& fault, const Warp& warp);
// The same for a fragment that waits.
void place(Fault& fault, const Warp& warp, const Fragment& fragment);
// What a thread stands at, "kernels.cu:12" or "PTX line 40".
std::string source_of(const Program& program, const Frame& frame, const Instruction& instruction);

std::string demangled(const std::string& name);
std::string coordinates(Dim3 d);
// "warps 0 to 3 and 5", "lane 7": of the bits that are set.
std::string members(const char* one, u32 set);

// One line of a report, or several if the text is long.
std::string row(const char* title, const std::string& text);
// The text for stderr, several lines.
std::string report(const Fault& fault);
// "k.cu:10: void f(int): block: [0,0,0], thread: [0,0,0] Assertion `x==0` failed." is printed where it happens; this
// is the name of each kind of fault.
const char* name(FaultKind kind);

}  // namespace cudasim
