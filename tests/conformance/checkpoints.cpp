// Processes that are locked and checkpointed, by themselves and by others. Asked of an H200 in CUDA 13.0.
#include "tests/conformance/scenario.hpp"

#if CUDA_VERSION >= 12080
#include <atomic>
#include <thread>

namespace {

void has_state(pid_t process, CUprocessState expected) {
  CUprocessState state = CU_PROCESS_STATE_FAILED;
  ANSWERS(cuCheckpointProcessGetState(process, &state), CUDA_SUCCESS);
  CHECK(state == expected);
}

}  // namespace

FRESH_CASE("A process that is locked can be checkpointed and restored, one that runs cannot", "[checkpoint]") {
  conformance::context();
  const pid_t own = getpid();
  has_state(own, CU_PROCESS_STATE_RUNNING);
  ANSWERS(cuCheckpointProcessGetState(own, nullptr), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuCheckpointProcessUnlock(own, nullptr), CUDA_ERROR_ILLEGAL_STATE);
  ANSWERS(cuCheckpointProcessCheckpoint(own, nullptr), CUDA_ERROR_ILLEGAL_STATE);
  ANSWERS(cuCheckpointProcessRestore(own, nullptr), CUDA_ERROR_ILLEGAL_STATE);
  CUcheckpointLockArgs within{};
  within.timeoutMs = 5000;
  ANSWERS(cuCheckpointProcessLock(own, &within), CUDA_SUCCESS);
  has_state(own, CU_PROCESS_STATE_LOCKED);
  ANSWERS(cuCheckpointProcessLock(own, &within), CUDA_ERROR_ILLEGAL_STATE);
  ANSWERS(cuCheckpointProcessUnlock(own, nullptr), CUDA_SUCCESS);
  has_state(own, CU_PROCESS_STATE_RUNNING);
  ANSWERS(cuCtxSynchronize(), CUDA_SUCCESS);
}

FRESH_CASE("Only a process that has called cuInit has a state", "[checkpoint]") {
  conformance::device();
  CUprocessState state = CU_PROCESS_STATE_FAILED;
  const pid_t nobody = fork();
  if (nobody == 0) pause();
  ANSWERS(cuCheckpointProcessGetState(nobody, &state), CUDA_ERROR_NOT_INITIALIZED);
  kill(nobody, SIGKILL);
  waitpid(nobody, nullptr, 0);
  ANSWERS(cuCheckpointProcessGetState(nobody, &state), CUDA_ERROR_OPERATING_SYSTEM);
}

FRESH_CASE("The calls of a locked process wait until it is unlocked", "[checkpoint]") {
  const conformance::Context made = conformance::context();
  if (!conformance::on_simulator()) SKIP_TEST("asked of a GPU's driver only with calls from another process");
  std::atomic<bool> begun{false}, returned{false};
  CU_CHECK(cuCheckpointProcessLock(getpid(), nullptr));
  std::thread other([&] {
    begun = true;
    cuCtxSetCurrent(made.ctx);
    returned = true;
  });
  while (!begun) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  CHECK(!returned);
  CU_CHECK(cuCheckpointProcessUnlock(getpid(), nullptr));
  other.join();
  CHECK(returned);
}

FRESH_CASE("Another process is locked, checkpointed, restored and unlocked, and keeps its memory",
           "[checkpoint][alone]") {
  constexpr std::size_t kBytes = 32 << 20;  // free for others while the process is checkpointed
  int to_child[2], from_child[2];
  REQUIRE((pipe(to_child) == 0 && pipe(from_child) == 0));
  const pid_t child = fork();  // before cuInit
  char byte = 0;
  if (child == 0) {
    conformance::context();
    CUdeviceptr p = 0;
    unsigned word = 0;
    CU_CHECK(cuMemAlloc(&p, kBytes));
    CU_CHECK(cuMemsetD32(p, 5, kBytes / 4));
    CU_CHECK(cuCtxSynchronize());
    bool good = write(from_child[1], &byte, 1) == 1 && read(to_child[0], &byte, 1) == 1;
    good = good && cuMemcpyDtoH(&word, p, sizeof word) == CUDA_SUCCESS && word == 5;
    byte = good ? 'y' : 'n';
    _exit(write(from_child[1], &byte, 1) == 1 ? 0 : 1);
  }
  REQUIRE(read(from_child[0], &byte, 1) == 1);
  conformance::context();
  const auto free_memory = [] {
    std::size_t free = 0, total = 0;
    CU_CHECK(cuMemGetInfo(&free, &total));
    return free;
  };
  has_state(child, CU_PROCESS_STATE_RUNNING);
  ANSWERS(cuCheckpointProcessCheckpoint(child, nullptr), CUDA_ERROR_ILLEGAL_STATE);
  ANSWERS(cuCheckpointProcessLock(child, nullptr), CUDA_SUCCESS);
  has_state(child, CU_PROCESS_STATE_LOCKED);
  const std::size_t before = free_memory();
  ANSWERS(cuCheckpointProcessCheckpoint(child, nullptr), CUDA_SUCCESS);
  has_state(child, CU_PROCESS_STATE_CHECKPOINTED);
  CHECK(free_memory() >= before + kBytes);
  ANSWERS(cuCheckpointProcessUnlock(child, nullptr), CUDA_ERROR_ILLEGAL_STATE);
  ANSWERS(cuCheckpointProcessRestore(child, nullptr), CUDA_SUCCESS);
  has_state(child, CU_PROCESS_STATE_LOCKED);
  ANSWERS(cuCheckpointProcessUnlock(child, nullptr), CUDA_SUCCESS);
  has_state(child, CU_PROCESS_STATE_RUNNING);
  REQUIRE(write(to_child[1], &byte, 1) == 1);
  REQUIRE(read(from_child[0], &byte, 1) == 1);
  CHECK(byte == 'y');
  waitpid(child, nullptr, 0);
}

FRESH_CASE("A process that has faulted cannot be locked", "[checkpoint]") {
  int faulted[2];
  REQUIRE(pipe(faulted) == 0);
  const pid_t child = fork();  // before cuInit
  char byte = 0;
  if (child == 0) {
    const auto F = conformance::module();
    CUdeviceptr null = 0;
    void* arguments[] = {&null};
    CU_CHECK(cuLaunchKernel(F("null_write"), 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr));
    CU_EXPECT(CUDA_ERROR_ILLEGAL_ADDRESS, cuCtxSynchronize());
    if (write(faulted[1], &byte, 1) != 1) _exit(1);
    for (;;) pause();
  }
  REQUIRE(read(faulted[0], &byte, 1) == 1);
  CU_CHECK(cuInit(0));
  has_state(child, CU_PROCESS_STATE_RUNNING);
  ANSWERS(cuCheckpointProcessLock(child, nullptr), CUDA_ERROR_ILLEGAL_ADDRESS);
  has_state(child, CU_PROCESS_STATE_RUNNING);
  ANSWERS(cuCheckpointProcessCheckpoint(child, nullptr), CUDA_ERROR_ILLEGAL_STATE);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
}

FRESH_CASE("A process that has opened another's memory is checkpointed, but not restored", "[checkpoint][ipc]") {
  int handles[2], opened[2];
  REQUIRE((pipe(handles) == 0 && pipe(opened) == 0));
  const pid_t child = fork();  // before cuInit
  char byte = 0;
  if (child == 0) {
    CUipcMemHandle handle{};
    CUdeviceptr here = 0;
    if (read(handles[0], &handle, sizeof handle) != static_cast<ssize_t>(sizeof handle)) _exit(1);
    conformance::context();
    CU_CHECK(cuIpcOpenMemHandle(&here, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
    if (write(opened[1], &byte, 1) != 1) _exit(1);
    for (;;) pause();
  }
  conformance::context();
  CUdeviceptr memory = 0;
  CUipcMemHandle handle{};
  CU_CHECK(cuMemAlloc(&memory, 4096));
  CU_CHECK(cuIpcGetMemHandle(&handle, memory));
  REQUIRE(write(handles[1], &handle, sizeof handle) == static_cast<ssize_t>(sizeof handle));
  REQUIRE(read(opened[0], &byte, 1) == 1);
  ANSWERS(cuCheckpointProcessLock(child, nullptr), CUDA_SUCCESS);
  ANSWERS(cuCheckpointProcessCheckpoint(child, nullptr), CUDA_SUCCESS);
  ANSWERS(cuCheckpointProcessRestore(child, nullptr), CUDA_ERROR_INVALID_VALUE);
  has_state(child, CU_PROCESS_STATE_CHECKPOINTED);
  ANSWERS(cuCheckpointProcessUnlock(child, nullptr), CUDA_ERROR_ILLEGAL_STATE);
  has_state(child, CU_PROCESS_STATE_CHECKPOINTED);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
}
#endif
