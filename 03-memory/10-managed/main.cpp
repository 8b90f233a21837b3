// Uses one pointer on the host and on the device, and measures what it costs to keep the bytes where they are used.
// With --controls, it measures what a write by the host costs after different histories, and what one page fault costs.
#include "common/cu.hpp"
#include "common/image.hpp"
#include "common/measure.hpp"

#include <algorithm>
#include <cstring>
#include <map>

constexpr int kNumbers = 2 << 20, kRounds = 5;
constexpr std::size_t kBytes = kNumbers * sizeof(int);

CUmemLocation on_device(CUdevice device) {
  CUmemLocation location{};
  location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  location.id = device;
  return location;
}

CUmemLocation on_host() {
  CUmemLocation location{};
  location.type = CU_MEM_LOCATION_TYPE_HOST;
  return location;
}

// Managed memory for n numbers, and what host and device do with it. Each function returns when the work is complete.
class Managed {
 public:
  Managed(const cu::Module& module, CUdevice device, int n) : module_(module), device_(on_device(device)), n_(n) {
    CU_THROW(cuMemAllocManaged(&memory_.address, bytes(), CU_MEM_ATTACH_GLOBAL));
  }
  std::size_t bytes() const { return n_ * sizeof(int); }
  int* numbers() const { return reinterpret_cast<int*>(memory_.address); }  // the same address, on the host

  void host_writes(int value) const { std::fill_n(numbers(), n_, value); }
  void host_reads() const {
    for (int i = 0; i < n_; i += 512) static_cast<void>(*const_cast<volatile int*>(numbers() + i));
  }
  void kernel_adds_one() const { launch("add_one", 1024, 256); }
  void kernel_reads() const { launch("read_all", 1024, 256); }
  void one_thread_reads(int step) const { launch("touch", 1, 1, step); }
  void prefetch_to_device() const { prefetch(device_); }
  void prefetch_to_host() const { prefetch(on_host()); }
  void advise(CUmem_advise advice, CUmemLocation location) const {
    CU_THROW(cuMemAdvise(memory_.address, bytes(), advice, location));
  }

 private:
  void launch(const char* kernel, unsigned blocks, unsigned threads, int step = 0) const {
    CUdeviceptr address = memory_.address;
    int n = n_;
    void* arguments[] = {&address, &n, &step};
    CU_THROW(cuLaunchKernel(module_.function(kernel), blocks, 1, 1, threads, 1, 1, 0, nullptr, arguments, nullptr));
    CU_THROW(cuCtxSynchronize());
  }
  void prefetch(CUmemLocation location) const {
    CU_THROW(cuMemPrefetchAsync(memory_.address, bytes(), location, 0, nullptr));
    CU_THROW(cuCtxSynchronize());
  }

  const cu::Module& module_;
  CUmemLocation device_;
  int n_;
  cu::Memory memory_;
};

// Collects the times of named steps, and prints the median of each.
class Times {
 public:
  template <class Work>
  void measure(const std::string& name, Work work) {
    if (runs_[name].empty()) order_.push_back(name);
    const auto start = std::chrono::steady_clock::now();
    work();
    runs_[name].push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
  }
  double median(const std::string& name) {
    std::vector<double>& runs = runs_.at(name);
    std::nth_element(runs.begin(), runs.begin() + runs.size() / 2, runs.end());
    return runs[runs.size() / 2];
  }
  void print(const char* title) {
    std::printf("\n%-48s | ms\n", title);
    double longest = 0;
    for (const std::string& name : order_) longest = std::max(longest, median(name));
    for (const std::string& name : order_) {
      std::printf("%-48s | %8.3f %s\n", name.c_str(), median(name), cu::bar(median(name), longest, 30).c_str());
    }
  }

 private:
  std::map<std::string, std::vector<double>> runs_;
  std::vector<std::string> order_;
};

// What an access costs depends on which side used the memory last. Each round starts with new memory.
bool compare(const cu::Module& module, CUdevice device) {
  const cu::Memory plain(kBytes);
  const cu::Pinned pinned(kBytes);
  Times times;
  bool correct = true;
  for (int round = 0; round < kRounds; ++round) {
    const Managed memory(module, device, kNumbers);
    times.measure("the host writes, first touch", [&] { memory.host_writes(0); });
    times.measure("the host writes again", [&] { memory.host_writes(round); });
    times.measure("kernel, after the host", [&] { memory.kernel_adds_one(); });
    times.measure("kernel once more", [&] { memory.kernel_adds_one(); });
    times.measure("the host reads, after the kernel", [&] { memory.host_reads(); });
    times.measure("prefetch to the device", [&] { memory.prefetch_to_device(); });
    times.measure("kernel, after the prefetch", [&] { memory.kernel_adds_one(); });
    times.measure("prefetch to the host", [&] { memory.prefetch_to_host(); });
    times.measure("the host reads, after the prefetch", [&] { memory.host_reads(); });
    correct &= std::count(memory.numbers(), memory.numbers() + kNumbers, round + 3) == kNumbers;

    memory.advise(CU_MEM_ADVISE_SET_READ_MOSTLY, on_device(device));
    memory.prefetch_to_device();
    times.measure("kernel reads, both have a copy", [&] { memory.kernel_reads(); });
    times.measure("the host reads, both have a copy", [&] { memory.host_reads(); });
    times.measure("for comparison: copy from pinned memory", [&] {
      CU_CHECK(cuMemcpyHtoD(plain.address, pinned.address, kBytes));
      CU_CHECK(cuCtxSynchronize());
    });
  }
  times.print("8 MiB of managed memory");
  return correct;
}

// The three ways to bring data to the device, over sizes.
void compare_sizes(const cu::Module& module, CUdevice device) {
  std::printf("\nms       | kernel, page faults | prefetch, then kernel | copy from pinned memory\n");
  for (std::size_t kib = 64; kib <= 64 << 10; kib *= 4) {
    const int n = static_cast<int>(kib * 1024 / sizeof(int));
    const Managed memory(module, device, n);
    const cu::Memory plain(memory.bytes());
    const cu::Pinned pinned(memory.bytes());
    Times times;
    for (int round = 0; round < kRounds; ++round) {
      memory.host_writes(round);
      times.measure("faults", [&] { memory.kernel_reads(); });
      memory.host_writes(round);
      times.measure("prefetch", [&] {
        memory.prefetch_to_device();
        memory.kernel_reads();
      });
      times.measure("copy", [&] {
        CU_CHECK(cuMemcpyHtoD(plain.address, pinned.address, memory.bytes()));
        CU_CHECK(cuCtxSynchronize());
      });
    }
    std::printf("%4zu %s | %19.3f | %21.3f | %23.3f\n", kib < 1024 ? kib : kib / 1024, kib < 1024 ? "KiB" : "MiB",
                times.median("faults"), times.median("prefetch"), times.median("copy"));
  }
}

// Why a write by the host takes as long as it does: the same loop, after different histories.
void control_host_writes(const cu::Module& module, CUdevice device) {
  Times times;
  for (int round = 0; round < kRounds; ++round) {
    const auto write_after = [&](const char* history, auto prepare) {
      const Managed memory(module, device, kNumbers);
      prepare(memory);
      times.measure(history, [&] { memory.host_writes(round); });
    };
    const auto read_mostly = [&](const Managed& memory) {
      memory.host_writes(0);
      memory.advise(CU_MEM_ADVISE_SET_READ_MOSTLY, on_device(device));
      memory.kernel_reads();
    };
    write_after("first touch", [](const Managed&) {});
    write_after("the host wrote last", [](const Managed& memory) { memory.host_writes(0); });
    write_after("a kernel wrote last", [](const Managed& memory) {
      memory.host_writes(0);
      memory.kernel_adds_one();
    });
    write_after("read-mostly, a kernel has read, unset again", [&](const Managed& memory) {
      read_mostly(memory);
      memory.advise(CU_MEM_ADVISE_UNSET_READ_MOSTLY, on_device(device));
    });
    write_after("read-mostly, both have a copy", read_mostly);
    write_after("preferred location host, a kernel wrote last", [](const Managed& memory) {
      memory.advise(CU_MEM_ADVISE_SET_PREFERRED_LOCATION, on_host());
      memory.host_writes(0);
      memory.kernel_adds_one();
    });
    std::vector<int> ordinary(kNumbers, 1);
    times.measure("for comparison: a std::vector", [&] { std::fill_n(ordinary.data(), kNumbers, round); });
  }
  times.print("the host writes 8 MiB, after");
}

// One thread reads one number per step, so that at most one page fault is pending: how many faults does it take?
void control_single_faults(const cu::Module& module, CUdevice device) {
  std::printf("\none thread, 8 MiB, one number every | reads |       ms | us per read\n");
  for (const int kib : {4, 16, 64, 256, 1024, 2048}) {
    const int step = kib * 1024 / static_cast<int>(sizeof(int));
    const Managed memory(module, device, kNumbers);
    Times times;
    for (int round = 0; round < kRounds; ++round) {
      memory.host_writes(round);
      times.measure("faults", [&] { memory.one_thread_reads(step); });
    }
    const int reads = kNumbers / step;
    std::printf("%31d KiB | %5d | %8.3f | %11.2f\n", kib, reads, times.median("faults"),
                times.median("faults") * 1e3 / reads);
  }
}

int main(int argc, char** argv) try {
  cu::Primary context;
  cu::print_device_and_link(context.device);
  const cu::Module module(cu::image("kernels.ptx"));
  if (argc > 1 && std::strcmp(argv[1], "--controls") == 0) {
    control_host_writes(module, context.device);
    control_single_faults(module, context.device);
    return 0;
  }
  const bool correct = compare(module, context.device);
  compare_sizes(module, context.device);
  std::printf("\n%s\n", correct ? "Host and device have seen the same numbers." : "Some numbers are wrong.");
  return correct ? 0 : 1;
} catch (const cu::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
