// Leaks memory on purpose, notices that it is missing, finds the line that allocated it, and destroys the context. With
// --controls, it shows that much memory can be missing although little is allocated.
#include "common/cu.hpp"

#include <cstring>
#include <map>
#include <vector>

constexpr long long kMiB = 1 << 20;

// Allocates and frees device memory, and keeps a list of what is allocated.
class Ledger {
 public:
  explicit Ledger(bool from_pool) : from_pool_(from_pool) {}

  CUdeviceptr allocate(std::size_t bytes, const char* purpose, int line = __builtin_LINE()) {
    CUdeviceptr address;
    CU_THROW(from_pool_ ? cuMemAllocAsync(&address, bytes, nullptr) : cuMemAlloc(&address, bytes));
    live_[address] = {static_cast<long long>(bytes), purpose, line};
    return address;
  }
  void free(CUdeviceptr address) {
    CU_THROW(from_pool_ ? cuMemFreeAsync(address, nullptr) : cuMemFree(address));
    live_.erase(address);
  }
  void free_all() {
    while (!live_.empty()) free(live_.begin()->first);
  }
  long long bytes() const {
    long long sum = 0;
    for (const auto& [address, allocation] : live_) sum += allocation.bytes;
    return sum;
  }
  void print() const {
    std::map<int, std::vector<Allocation>> by_line;
    for (const auto& [address, allocation] : live_) by_line[allocation.line].push_back(allocation);
    for (const auto& [line, leaked] : by_line) {
      std::printf("  main.cpp:%d: %zu times %lld MiB, %s\n", line, leaked.size(), leaked[0].bytes / kMiB,
                  leaked[0].purpose);
    }
  }

 private:
  struct Allocation {
    long long bytes;
    const char* purpose;
    int line;
  };
  bool from_pool_;
  std::map<CUdeviceptr, Allocation> live_;
};

long long free_bytes() {
  CU_CHECK(cuCtxSynchronize());  // a pool returns what was freed when the host waits
  std::size_t free, total;
  CU_CHECK(cuMemGetInfo(&free, &total));
  return static_cast<long long>(free);
}

// One step of some work. It skips the work if the input is bad, and that path has a bug.
void step(Ledger& ledger, bool good_input) {
  const CUdeviceptr input = ledger.allocate(64 * kMiB, "the input");
  const CUdeviceptr scratch = ledger.allocate(32 * kMiB, "the scratch memory");
  if (good_input) {
    CU_CHECK(cuMemsetD8(scratch, 0, 32 * kMiB));  // the work
    ledger.free(scratch);
  }
  ledger.free(input);
}

// Runs six steps in a context of their own and destroys it. Returns how much memory was missing before and after.
struct Missing {
  long long before, after;
};
Missing run_steps(bool from_pool, bool print) {
  const long long free_before = free_bytes();
  Ledger ledger(from_pool);
  Missing missing{};
  {
    const cu::Context working;
    const long long free_at_start = free_bytes();
    for (int i = 1; i <= 6; ++i) {
      const bool good_input = i % 3 != 0;
      step(ledger, good_input);
      missing.before = free_at_start - free_bytes();
      if (print) {
        std::printf("%4d | %-5s | %17lld MiB | %9lld MiB\n", i, good_input ? "good" : "bad", missing.before / kMiB,
                    ledger.bytes() / kMiB);
      }
    }
    if (print) std::printf("\nnever freed, by the line that allocated it:\n");
    if (print) ledger.print();
  }
  missing.after = free_before - free_bytes();
  if (from_pool) ledger.free_all();
  return free_bytes() == free_before ? missing : Missing{-1, -1};
}

// Allocates 200,000 times 1 KiB and frees all but every thousandth.
void show_fragmentation() {
  std::vector<CUdeviceptr> pieces(200000);
  const long long free_at_start = free_bytes();
  for (CUdeviceptr& piece : pieces) CU_THROW(cuMemAlloc(&piece, 1 << 10));
  std::printf("200000 times 1 KiB allocated: %lld MiB missing\n", (free_at_start - free_bytes()) / kMiB);
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    if (i % 1000 != 0) CU_THROW(cuMemFree(pieces[i]));
  }
  std::printf("all but 200 of them freed:    %lld MiB missing\n", (free_at_start - free_bytes()) / kMiB);
}

int main(int argc, char** argv) try {
  const cu::Primary watching;  // to call cuMemGetInfo, which reports about the whole device
  if (argc > 1 && std::strcmp(argv[1], "--controls") == 0) {
    show_fragmentation();
    return 0;
  }
  std::printf("step | input | missing on the device | in the ledger\n");
  const Missing plain = run_steps(false, true);
  const Missing pool = run_steps(true, false);
  std::printf("\nmissing         | after six steps | after cuCtxDestroy\n");
  std::printf("cuMemAlloc      | %11lld MiB | %14lld MiB\n", plain.before / kMiB, plain.after / kMiB);
  std::printf("cuMemAllocAsync | %11lld MiB | %14lld MiB\n", pool.before / kMiB, pool.after / kMiB);
  const long long two = 64 * kMiB;
  return plain.before == two && plain.after == 0 && pool.before == two && pool.after == two ? 0 : 1;
} catch (const cu::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
