// Loses memory on purpose, sees that it is missing, and finds the line that took it.
#include "common/cu.hpp"

#include <map>

constexpr std::size_t kMiB = 1 << 20;

// Who took what and has not given it back. Device memory is taken and freed through it, so it knows.
class Ledger {
 public:
  CUdeviceptr take(std::size_t bytes, const char* what, int line = __builtin_LINE()) {
    CUdeviceptr address;
    CU_THROW(cuMemAlloc(&address, bytes));
    open_[address] = {bytes, what, line};
    return address;
  }
  void give_back(CUdeviceptr address) {
    CU_THROW(cuMemFree(address));
    open_.erase(address);
  }
  std::size_t bytes() const {
    std::size_t sum = 0;
    for (const auto& [address, entry] : open_) sum += entry.bytes;
    return sum;
  }
  void print() const {
    std::map<int, std::pair<int, Entry>> by_line;
    for (const auto& [address, entry] : open_) by_line[entry.line] = {by_line[entry.line].first + 1, entry};
    for (const auto& [line, found] : by_line) {
      std::printf("  main.cpp:%d: %d times %zu MiB, %s\n", line, found.first, found.second.bytes / kMiB,
                  found.second.what);
    }
  }

 private:
  struct Entry {
    std::size_t bytes;
    const char* what;
    int line;
  };
  std::map<CUdeviceptr, Entry> open_;
};

std::size_t free_bytes() {
  std::size_t free, total;
  CU_CHECK(cuMemGetInfo(&free, &total));
  return free;
}

// One step of some work. When its input is bad it gives up early, and that is where it goes wrong.
void step(Ledger& ledger, bool good_input) {
  const CUdeviceptr input = ledger.take(16 * kMiB, "the input");
  const CUdeviceptr scratch = ledger.take(8 * kMiB, "the scratch memory");
  if (good_input) {
    CU_CHECK(cuMemsetD8(scratch, 0, 8 * kMiB));  // the work
    ledger.give_back(scratch);
  }
  ledger.give_back(input);
}

int main() try {
  cu::Context watching;  // it only looks: cuMemGetInfo needs a context, and tells of the whole device
  const std::size_t before = free_bytes();
  bool right = true;
  {
    cu::Context working;
    Ledger ledger;
    const std::size_t at_start = free_bytes();
    std::printf("step | input | missing on the device | in the ledger\n");
    for (int i = 1; i <= 6; ++i) {
      const bool good_input = i % 3 != 0;
      step(ledger, good_input);
      const std::size_t missing = at_start - free_bytes();
      std::printf("%4d | %-5s | %17zu MiB | %9zu MiB\n", i, good_input ? "good" : "bad", missing / kMiB,
                  ledger.bytes() / kMiB);
      right &= missing == ledger.bytes();
    }
    std::printf("\nnever given back, and where it was taken:\n");
    ledger.print();
    right &= ledger.bytes() == 16 * kMiB;
  }
  const bool returned = free_bytes() == before;
  std::printf("\nafter the end of the context: %s\n", returned ? "nothing is missing" : "something is still missing");
  return right && returned ? 0 : 1;
} catch (const cu::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
