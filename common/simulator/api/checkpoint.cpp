// Checkpoints of processes (CUDA Driver API manual, "CUDA Checkpointing"): a process is locked, which makes its calls
// wait, checkpointed when its work is done, restored, and unlocked; by itself or by another of the same user. What a
// simulated device holds is the process's own memory, so that there is nothing to move; it only no longer counts. There
// is no thread that would restore: cuCheckpointProcessGetRestoreThreadId refuses.
#include "common/simulator/state/processes/checkpoint.hpp"
#include "common/simulator/api/call.hpp"
#include "common/simulator/state/processes/family.hpp"

#include <signal.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>

#if CUDA_VERSION >= 12080
namespace cudasim {

namespace {

constexpr unsigned kNever = ~0u;

bool is_zero(const void* bytes, std::size_t size) {
  const auto* begin = static_cast<const unsigned char*>(bytes);
  return std::all_of(begin, begin + size, [](unsigned char byte) { return byte == 0; });
}

// False if the time, in milliseconds, has run out. The other process may end while this one waits.
template <class Left>
bool wait_until_none(const Left& left, i32 process, unsigned milliseconds) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(milliseconds);
  while (left() != 0) {
    require(kill(process, 0) == 0, CUDA_ERROR_OPERATING_SYSTEM);
    if (milliseconds != kNever && std::chrono::steady_clock::now() >= end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

void change(ProcessPage& page, CUprocessState from, CUprocessState to) {
  u32 expected = from;
  require(page.state.compare_exchange_strong(expected, to), CUDA_ERROR_ILLEGAL_STATE);
}

CUresult lock(i32 process, unsigned milliseconds) {
  const auto page = process_page(process);
  require(page->fault == 0, static_cast<CUresult>(page->fault.load()));
  change(*page, CU_PROCESS_STATE_RUNNING, CU_PROCESS_STATE_LOCKED);
  if (wait_until_none([&] { return page->calls(); }, process, milliseconds)) return CUDA_SUCCESS;
  page->state = CU_PROCESS_STATE_RUNNING;
  return CUDA_ERROR_NOT_READY;
}

CUresult checkpoint(i32 process) {
  const auto page = process_page(process);
  require(page->state == CU_PROCESS_STATE_LOCKED, CUDA_ERROR_ILLEGAL_STATE);
  wait_until_none([&] { return page->work.load(); }, process, kNever);
  change(*page, CU_PROCESS_STATE_LOCKED, CU_PROCESS_STATE_CHECKPOINTED);
  move_memory(process, true);
  return CUDA_SUCCESS;
}

// Devices cannot be exchanged: each must be restored as itself.
void require_same_devices(const CUcheckpointRestoreArgs& args) {
#if CUDA_VERSION >= 13000
  require(args.gpuPairsCount == 0 || args.gpuPairs != nullptr);
  for (unsigned i = 0; i < args.gpuPairsCount; ++i) {
    const CUcheckpointGpuPair& pair = args.gpuPairs[i];
    if (std::memcmp(&pair.oldUuid, &pair.newUuid, sizeof(CUuuid)) == 0) continue;
    fail(refuse("cuCheckpointProcessRestore", "onto another device"));
  }
  CUcheckpointRestoreArgs rest = args;
  rest.gpuPairs = nullptr;
  rest.gpuPairsCount = 0;
  require(is_zero(&rest, sizeof rest));
#else
  require(is_zero(&args, sizeof args));
#endif
}

}  // namespace

CUresult driver::call_cuCheckpointProcessGetState(int pid, CUprocessState* state) {
  require(state != nullptr);
  *state = static_cast<CUprocessState>(process_page(pid)->state.load());
  return CUDA_SUCCESS;
}

CUresult driver::call_cuCheckpointProcessLock(int pid, CUcheckpointLockArgs* args) {
  const unsigned limit = args != nullptr && args->timeoutMs != 0 ? args->timeoutMs : kNever;
  require(args == nullptr || is_zero(&args->reserved0, sizeof *args - offsetof(CUcheckpointLockArgs, reserved0)));
  return lock(pid, limit);
}

CUresult driver::call_cuCheckpointProcessCheckpoint(int pid, CUcheckpointCheckpointArgs* args) {
  require(args == nullptr || is_zero(args, sizeof *args));
  return checkpoint(pid);
}

CUresult driver::call_cuCheckpointProcessRestore(int pid, CUcheckpointRestoreArgs* args) {
  if (args != nullptr) require_same_devices(*args);
  const auto page = process_page(pid);
  require(page->state == CU_PROCESS_STATE_CHECKPOINTED, CUDA_ERROR_ILLEGAL_STATE);
  require(page->opened == 0);  // as driver 580; the process stays checkpointed
  change(*page, CU_PROCESS_STATE_CHECKPOINTED, CU_PROCESS_STATE_LOCKED);
  move_memory(pid, false);
  return CUDA_SUCCESS;
}

CUresult driver::call_cuCheckpointProcessUnlock(int pid, CUcheckpointUnlockArgs* args) {
  require(args == nullptr || is_zero(args, sizeof *args));
  change(*process_page(pid), CU_PROCESS_STATE_LOCKED, CU_PROCESS_STATE_RUNNING);
  return CUDA_SUCCESS;
}

}  // namespace cudasim
#endif
