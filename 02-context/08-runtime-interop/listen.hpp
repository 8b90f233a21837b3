// Listens to the runtime's and the driver's calls through CUPTI's callbacks (CUPTI manual, "Callback API").
//
// CUPTI is loaded while the program runs, and the little of it that is used here is declared here: a toolkit that comes
// from Python packages has neither its header nor, without a GPU, any use for it.
#pragma once
#include <cuda.h>
#include <dlfcn.h>

#include <cstdint>
#include <string>
#include <thread>
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

// The three functions of CUPTI that are used here. 0 is their answer if all is well.
struct Functions {
  int (*subscribe)(void** subscriber, Callback callback, void* user) = nullptr;
  int (*enable)(std::uint32_t on, void* subscriber, Domain domain) = nullptr;
  int (*unsubscribe)(void* subscriber) = nullptr;

  // Those of the library, if it is there. It stays loaded: calls may be on their way through it when nobody listens any
  // more.
  static Functions load() {
    void* library = nullptr;
    for (const char* name : {"libcupti.so.13", "libcupti.so.12", "libcupti.so"}) {
      if (library == nullptr) library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    }
    Functions found;
    if (library == nullptr) return found;
    found.subscribe = reinterpret_cast<decltype(found.subscribe)>(dlsym(library, "cuptiSubscribe"));
    found.enable = reinterpret_cast<decltype(found.enable)>(dlsym(library, "cuptiEnableDomain"));
    found.unsubscribe = reinterpret_cast<decltype(found.unsubscribe)>(dlsym(library, "cuptiUnsubscribe"));
    return found;
  }
};

// Listens to the calls of the thread that made it, until its end. `why_not` is empty if it hears, else it says why not.
class Listener {
 public:
  explicit Listener(const Functions& functions = Functions::load()) : cupti_(functions) {
    if (!cupti_.subscribe || !cupti_.enable || !cupti_.unsubscribe) {
      why_not = "libcupti is not to be found";
    } else if (const int error = cupti_.subscribe(&subscriber_, hear, this); error != 0) {
      why_not = "cuptiSubscribe answers " + std::to_string(error);
      subscriber_ = nullptr;
    } else if (cupti_.enable(1, subscriber_, Domain::driver) != 0 ||
               cupti_.enable(1, subscriber_, Domain::runtime) != 0) {
      why_not = "cuptiEnableDomain fails";
    }
  }
  // CUPTI holds our address: it must forget it before we go.
  ~Listener() {
    if (subscriber_ != nullptr) cupti_.unsubscribe(subscriber_);
  }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  std::string why_not;
  std::vector<Heard> heard;

 private:
  // CUPTI calls it on the thread whose call it is about; those of other threads would only mix with ours.
  static void hear(void* user, Domain domain, std::uint32_t, const Call* call) {
    auto& self = *static_cast<Listener*>(user);
    if (std::this_thread::get_id() != self.thread_) return;
    if (domain == Domain::runtime) {
      self.inside_ = call->site == 0;
      if (self.inside_) self.heard.push_back({call->function, {}});
    } else if (self.inside_ && call->site == 0) {
      self.heard.back().driver_calls.push_back(call->function);
    }
  }
  const Functions cupti_;
  const std::thread::id thread_ = std::this_thread::get_id();
  void* subscriber_ = nullptr;
  bool inside_ = false;
};

}  // namespace cupti
