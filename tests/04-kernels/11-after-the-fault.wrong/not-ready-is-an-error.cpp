// Rejected with: "what is only not ready yet is tried again"
// Takes CUDA_ERROR_NOT_READY for a failure. A query returns it while the work is still running.
#include "04-kernels/11-after-the-fault/action.hpp"
#include "common/cu.hpp"

// Codes that the headers of CUDA 12.0 do not have yet.
constexpr int kContained = 226, kTensorMemoryLeak = 721, kExternalDevice = 911;

// Returns the action for a result of any driver call.
Action classify(CUresult result) {
  switch (static_cast<int>(result)) {
    case CUDA_SUCCESS: return Action::none;

    case CUDA_ERROR_TIMEOUT:
    case CUDA_ERROR_DEVICE_UNAVAILABLE:    // another process has it in exclusive mode
    case CUDA_ERROR_MPS_SERVER_NOT_READY:  // it recovers from a failure
      return Action::retry;

    case CUDA_ERROR_OUT_OF_MEMORY: return Action::shrink;

    // "The process must be terminated and relaunched."
    case kContained:
    case CUDA_ERROR_ILLEGAL_ADDRESS:
    case CUDA_ERROR_LAUNCH_TIMEOUT:
    case CUDA_ERROR_HARDWARE_STACK_ERROR:
    case CUDA_ERROR_ILLEGAL_INSTRUCTION:
    case CUDA_ERROR_MISALIGNED_ADDRESS:
    case CUDA_ERROR_INVALID_ADDRESS_SPACE:
    case CUDA_ERROR_INVALID_PC:
    case CUDA_ERROR_LAUNCH_FAILED:
    case kTensorMemoryLeak:
    case CUDA_ERROR_MPS_CLIENT_TERMINATED:
    case kExternalDevice:
    // The manual says less about these, but no call succeeds after them, either.
    case CUDA_ERROR_ASSERT:
    case CUDA_ERROR_NOT_INITIALIZED:  // in a process that was forked after cuInit
    case CUDA_ERROR_DEINITIALIZED: return Action::restart;

    // The hardware, or the machine's installation.
    case CUDA_ERROR_ECC_UNCORRECTABLE:
    case CUDA_ERROR_NVLINK_UNCORRECTABLE:
    case CUDA_ERROR_NO_DEVICE:
    case CUDA_ERROR_STUB_LIBRARY:
    case CUDA_ERROR_SYSTEM_NOT_READY:
    case CUDA_ERROR_SYSTEM_DRIVER_MISMATCH:
    case CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE:
    case CUDA_ERROR_UNKNOWN: return Action::drain;

    default: return Action::reject;
  }
}
