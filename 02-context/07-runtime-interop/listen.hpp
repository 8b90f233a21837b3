// Records the runtime and driver calls of a thread through CUPTI's callbacks (CUPTI manual, "Callback API").
//
// CUPTI is loaded while the program runs, and the few declarations that are needed are repeated here: a toolkit that
// was installed from Python packages does not contain CUPTI's header.
#pragma once
#include <cuda.h>
#include <dlfcn.h>

#include <cstdint>
#include <string>
#include <thread>
#include <vector>

namespace cupti {

enum class Domain : int { driver = 1, runtime = 2 };  // CUPTI_CB_DOMAIN_…_API

// CUpti_CallbackData: what a callback receives about a call.
struct Call {
  int site;  // 0 when the call begins, 1 when it returns
  const char* function;
  const void* parameters;
  void* result;
  const char* symbol;
  CUcontext context;
  std::uint32_t context_uid;
  std::uint64_t* correlation_data;
  std::uint32_t correlation_id;
};

using Callback = void (*)(void* user, Domain domain, std::uint32_t id, const Call* call);

// A runtime call, and the driver calls that it made.
struct Recorded {
  std::string runtime_call;
  std::vector<std::string> driver_calls;
};

// The CUPTI functions that are used here. Each returns 0 on success.
struct Functions {
  int (*subscribe)(void** subscriber, Callback callback, void* user) = nullptr;
  int (*enable)(std::uint32_t on, void* subscriber, Domain domain) = nullptr;
  int (*unsubscribe)(void* subscriber) = nullptr;

  // Returns the functions of the installed library, or null pointers if it is not installed. The library is never
  // unloaded, because another thread may still be executing its code after the listener has unsubscribed.
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

// Records the calls of the thread that constructed it until it is destroyed. `why_not` is empty if that works, and
// contains the reason if it does not.
class Listener {
 public:
  explicit Listener(const Functions& functions = Functions::load()) : cupti_(functions) {
    if (!cupti_.subscribe || !cupti_.enable || !cupti_.unsubscribe) {
      why_not = "libcupti was not found";
    } else if (const int error = cupti_.subscribe(&subscriber_, record, this); error != 0) {
      why_not = "cuptiSubscribe returned " + std::to_string(error);
      subscriber_ = nullptr;
    } else if (cupti_.enable(1, subscriber_, Domain::driver) != 0 ||
               cupti_.enable(1, subscriber_, Domain::runtime) != 0) {
      why_not = "cuptiEnableDomain failed";
    }
  }
  // CUPTI holds this object's address until it is unsubscribed.
  ~Listener() {
    if (subscriber_ != nullptr) cupti_.unsubscribe(subscriber_);
  }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  std::string why_not;
  std::vector<Recorded> recorded;

 private:
  // CUPTI calls this function on the thread that makes the call. Calls of other threads are ignored.
  static void record(void* user, Domain domain, std::uint32_t, const Call* call) {
    auto& self = *static_cast<Listener*>(user);
    if (std::this_thread::get_id() != self.thread_) return;
    if (domain == Domain::runtime) {
      self.inside_ = call->site == 0;
      if (self.inside_) self.recorded.push_back({call->function, {}});
    } else if (self.inside_ && call->site == 0) {
      self.recorded.back().driver_calls.push_back(call->function);
    }
  }
  const Functions cupti_;
  const std::thread::id thread_ = std::this_thread::get_id();
  void* subscriber_ = nullptr;
  bool inside_ = false;
};

}  // namespace cupti
