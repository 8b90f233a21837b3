// Times the kernels through the driver API, on whichever device the loader found. Arguments: kernels' names; none: all.
#include "common/bench/bench.hpp"
#include "common/cu.hpp"
#include "common/image.hpp"

int main(int count, char** names) {
  const cu::Context context;
  const cu::Module module(cu::image("kernels.ptx"));
  for (const bench::Benchmark& each : bench::all()) {
    if (!bench::chosen(each, count - 1, names + 1)) continue;
    std::vector<cu::Memory> memory;
    const bench::Buffers buffers = each.buffers();
    for (const bench::Buffer& buffer : buffers) {
      memory.emplace_back(buffer.bytes.size());
      CU_CHECK(cuMemcpyHtoD(memory.back().address, buffer.bytes.data(), buffer.bytes.size()));
    }
    const CUfunction kernel = module.function(each.kernel);
    const auto run = [&] {
      for (const std::vector<int>& numbers : each.launches) {
        std::vector<void*> arguments;
        for (cu::Memory& at : memory) arguments.push_back(&at.address);
        for (const int& number : numbers) arguments.push_back(const_cast<int*>(&number));
        CU_CHECK(cuLaunchKernel(kernel, each.grid[0], each.grid[1], 1, each.block[0], each.block[1], 1, 0, nullptr,
                                arguments.data(), nullptr));
      }
      CU_CHECK(cuCtxSynchronize());
    };
    bench::measure(each.kernel, run, [&] {
      bench::Buffer result = buffers.back();
      CU_CHECK(cuMemcpyDtoH(result.bytes.data(), memory.back().address, result.bytes.size()));
      return result.sum();
    });
  }
}
