#include "common/simulator/state/processes/turns.hpp"

#include "common/simulator/state/processes/family.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <ctime>
#include <mutex>

namespace cudasim {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::nanoseconds kTurn = std::chrono::milliseconds(2);
constexpr std::chrono::nanoseconds kLook = std::chrono::milliseconds(5);  // until a waiting process looks again
constexpr std::chrono::nanoseconds kGone = std::chrono::milliseconds(500);  // its owner is stopped

std::mutex mutex;                  // for the following
u32 running[Family::kDevices]{};  // kernels of this process

i64 now() { return Clock::now().time_since_epoch().count(); }
Clock::time_point time_of(i64 nanoseconds) { return Clock::time_point(Clock::duration(nanoseconds)); }

void wait_for_change(std::atomic<u32>& word, u32 value) {
  timespec most{0, kLook.count()};
  syscall(SYS_futex, &word, FUTEX_WAIT, value, &most, nullptr, 0);
}
void wake_all(std::atomic<u32>& word) { syscall(SYS_futex, &word, FUTEX_WAKE, 1 << 30, nullptr, nullptr, 0); }

// The next waiting process after this one that is still alive; kNone if there is none.
u32 next_waiting(Family& all, const Family::Turn& turn, u32 self) {
  const u64 waiting = turn.waiting;
  for (u32 i = 1; i < Family::kMembers; ++i) {
    const u32 other = (self + i) % Family::kMembers;
    if ((waiting >> other & 1) != 0 && all.lives(other)) return other;
  }
  return Family::kNone;
}

void give(Family::Turn& turn, u32 owner) {
  turn.since = now();
  turn.owner = owner;
  wake_all(turn.owner);
}

void wait_for_turn(Family& all, Family::Turn& turn, u32 self) {
  for (u32 owner; (owner = turn.owner) != self + 1;) {
    const bool free = owner == 0 || !all.lives(owner - 1) || now() - turn.since > kGone.count();
    if (free && turn.owner.compare_exchange_strong(owner, self + 1)) {
      turn.since = now();
      break;
    }
    if (free) continue;
    turn.waiting |= u64{1} << self;
    wait_for_change(turn.owner, owner);
  }
  turn.waiting &= ~(u64{1} << self);
}

struct Place {
  Family* all = nullptr;
  Family::Turn* turn = nullptr;
  u32 self = Family::kNone;
};

Place place(u32 device) {
  Family* const all = family();
  if (all == nullptr || device >= Family::kDevices) return {};
  const u32 self = all->self();
  return self == Family::kNone ? Place{} : Place{all, &all->turns[device], self};
}

}  // namespace

void enter_turns(u32 device) {
  const Place here = place(device);
  if (here.all == nullptr) return;
  {
    const std::scoped_lock lock(mutex);
    ++running[device];
  }
  wait_for_turn(*here.all, *here.turn, here.self);
}

std::optional<TurnTaken> next_turn(u32 device) {
  const Place here = place(device);
  if (here.all == nullptr) return std::nullopt;
  std::optional<TurnTaken> taken;
  {
    const std::scoped_lock lock(mutex);
    if (here.turn->owner == here.self + 1 && now() - here.turn->since > kTurn.count()) {
      const u32 next = next_waiting(*here.all, *here.turn, here.self);
      if (next != Family::kNone) {
        taken = {time_of(here.turn->since), Clock::now()};
        give(*here.turn, next + 1);
      }
    }
  }
  wait_for_turn(*here.all, *here.turn, here.self);
  return taken;
}

std::optional<TurnTaken> leave_turns(u32 device) {
  const Place here = place(device);
  if (here.all == nullptr) return std::nullopt;
  const std::scoped_lock lock(mutex);
  // A kernel that began before the family did was not counted.
  if (running[device] == 0 || --running[device] != 0 || here.turn->owner != here.self + 1) return std::nullopt;
  const TurnTaken taken{time_of(here.turn->since), Clock::now()};
  const u32 next = next_waiting(*here.all, *here.turn, here.self);
  give(*here.turn, next == Family::kNone ? 0 : next + 1);
  return taken;
}

}  // namespace cudasim
