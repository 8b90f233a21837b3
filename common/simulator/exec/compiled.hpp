// What the executor knows of compiled kernels (compile/): functions that run a warp's instructions from a place where a
// block of them begins until they leave the rest to the interpreter.
#pragma once
#include "common/simulator/exec/registers.hpp"

namespace cudasim {

// The block's shared memory: where it is on the host, its first address, and how many bytes instructions may access
// without access().
struct SharedRange {
  std::byte* at = nullptr;
  u32 begin = 0, bytes = 0;
};

// The local memory of the warp's threads: where lane 0 has its own on the host, how far it is to the next lane's, at
// which address the variables of the function begin, and where what instructions may access without access() ends.
struct LocalRange {
  std::byte* at = nullptr;
  u64 stride = 0;
  u32 base = 0, end = 0;
};

enum class Left : u32 {
  settled,  // the warp's state is as after an instruction: go on
  careful,  // the interpreter has to run the next instructions
  elsewhere,  // nothing has run: the registers are not what this function needs
};

// Runs from warp.pc, where Compiled::begins is set. The registers are in the frame before and after. `alone`: no lane
// of the warp is anywhere else.
using CompiledFunction = Left (*)(WarpState& warp, i64& budget, const SharedRange& shared, const LocalRange& local,
                                  bool alone);

struct Compiled {
  CompiledFunction together = nullptr;  // if all 32 lanes execute
  CompiledFunction apart = nullptr;  // for any lanes
  const bool* begins = nullptr;  // by instruction: whether the functions can begin there
};

// Of a kernel. `shape` is the index in Code::compiled, of the functions that it calls, too.
struct FoundCompiled {
  const Compiled* code = nullptr;
  u32 shape = 0;
};

}  // namespace cudasim
