// Let host and device use managed memory in turn, without page faults.
#include "03-memory/10-managed/service.hpp"
#include "common/cu.hpp"

// Runs the rounds of a service: prepare, launch and finish, once per round. All arrays are on the host at first.
// Neither side may cause a page fault, and no more than budget() bytes may cross the interconnect. Throws cu::Error if
// a driver call fails (CU_THROW).
void serve(const Service& service, int rounds) {
  // Your code here.
  for (int round = 0; round < rounds; ++round) {
    service.prepare();
    service.launch();
    service.finish();
  }
}
