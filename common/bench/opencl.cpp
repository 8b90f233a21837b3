// Times the same kernels through OpenCL, on the first device of the first platform: PoCL, where nothing else is
// installed. Arguments: the file with the kernels, then kernels' names; none: all.
#define CL_TARGET_OPENCL_VERSION 120
#include "common/bench/bench.hpp"

#include <CL/cl.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#define CL_CHECK(call) check((call), #call)

namespace {

void check(cl_int result, const char* call) {
  if (result == CL_SUCCESS) return;
  std::fprintf(stderr, "%s -> %d\n", call, result);
  std::exit(EXIT_FAILURE);
}

}  // namespace

int main(int count, char** arguments) {
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

  for (const bench::Benchmark& each : bench::all()) {
    if (!bench::chosen(each, count - 2, arguments + 2)) continue;
    std::vector<cl_mem> memory;
    bench::Buffers buffers = each.buffers();
    for (bench::Buffer& buffer : buffers)
      memory.push_back(
          clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, buffer.bytes.size(), buffer.bytes.data(), nullptr));
    cl_int result;
    const cl_kernel kernel = clCreateKernel(program, each.kernel, &result);
    CL_CHECK(result);
    const std::size_t global[] = {each.grid[0] * each.block[0], each.grid[1] * each.block[1]},
                      local[] = {each.block[0], each.block[1]};
    const auto run = [&] {
      for (const std::vector<int>& numbers : each.launches) {
        cl_uint i = 0;
        for (const cl_mem& at : memory) CL_CHECK(clSetKernelArg(kernel, i++, sizeof at, &at));
        for (const int& number : numbers) CL_CHECK(clSetKernelArg(kernel, i++, sizeof number, &number));
        CL_CHECK(clEnqueueNDRangeKernel(queue, kernel, 2, nullptr, global, local, 0, nullptr, nullptr));
      }
      CL_CHECK(clFinish(queue));
    };
    bench::measure(each.kernel, run, [&] {
      bench::Buffer read = buffers.back();
      CL_CHECK(clEnqueueReadBuffer(queue, memory.back(), CL_TRUE, 0, read.bytes.size(), read.bytes.data(), 0, nullptr,
                                   nullptr));
      return read.sum();
    });
    CL_CHECK(clReleaseKernel(kernel));
    for (const cl_mem& at : memory) CL_CHECK(clReleaseMemObject(at));
  }
}
