// Leaks memory on purpose, notices that it is missing, and finds the line that allocated it.
#include "common/cu.hpp"

#include <map>
#include <vector>

constexpr long long kMiB = 1 << 20;

// Allocates and frees device memory, and keeps a list of what is allocated.
class Ledger {
 public:
  CUdeviceptr allocate(std::size_t bytes, const char* purpose, int line = __builtin_LINE()) {
    CUdeviceptr address;
    CU_THROW(cuMemAlloc(&address, bytes));
    live_[address] = {static_cast<long long>(bytes), purpose, line};
    return address;
  }
  void free(CUdeviceptr address) {
    CU_THROW(cuMemFree(address));
    live_.erase(address);
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
  std::map<CUdeviceptr, Allocation> live_;
};

long long free_bytes() {
  std::size_t free, total;
  CU_CHECK(cuMemGetInfo(&free, &total));
  return static_cast<long long>(free);
}

// One step of some work. It skips the work if the input is bad, and that path has a bug.
void step(Ledger& ledger, bool good_input) {
  const CUdeviceptr input = ledger.allocate(16 * kMiB, "the input");
  const CUdeviceptr scratch = ledger.allocate(8 * kMiB, "the scratch memory");
  if (good_input) {
    CU_CHECK(cuMemsetD8(scratch, 0, 8 * kMiB));  // the work
    ledger.free(scratch);
  }
  ledger.free(input);
}

int main() try {
  const cu::Primary watching;  // only to call cuMemGetInfo, which reports about the whole device
  const long long free_before = free_bytes();
  bool expected = true;
  {
    const cu::Context working;
    Ledger ledger;
    const long long free_at_start = free_bytes();
    std::printf("step | input | missing on the device | in the ledger\n");
    for (int i = 1; i <= 6; ++i) {
      const bool good_input = i % 3 != 0;
      step(ledger, good_input);
      const long long missing = free_at_start - free_bytes();
      std::printf("%4d | %-5s | %17lld MiB | %9lld MiB\n", i, good_input ? "good" : "bad", missing / kMiB,
                  ledger.bytes() / kMiB);
      expected &= missing == ledger.bytes();
    }
    std::printf("\nnever freed, by the line that allocated it:\n");
    ledger.print();
    expected &= ledger.bytes() == 16 * kMiB;
  }
  const bool returned = free_bytes() == free_before;
  std::printf("\nafter the context was destroyed: %s\n", returned ? "nothing is missing" : "memory is still missing");
  return expected && returned ? 0 : 1;
} catch (const cu::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
