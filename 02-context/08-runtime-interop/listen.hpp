// Listens to the runtime's and the driver's calls through CUPTI's callbacks (CUPTI manual, "Callback API").
//
// CUPTI is loaded while the program runs, and the little of it that is used here is declared here: a toolkit that comes
// from Python packages has neither its header nor, without a GPU, any use for it.
#pragma once
#include <cuda.h>
#include <dlfcn.h>

#include <cstdint>
#include <string>
#include <vector>

namespace cupti {

enum class Domain : int { driver = 1, runtime = 2 };  // CUPTI_CB_DOMAIN_…_API

// CUpti_CallbackData: what a callback is told about a call.
struct Call {
  int site;  // 0: the call begins; 1: it ends
  const char* function;
  const void* parameters;
  void* answer;
  const char* symbol;
  CUcontext context;
  std::uint32_t context_uid;
  std::uint64_t* correlation_data;
  std::uint32_t correlation_id;
};

using Callback = void (*)(void* user, Domain domain, std::uint32_t id, const Call* call);

// What was heard: the runtime's call, and the driver calls that it made.
struct Heard {
  std::string runtime_call;
  std::vector<std::string> driver_calls;
};

// Listens from its construction on. `why_not` is empty if that succeeded, else it says why it did not.
class Listener {
 public:
  Listener() {
    void* library = dlopen("libcupti.so.13", RTLD_NOW | RTLD_LOCAL);
    for (const char* name : {"libcupti.so.12", "libcupti.so"}) {
      if (library == nullptr) library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    }
    if (library == nullptr) {
      why_not = "libcupti is not to be found";
      return;
    }
    const auto subscribe =
        reinterpret_cast<int (*)(void** subscriber, Callback callback, void* user)>(dlsym(library, "cuptiSubscribe"));
    const auto enable =
        reinterpret_cast<int (*)(std::uint32_t on, void* subscriber, Domain)>(dlsym(library, "cuptiEnableDomain"));
    void* subscriber = nullptr;
    if (subscribe == nullptr || enable == nullptr) {
      why_not = "libcupti lacks cuptiSubscribe";
    } else if (const int error = subscribe(&subscriber, hear, this); error != 0) {
      why_not = "cuptiSubscribe answers " + std::to_string(error);
    } else if (enable(1, subscriber, Domain::driver) != 0 || enable(1, subscriber, Domain::runtime) != 0) {
      why_not = "cuptiEnableDomain fails";
    }
  }

  std::string why_not;
  std::vector<Heard> heard;  // of runtime calls only; one after the other, from one thread

 private:
  static void hear(void* user, Domain domain, std::uint32_t, const Call* call) {
    auto& self = *static_cast<Listener*>(user);
    if (domain == Domain::runtime) {
      self.inside_ = call->site == 0;
      if (self.inside_) self.heard.push_back({call->function, {}});
    } else if (self.inside_ && call->site == 0) {
      self.heard.back().driver_calls.push_back(call->function);
    }
  }
  bool inside_ = false;
};

}  // namespace cupti
