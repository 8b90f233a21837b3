// The listener of lesson 02-07 with a fake CUPTI: what it records, and that it unsubscribes.
#include "02-context/07-runtime-interop/listen.hpp"
#include "tests/catch.hpp"

namespace {

using cupti::Call;
using cupti::Domain;

// A fake CUPTI with one subscriber, whose functions return the given results.
struct Fake {
  cupti::Callback callback = nullptr;
  void* user = nullptr;
  int subscribed = 0, unsubscribed = 0, enabled = 0;
  int subscribe_returns = 0, enable_returns = 0;
};
Fake fake;

int subscribe(void** subscriber, cupti::Callback callback, void* user) {
  if (fake.subscribe_returns != 0) return fake.subscribe_returns;
  ++fake.subscribed;
  fake.callback = callback;
  fake.user = user;
  *subscriber = &fake;
  return 0;
}

int enable(std::uint32_t on, void* subscriber, Domain) {
  fake.enabled += on == 1 && subscriber == &fake;
  return fake.enable_returns;
}

int unsubscribe(void* subscriber) {
  fake.unsubscribed += subscriber == &fake;
  return 0;
}

cupti::Functions functions() { return {subscribe, enable, unsubscribe}; }

void notify(Domain domain, int site, const char* function) {
  const Call call{site, function, nullptr, nullptr, nullptr, nullptr, 0, nullptr, 0};
  fake.callback(fake.user, domain, 0, &call);
}

// A runtime call that makes one driver call.
void runtime_call(const char* function, const char* drivers) {
  notify(Domain::runtime, 0, function);
  notify(Domain::driver, 0, drivers);
  notify(Domain::driver, 1, drivers);
  notify(Domain::runtime, 1, function);
}

}  // namespace

TEST_CASE("a listener records the driver calls that are made inside a runtime call") {
  fake = {};
  const cupti::Listener listener(functions());
  CHECK(fake.enabled == 2);
  notify(Domain::driver, 0, "cuInit");  // called by the program itself
  runtime_call("cudaMalloc", "cuMemAlloc_v2");
  notify(Domain::driver, 0, "cuMemFree_v2");
  runtime_call("cudaFree", "cuMemFree_v2");
  REQUIRE(listener.recorded.size() == 2);
  CHECK(listener.recorded[0].runtime_call == "cudaMalloc");
  CHECK(listener.recorded[0].driver_calls == std::vector<std::string>{"cuMemAlloc_v2"});
  CHECK(listener.recorded[1].driver_calls == std::vector<std::string>{"cuMemFree_v2"});
}

TEST_CASE("a listener ignores the calls of other threads") {
  fake = {};
  const cupti::Listener listener(functions());
  notify(Domain::runtime, 0, "cudaMalloc");
  std::thread([] { runtime_call("cudaFree", "cuMemFree_v2"); }).join();
  notify(Domain::driver, 0, "cuMemAlloc_v2");
  notify(Domain::runtime, 1, "cudaMalloc");
  REQUIRE(listener.recorded.size() == 1);
  CHECK(listener.recorded[0].driver_calls == std::vector<std::string>{"cuMemAlloc_v2"});
}

TEST_CASE("a listener unsubscribes once, when it is destroyed") {
  fake = {};
  {
    const cupti::Listener listener(functions());
    CHECK(fake.unsubscribed == 0);
  }
  CHECK(fake.unsubscribed == 1);
}

TEST_CASE("a listener that cannot record gives the reason and unsubscribes") {
  fake = {};
  CHECK(cupti::Listener(cupti::Functions{}).why_not == "libcupti was not found");
  fake.subscribe_returns = 39;
  CHECK(cupti::Listener(functions()).why_not == "cuptiSubscribe returned 39");
  CHECK(fake.unsubscribed == 0);
  fake = {};
  fake.enable_returns = 1;
  CHECK(cupti::Listener(functions()).why_not == "cuptiEnableDomain failed");
  CHECK(fake.unsubscribed == 1);
}
