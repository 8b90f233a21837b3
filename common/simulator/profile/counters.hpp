// What is counted: for each instruction of a kernel, from which everything else is summed up.
#pragma once
#include "common/simulator/exec/observer.hpp"
#include "common/simulator/ptx/notes.hpp"

#include <array>
#include <unordered_map>
#include <vector>

namespace cudasim {

struct GlobalCount {
  u64 requests = 0, sectors = 0, bytes = 0;  // bytes: that were wanted, each once a request
  void add(const GlobalCount& other);
};
struct SharedCount {
  u64 requests = 0, wavefronts = 0, least = 0;
  u64 conflicts() const { return wavefronts - least; }
  void add(const SharedCount& other);
};

// The counts of one instruction.
struct SiteCount {
  u64 warps = 0, lanes = 0;  // that executed it
  u64 parted = 0;            // branches at which lanes went different ways
  GlobalCount global, local;
  SharedCount shared;
  GlobalCount bulk;  // of copies in bulk: a request is what one thread asks for
  Access kind = Access::read;  // of what touches memory
};

// The counts of one or more launches of a kernel.
struct KernelCount {
  u64 launches = 0;
  u64 warps = 0, lanes = 0;
  std::array<u64, kClasses> by_class{};
  u64 branches = 0, parted = 0;
  GlobalCount loads, stores, atomics, reductions, copies, textures, local_loads, local_stores, bulk_loads, bulk_stores;
  SharedCount shared_loads, shared_stores, shared_atomics;
  u64 barriers = 0;
  u64 operand_bytes = 0;  // that wgmma reads from shared memory
  void add(const KernelCount& other);
};

// Adds what one instruction of a warp has touched.
void count_touches(SiteCount& count, const Notes::Statement& statement, const std::vector<Touch>& touches);

// Counts one grid, which one thread of the machine runs.
class Counter {
 public:
  void executed(const Code& code, const Instruction& instruction, u32 lanes, bool parted,
                const std::vector<Touch>& touches);
  struct Sites {
    const Code* code = nullptr;
    std::vector<SiteCount> by_instruction;
  };
  const std::unordered_map<const Code*, Sites>& sites() const { return sites_; }
  KernelCount sum() const;

 private:
  SiteCount& site(const Code& code, const Instruction& instruction);

  std::unordered_map<const Code*, Sites> sites_;
  Sites* last_ = nullptr;
};

}  // namespace cudasim
