#include "common/simulator/state/processes/family.hpp"

#include <dirent.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <new>
#include <string>

namespace cudasim {
namespace {

std::atomic<Family*> the_family{nullptr};

// A mutex of several processes. One that ends while it has the mutex leaves it to the next.
class Lock {
 public:
  explicit Lock(Family& family) : mutex_(family.mutex) {
    if (pthread_mutex_lock(&mutex_) == EOWNERDEAD) pthread_mutex_consistent(&mutex_);
  }
  ~Lock() { pthread_mutex_unlock(&mutex_); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  pthread_mutex_t& mutex_;
};

// Before each fork. The memory consists of zeros, so that it costs nothing until it is used.
void found_family() {
  if (the_family != nullptr) return;
  void* const memory =
      mmap(nullptr, sizeof(Family), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return;
  auto* const made = static_cast<Family*>(memory);
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
  pthread_mutex_init(&made->mutex, &attributes);
  pthread_mutexattr_destroy(&attributes);
  the_family = made;
}

[[maybe_unused]] const int registered = pthread_atfork(found_family, nullptr, nullptr);

// From /proc: when a process has started. 0 if it has ended, even if its parent does not know yet.
u64 start_of(i32 process) {
  char path[40], text[1024];
  std::snprintf(path, sizeof path, "/proc/%d/stat", process);
  std::FILE* const file = std::fopen(path, "re");
  if (file == nullptr) return 0;
  const std::size_t length = std::fread(text, 1, sizeof text - 1, file);
  std::fclose(file);
  text[length] = 0;
  const char* const after_name = std::strrchr(text, ')');  // the name may contain anything
  char state = 0;
  unsigned long long started = 0;
  constexpr const char* kFields = " %c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %llu";
  if (after_name == nullptr || std::sscanf(after_name + 1, kFields, &state, &started) != 2) return 0;
  return state == 'Z' || state == 'X' ? 0 : started;
}

void forget(Family& all, u32 member) {
  for (auto& bytes : all.members[member].used) bytes = 0;
  all.members[member].away = false;
  for (Family::Piece& piece : all.pieces) piece.held[member] = piece.counted[member] = 0;
  for (Family::Turn& turn : all.turns) turn.waiting &= ~(u64{1} << member);
}

// A place becomes free when its process has ended.
u32 join(Family& all) {
  const Lock lock(all);
  for (u32 i = 0; i < Family::kMembers; ++i) {
    Family::Member& place = all.members[i];
    if (place.process == getpid() && all.lives(place)) return i;
    if (place.process != 0 && all.lives(place)) continue;
    forget(all, i);
    place.started = start_of(getpid());
    place.process = getpid();
    return i;
  }
  return Family::kNone;
}

// Whether a process has an open descriptor of the file.
bool has_open(i32 process, u64 file, u64 file_system) {
  const std::string folder = "/proc/" + std::to_string(process) + "/fd";
  DIR* const all = opendir(folder.c_str());
  if (all == nullptr) return false;
  bool found = false;
  while (const dirent* each = found ? nullptr : readdir(all)) {
    struct stat known{};
    found =
        stat((folder + "/" + each->d_name).c_str(), &known) == 0 && known.st_ino == file && known.st_dev == file_system;
  }
  closedir(all);
  return found;
}

// Whether the memory still exists. Most pieces have no descriptor, or one of the objects that are quick to find.
bool exists(const Family& all, const Family::Piece& piece) {
  for (u32 i = 0; i < Family::kMembers; ++i) {
    if (piece.held[i] != 0 && all.lives(i)) return true;
  }
  for (u32 i = 0; i < Family::kMembers && piece.file != 0; ++i) {
    if (all.lives(i) && has_open(all.members[i].process, piece.file, piece.file_system)) return true;
  }
  return false;
}

// The place of a piece, or a free one, or null. The mutex must be held.
Family::Piece* place_of(Family& all, u64 serial) {
  Family::Piece* free = nullptr;
  for (Family::Piece& piece : all.pieces) {
    if (piece.serial == serial) return &piece;
    if (free == nullptr && (piece.serial == 0 || !exists(all, piece))) free = &piece;
  }
  if (free != nullptr) *free = {};
  return free;
}

}  // namespace

Family* family() { return the_family.load(std::memory_order_acquire); }

u32 Family::self() {
  static std::atomic<i32> known_to{0};
  static std::atomic<u32> number{kNone};
  if (known_to.load(std::memory_order_acquire) != getpid()) {
    number = join(*this);
    known_to.store(getpid(), std::memory_order_release);
  }
  return number;
}

bool Family::lives(u32 member) const { return lives(members[member]); }

bool Family::lives(const Member& member) const {
  const i32 process = member.process;
  return process != 0 && (kill(process, 0) == 0 || errno == EPERM) && start_of(process) == member.started;
}

void count_memory(u32 device, i64 bytes) {
  Family* const all = family();
  if (all == nullptr || device >= Family::kDevices) return;
  if (const u32 self = all->self(); self != Family::kNone) all->members[self].used[device] += bytes;
}

void move_memory(i32 process, bool away) {
  Family* const all = family();
  if (all == nullptr) return;
  for (Family::Member& member : all->members) {
    if (member.process == process) member.away = away;
  }
}

i64 memory_of_others(u32 device) {
  Family* const all = family();
  if (all == nullptr || device >= Family::kDevices) return 0;
  const u32 self = all->self();
  bool alive[Family::kMembers];
  i64 bytes = 0;
  for (u32 i = 0; i < Family::kMembers; ++i) {
    const Family::Member& member = all->members[i];
    alive[i] = i == self || (member.process != 0 && !member.away && all->lives(i));
    if (alive[i] && i != self) bytes += all->members[i].used[device];
  }
  const Lock lock(*all);
  for (const Family::Piece& piece : all->pieces) {
    if (piece.serial == 0 || piece.device != device) continue;
    i64 copies = 0;
    for (u32 i = 0; i < Family::kMembers; ++i) copies += alive[i] ? piece.counted[i] : 0;
    bytes += (static_cast<i64>(exists(*all, piece)) - copies) * static_cast<i64>(piece.bytes);
  }
  return bytes;
}

PieceOfMemory::PieceOfMemory(u64 serial, u64 bytes, u32 device, bool counted)
    : serial_(serial), bytes_(bytes), device_(device), counted_(counted) {
  change(1);
}

PieceOfMemory::~PieceOfMemory() { change(-1); }

void PieceOfMemory::described(int descriptor) {
  Family* const all = family();
  struct stat known{};
  if (all == nullptr || fstat(descriptor, &known) != 0) return;
  const Lock lock(*all);
  for (Family::Piece& piece : all->pieces) {
    if (piece.serial != serial_) continue;
    piece.file = known.st_ino;
    piece.file_system = known.st_dev;
  }
}

void PieceOfMemory::change(int by) {
  Family* const all = family();
  if (all == nullptr) return;
  const u32 self = all->self();
  if (self == Family::kNone) return;
  const Lock lock(*all);
  Family::Piece* const piece = place_of(*all, serial_);
  if (piece == nullptr || (piece->serial == 0 && by < 0)) return;  // too many of them, or older than the family
  piece->serial = serial_;
  piece->bytes = bytes_;
  piece->device = device_;
  piece->held[self] = static_cast<u16>(piece->held[self] + by);
  if (counted_) piece->counted[self] = static_cast<u16>(piece->counted[self] + by);
}

}  // namespace cudasim
