// Times the four kernels through the driver API, on whichever device the loader found: one line a kernel, in seconds.
#include "common/bench/bench.hpp"
#include "common/cu.hpp"
#include "common/image.hpp"

namespace {

void launch(CUfunction kernel, unsigned gx, unsigned gy, unsigned bx, unsigned by,
            std::initializer_list<const void*> arguments) {
  std::vector<void*> pointers;
  for (const void* argument : arguments) pointers.push_back(const_cast<void*>(argument));
  CU_CHECK(cuLaunchKernel(kernel, gx, gy, 1, bx, by, 1, 0, nullptr, pointers.data(), nullptr));
  CU_CHECK(cuCtxSynchronize());
}

void upload(const cu::Memory& memory, const std::vector<float>& values) {
  CU_CHECK(cuMemcpyHtoD(memory.address, values.data(), values.size() * sizeof(float)));
}

std::vector<float> download(const cu::Memory& memory, std::size_t count) {
  std::vector<float> values(count);
  CU_CHECK(cuMemcpyDtoH(values.data(), memory.address, count * sizeof(float)));
  return values;
}

}  // namespace

int main() {
  const cu::Primary context;
  const cu::Module module(cu::image("kernels.ptx"));
  const cu::Memory a(bench::kElements * sizeof(float)), b(bench::kElements * sizeof(float)),
      c(bench::kElements * sizeof(float));
  const auto x = bench::numbers(bench::kElements, 1), y = bench::numbers(bench::kElements, 2);
  upload(a, x);
  upload(b, y);

  const int n = bench::kElements, side = bench::kSide;
  const CUfunction add = module.function("vector_add"), sum = module.function("sum");
  bench::measure("vector_add", [&] { launch(add, n / 256, 1, 256, 1, {&a.address, &b.address, &c.address, &n}); });
  if (!bench::is_sum(x, y, download(c, n))) return bench::wrong("vector_add");

  for (const char* name : {"matmul_naive", "matmul_tiled"}) {
    const CUfunction matmul = module.function(name);
    bench::measure(name,
                   [&] { launch(matmul, side / 16, side / 16, 16, 16, {&a.address, &b.address, &c.address, &side}); });
    if (!bench::is_product(x, y, download(c, side * side))) return bench::wrong(name);
  }

  bench::measure("sum", [&] { launch(sum, bench::kBlocks, 1, 256, 1, {&a.address, &c.address, &n}); });
  if (!bench::adds_up(x, download(c, bench::kBlocks))) return bench::wrong("sum");
}
