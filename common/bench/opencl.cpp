// Times the same four kernels through OpenCL, on the first device of the first platform: PoCL, where nothing else is
// installed.
#define CL_TARGET_OPENCL_VERSION 120
#include "common/bench/bench.hpp"

#include <CL/cl.h>

#include <cstdlib>
#include <fstream>
#include <initializer_list>
#include <sstream>
#include <string>

#define CL_CHECK(call) check((call), #call)

namespace {

void check(cl_int result, const char* call) {
  if (result == CL_SUCCESS) return;
  std::fprintf(stderr, "%s -> %d\n", call, result);
  std::exit(EXIT_FAILURE);
}

struct Argument {
  const void* value;
  std::size_t size;
};

}  // namespace

int main(int, char** arguments) {
  std::ostringstream text;
  text << std::ifstream(arguments[1]).rdbuf();
  const std::string source = text.str();
  const char* pointer = source.c_str();

  cl_platform_id platform;
  cl_device_id device;
  CL_CHECK(clGetPlatformIDs(1, &platform, nullptr));
  CL_CHECK(clGetDeviceIDs(platform, CL_DEVICE_TYPE_CPU, 1, &device, nullptr));
  const cl_context context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, nullptr);
  const cl_command_queue queue = clCreateCommandQueue(context, device, 0, nullptr);
  const cl_program program = clCreateProgramWithSource(context, 1, &pointer, nullptr, nullptr);
  CL_CHECK(clBuildProgram(program, 1, &device, "", nullptr, nullptr));

  auto x = bench::numbers(bench::kElements, 1), y = bench::numbers(bench::kElements, 2);
  const std::size_t bytes = x.size() * sizeof(float);
  const cl_mem a = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, bytes, x.data(), nullptr);
  const cl_mem b = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, bytes, y.data(), nullptr);
  const cl_mem c = clCreateBuffer(context, 0, bytes, nullptr, nullptr);

  auto launch = [&](const char* name, std::size_t gx, std::size_t gy, std::size_t bx, std::size_t by,
                    std::initializer_list<Argument> values) {
    cl_int result;
    const cl_kernel kernel = clCreateKernel(program, name, &result);
    CL_CHECK(result);
    cl_uint i = 0;
    for (const Argument& value : values) CL_CHECK(clSetKernelArg(kernel, i++, value.size, value.value));
    const std::size_t global[] = {gx, gy}, local[] = {bx, by};
    CL_CHECK(clEnqueueNDRangeKernel(queue, kernel, 2, nullptr, global, local, 0, nullptr, nullptr));
    CL_CHECK(clFinish(queue));
    CL_CHECK(clReleaseKernel(kernel));
  };
  auto download = [&](std::size_t count) {
    std::vector<float> values(count);
    CL_CHECK(clEnqueueReadBuffer(queue, c, CL_TRUE, 0, count * sizeof(float), values.data(), 0, nullptr, nullptr));
    return values;
  };

  const int n = bench::kElements, side = bench::kSide;
  const Argument in_a{&a, sizeof a}, in_b{&b, sizeof b}, out{&c, sizeof c}, count{&n, sizeof n},
      width{&side, sizeof side};
  bench::measure("vector_add", [&] { launch("vector_add", n, 1, 256, 1, {in_a, in_b, out, count}); });
  if (!bench::is_sum(x, y, download(n))) return bench::wrong("vector_add");

  for (const char* name : {"matmul_naive", "matmul_tiled"}) {
    bench::measure(name, [&] { launch(name, side, side, 16, 16, {in_a, in_b, out, width}); });
    if (!bench::is_product(x, y, download(side * side))) return bench::wrong(name);
  }

  bench::measure("sum", [&] { launch("sum", 256 * bench::kBlocks, 1, 256, 1, {in_a, out, count}); });
  if (!bench::adds_up(x, download(bench::kBlocks))) return bench::wrong("sum");
}
