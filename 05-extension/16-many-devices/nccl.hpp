// NCCL, loaded while the program runs, so that the program also starts where NCCL is not installed. The struct has the
// functions that this lesson calls, under their documented names. Source: NCCL user guide, "Communicator Creation",
// "Collective Communication", "Group Calls".
#pragma once
#include "common/cu.hpp"

#include <dlfcn.h>

#include <stdexcept>
#include <string>

struct Nccl {
  using Communicator = struct NcclCommunicator*;
  enum : int { kFloat32 = 7, kSum = 0 };  // ncclDataType_t, ncclRedOp_t

  int (*get_version)(int* version) = nullptr;
  const char* (*get_error_string)(int result) = nullptr;
  int (*comm_init_all)(Communicator* communicators, int count, const int* devices) = nullptr;
  int (*comm_destroy)(Communicator) = nullptr;
  int (*group_start)() = nullptr;
  int (*group_end)() = nullptr;
  // A CUstream is a cudaStream_t.
  int (*all_reduce)(const void* send, void* receive, std::size_t count, int type, int operation, Communicator,
                    CUstream) = nullptr;

  // `library` is a handle from dlopen.
  explicit Nccl(void* library) {
    find(library, "ncclGetVersion", get_version);
    find(library, "ncclGetErrorString", get_error_string);
    find(library, "ncclCommInitAll", comm_init_all);
    find(library, "ncclCommDestroy", comm_destroy);
    find(library, "ncclGroupStart", group_start);
    find(library, "ncclGroupEnd", group_end);
    find(library, "ncclAllReduce", all_reduce);
  }

  void check(const char* call, int result) const {
    if (result != 0) throw std::runtime_error(std::string(call) + ": " + get_error_string(result));
  }

 private:
  template <class Function>
  static void find(void* library, const char* name, Function& function) {
    function = reinterpret_cast<Function>(dlsym(library, name));
    if (function == nullptr) throw std::runtime_error(std::string("this NCCL has no ") + name);
  }
};
