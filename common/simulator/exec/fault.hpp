// What a kernel did wrong: thrown by an instruction, completed by the warp and the block that run it, reported by
// check/.
#pragma once
#include "common/simulator/types.hpp"

#include <string>

namespace cudasim {

enum class FaultKind : u8 {
  illegal_address,     // no allocation, or past the end of one: CUDA_ERROR_ILLEGAL_ADDRESS
  misaligned_address,  // CUDA_ERROR_MISALIGNED_ADDRESS
  invalid_address_space,
  invalid_pc,
  illegal_instruction,
  trap,       // CUDA_ERROR_LAUNCH_FAILED
  assertion,  // CUDA_ERROR_ASSERT
  stack_overflow,
  timeout,  // the instruction budget is spent, or all threads wait for each other: CUDA_ERROR_LAUNCH_TIMEOUT
  barrier,  // a barrier that part of the block never reaches
  breakpoint,
};

struct Fault {
  FaultKind kind = FaultKind::trap;
  std::string what = {};  // "write of 4 bytes", or the whole sentence
  Space space = Space::generic;
  u64 address = 0;  // as the instruction used it
  u32 size = 0;     // bytes
  u32 lane = 0;
  std::string where = {};  // of an access: what is at the address (AddressSpace::describe)
  bool mapped = false;     // of an access: a GPU would let it pass, and so does CUDASIM_BOUNDS=hardware
  // Filled in where it is caught.
  std::string kernel = {}, at = {};  // at: the line of the source, if the PTX has it, and of the PTX
  u32 ptx_line = 0;
  Dim3 block{0, 0, 0}, thread{0, 0, 0};
  std::string report = {};  // the text that goes to stderr, several lines
};

}  // namespace cudasim
