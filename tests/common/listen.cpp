// Tests 02-08's listen.hpp with fake CUPTI functions: which calls it reports, and that it unsubscribes.
#include "02-context/08-runtime-interop/listen.hpp"
#include "tests/catch.hpp"

namespace {

using cupti::Call;
using cupti::Domain;

// A fake CUPTI with one subscriber and programmable return values.
struct Pretended {
  cupti::Callback callback = nullptr;
  void* user = nullptr;
  int subscribed = 0, unsubscribed = 0, enabled = 0;
  int subscribe_answers = 0, enable_answers = 0;
};
Pretended pretended;

int subscribe(void** subscriber, cupti::Callback callback, void* user) {
  if (pretended.subscribe_answers != 0) return pretended.subscribe_answers;
  ++pretended.subscribed;
  pretended.callback = callback;
  pretended.user = user;
  *subscriber = &pretended;
  return 0;
}

int enable(std::uint32_t on, void* subscriber, Domain) {
  pretended.enabled += on == 1 && subscriber == &pretended;
  return pretended.enable_answers;
}

int unsubscribe(void* subscriber) {
  pretended.unsubscribed += subscriber == &pretended;
  return 0;
}

cupti::Functions functions() { return {subscribe, enable, unsubscribe}; }

void tell(Domain domain, int site, const char* function) {
  const Call call{site, function, nullptr, nullptr, nullptr, nullptr, 0, nullptr, 0};
  pretended.callback(pretended.user, domain, 0, &call);
}

// The runtime's call from its beginning to its end, with one driver call in it.
void call_of_the_runtime(const char* function, const char* drivers) {
  tell(Domain::runtime, 0, function);
  tell(Domain::driver, 0, drivers);
  tell(Domain::driver, 1, drivers);
  tell(Domain::runtime, 1, function);
}

}  // namespace

TEST_CASE("a listener notes the driver calls between the beginning and the end of a runtime call") {
  pretended = {};
  const cupti::Listener listener(functions());
  CHECK(pretended.enabled == 2);
  tell(Domain::driver, 0, "cuInit");  // the program's own
  call_of_the_runtime("cudaMalloc", "cuMemAlloc_v2");
  tell(Domain::driver, 0, "cuMemFree_v2");
  call_of_the_runtime("cudaFree", "cuMemFree_v2");
  REQUIRE(listener.heard.size() == 2);
  CHECK(listener.heard[0].runtime_call == "cudaMalloc");
  CHECK(listener.heard[0].driver_calls == std::vector<std::string>{"cuMemAlloc_v2"});
  CHECK(listener.heard[1].driver_calls == std::vector<std::string>{"cuMemFree_v2"});
}

TEST_CASE("a listener hears its own thread only") {
  pretended = {};
  const cupti::Listener listener(functions());
  tell(Domain::runtime, 0, "cudaMalloc");
  std::thread([] { call_of_the_runtime("cudaFree", "cuMemFree_v2"); }).join();
  tell(Domain::driver, 0, "cuMemAlloc_v2");
  tell(Domain::runtime, 1, "cudaMalloc");
  REQUIRE(listener.heard.size() == 1);
  CHECK(listener.heard[0].driver_calls == std::vector<std::string>{"cuMemAlloc_v2"});
}

TEST_CASE("a listener unsubscribes once, when it ends") {
  pretended = {};
  {
    const cupti::Listener listener(functions());
    CHECK(pretended.unsubscribed == 0);
  }
  CHECK(pretended.unsubscribed == 1);
}

TEST_CASE("a listener that cannot listen says why, and lets go of what it has") {
  pretended = {};
  CHECK(cupti::Listener(cupti::Functions{}).why_not == "libcupti is not to be found");
  pretended.subscribe_answers = 39;
  CHECK(cupti::Listener(functions()).why_not == "cuptiSubscribe answers 39");
  CHECK(pretended.unsubscribed == 0);
  pretended = {};
  pretended.enable_answers = 1;
  CHECK(cupti::Listener(functions()).why_not == "cuptiEnableDomain fails");
  CHECK(pretended.unsubscribed == 1);
}
