#include "common/simulator/state/processes/shared_marks.hpp"

#include <linux/futex.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>

namespace cudasim {

// In memory of several processes; zero when it begins. A record's place is used again 200 records later, which have
// then begun after it: the first of them to be reached stands for both.
struct SharedMarks::Page {
  static constexpr u64 kPlaces = 200;
  std::atomic<u64> next;  // how many records have got a number
  std::atomic<u64> latest;
  std::atomic<u32> changes;  // what sleepers watch
  struct Place {
    std::atomic<u64> reached;
    std::atomic<i32> process;  // that recorded it
  } places[kPlaces];
};

SharedMarks::Page& SharedMarks::page() const { return *reinterpret_cast<Page*>(memory_->get()); }

std::shared_ptr<SharedMarks> SharedMarks::make() {
  static_assert(sizeof(Page) <= 4096 && std::atomic<u64>::is_always_lock_free);
  return std::make_shared<SharedMarks>(SharedMemory::make(SharedMemory::Purpose::marks, 4096));
}

u64 SharedMarks::begin() {
  const u64 number = ++page().next;
  page().places[number % Page::kPlaces].process = getpid();
  u64 before = page().latest;
  while (before < number && !page().latest.compare_exchange_weak(before, number)) {
  }
  return number;
}

void SharedMarks::reach(u64 number) {
  std::atomic<u64>& place = page().places[number % Page::kPlaces].reached;
  u64 before = place;
  while (before < number && !place.compare_exchange_weak(before, number)) {
  }
  ++page().changes;
  syscall(SYS_futex, &page().changes, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

u64 SharedMarks::latest() const { return page().latest; }

bool SharedMarks::reached(u64 number) const {
  const Page::Place& place = page().places[number % Page::kPlaces];
  if (number == 0 || place.reached >= number) return true;
  return kill(place.process, 0) != 0 && errno == ESRCH;
}

void SharedMarks::wait(u64 number, const std::function<bool()>& give_up) const {
  for (;;) {
    const u32 seen = page().changes;
    if (reached(number) || give_up()) return;
    const timespec a_while{0, 20'000'000};
    syscall(SYS_futex, &page().changes, FUTEX_WAIT, seen, &a_while, nullptr, 0);
  }
}

}  // namespace cudasim
