#include "common/simulator/state/processes/checkpoint.hpp"

#include "common/simulator/state/errors/failure.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <string>
#include <thread>

namespace cudasim {
namespace {

constexpr u64 kPageMagic = 0x6567615073756363;
constexpr const char* kPageName = "simulated GPU process";

std::atomic<ProcessPage*> own_page{nullptr};

struct ThreadCalls {
  u32 calls_deep = 0;
  u32 seat = ~0u;  // none yet
  bool in_callback = false;
};
// Found without a call of the loader's: there is room for a few bytes of this kind in a library that is opened late.
thread_local ThreadCalls thread_calls __attribute__((tls_model("initial-exec")));

Seat& own_seat(ProcessPage& page) {
  static std::atomic<u32> threads{0};
  if (thread_calls.seat == ~0u) thread_calls.seat = threads++ % page.seats.size();
  return page.seats[thread_calls.seat];
}

ProcessPage* map_page(int file) {
  void* const got = mmap(nullptr, sizeof(ProcessPage), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  return got == MAP_FAILED ? nullptr : static_cast<ProcessPage*>(got);
}

// Null if the descriptor leads to something else.
std::shared_ptr<ProcessPage> open_page(const std::string& descriptor, i32 process) {
  char target[64] = {};
  if (readlink(descriptor.c_str(), target, sizeof target - 1) < 0) return nullptr;
  if (std::strncmp(target, ("/memfd:" + std::string(kPageName)).c_str(), 7 + std::strlen(kPageName)) != 0)
    return nullptr;
  const int file = open(descriptor.c_str(), O_RDWR | O_CLOEXEC);
  if (file < 0) return nullptr;
  struct stat known{};
  ProcessPage* const page = fstat(file, &known) == 0 && known.st_size == sizeof(ProcessPage) ? map_page(file) : nullptr;
  close(file);
  if (page == nullptr) return nullptr;
  std::shared_ptr<ProcessPage> opened(page, [](ProcessPage* mapped) { munmap(mapped, sizeof *mapped); });
  return page->magic == kPageMagic && page->process == process ? opened : nullptr;
}

// A call within a call is part of it, and what a callback asks is part of the work that a checkpoint waits for.
bool must_go_on() { return thread_calls.calls_deep > 1 || thread_calls.in_callback; }

void wait_until_unlocked(const ProcessPage& page, Seat& seat) {
  while (page.state != 0) {
    --seat.calls;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    ++seat.calls;
  }
}

}  // namespace

bool in_callback() { return thread_calls.in_callback; }

void set_in_callback(bool is_one) { thread_calls.in_callback = is_one; }

void make_process_page() {
  if (own_page != nullptr) return;
  const int file = memfd_create(kPageName, MFD_CLOEXEC);
  if (file < 0) return;
  ProcessPage* const page = ftruncate(file, sizeof(ProcessPage)) == 0 ? map_page(file) : nullptr;
  if (page == nullptr) {
    close(file);
    return;
  }
  page->process = getpid();
  page->magic = kPageMagic;
  own_page = page;  // as long as the process
}

void forget_process_page() { own_page = nullptr; }

std::shared_ptr<ProcessPage> process_page(i32 process) {
  require(process > 0);
  require(kill(process, 0) == 0 || errno != ESRCH, CUDA_ERROR_OPERATING_SYSTEM);
  const std::string folder = "/proc/" + std::to_string(process) + "/fd/";
  const std::unique_ptr<DIR, int (*)(DIR*)> descriptors(opendir(folder.c_str()), closedir);
  while (const dirent* entry = descriptors ? readdir(descriptors.get()) : nullptr) {
    if (auto page = open_page(folder + entry->d_name, process)) return page;
  }
  fail(CUDA_ERROR_NOT_INITIALIZED);
}

u32 ProcessPage::calls() const {
  u32 sum = 0;
  for (const Seat& seat : seats) sum += seat.calls;
  return sum;
}

Passage::Passage(WhenLocked when_locked) {
  ++thread_calls.calls_deep;
  ProcessPage* const page = own_page.load(std::memory_order_acquire);
  if (page == nullptr || when_locked == WhenLocked::goes_on) return;
  seat_ = &own_seat(*page);
  ++seat_->calls;  // first counted, then looked: a process that locks does it the other way round
  if (page->state != 0 && !must_go_on()) wait_until_unlocked(*page, *seat_);
}

Passage::~Passage() {
  --thread_calls.calls_deep;
  if (seat_ != nullptr) seat_->calls.fetch_sub(1, std::memory_order_release);
}

void count_work(int change) {
  if (ProcessPage* const page = own_page.load(std::memory_order_acquire)) page->work += static_cast<u32>(change);
}

void note_fault(u32 code) {
  u32 none = 0;
  if (ProcessPage* const page = own_page.load(std::memory_order_acquire))
    page->fault.compare_exchange_strong(none, code);
}

void count_opened(int change) {
  if (ProcessPage* const page = own_page.load(std::memory_order_acquire)) page->opened += static_cast<u32>(change);
}

}  // namespace cudasim
