// Passes the same arguments to a kernel in two ways, and once in a way that only looks correct.
#include "common/cu.hpp"
#include "common/image.hpp"

#include <cstring>
#include <vector>

// As in kernels.cu: host and device use the same layout for a struct.
struct Point {
  float x, y, z;
};

struct Report {
  char letter;
  double number;
  Point point;
  short small;
};

struct Parameter {
  std::size_t offset, bytes;
};

// Returns the offset and size of each of the kernel's parameters, as recorded in the image.
std::vector<Parameter> parameters(CUfunction kernel) {
  std::vector<Parameter> found;
  Parameter next;
  while (cuFuncGetParamInfo(kernel, found.size(), &next.offset, &next.bytes) == CUDA_SUCCESS) found.push_back(next);
  return found;
}

// Copies the values to the given offsets of a buffer and launches the kernel with it. The driver does not check what
// the bytes mean.
void launch_packed(CUfunction kernel, void* const* values, const std::vector<Parameter>& where, std::size_t bytes) {
  std::vector<char> buffer(bytes);
  for (std::size_t i = 0; i < where.size(); ++i) {
    std::memcpy(buffer.data() + where[i].offset, values[i], where[i].bytes);
  }
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, buffer.data(), CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                   CU_LAUNCH_PARAM_END};
  CU_CHECK(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, extra));
}

// Prints what the kernel received. Returns whether this is what was sent.
bool inspect(const char* how, CUdeviceptr memory) {
  Report got;
  CU_CHECK(cuMemcpyDtoH(&got, memory, sizeof got));
  const bool right = got.letter == 'k' && got.number == 2.5 && got.point.y == 2.0f && got.small == -7;
  std::printf("%-24s | %c | %-12g | %g %g %g | %6d | %s\n", how, got.letter, got.number, got.point.x, got.point.y,
              got.point.z, got.small, right ? "as sent" : "not as sent");
  return right;
}

int main() try {
  cu::Primary context;
  cu::Module module(cu::image("kernels.ptx"));
  const CUfunction receive = module.function("receive");
  const std::vector<Parameter> where = parameters(receive);
  const std::size_t bytes = where.back().offset + where.back().bytes;
  std::printf("parameter | offset | bytes\n");
  for (std::size_t i = 0; i < where.size(); ++i)
    std::printf("%9zu | %6zu | %5zu\n", i, where[i].offset, where[i].bytes);

  cu::Memory report(sizeof(Report));
  CU_CHECK(cuMemsetD8(report.address, 0, sizeof(Report)));  // the padding inside the struct is copied back too
  char letter = 'k';
  double number = 2.5;
  Point point{1, 2, 3};
  short small = -7;
  void* values[] = {&report.address, &letter, &number, &point, &small};

  std::printf("\n%-24s | letter, number, point, small\n", "arguments");
  CU_CHECK(cuLaunchKernel(receive, 1, 1, 1, 1, 1, 1, 0, nullptr, values, nullptr));
  const bool by_address = inspect("kernelParams", report.address);

  CU_CHECK(cuLaunchKernel(receive, 1, 1, 1, 1, 1, 1, 0, nullptr, values, nullptr));
  letter = '?';  // too late: the launch has copied the value
  const bool copied = inspect("changed after the launch", report.address);
  letter = 'k';

  launch_packed(receive, values, where, bytes);
  const bool packed = inspect("packed, aligned", report.address);

  std::vector<Parameter> tight = where;  // each directly after the one before
  for (std::size_t i = 1; i < tight.size(); ++i) tight[i].offset = tight[i - 1].offset + tight[i - 1].bytes;
  launch_packed(receive, values, tight, bytes);
  const bool packed_tight = inspect("packed, without gaps", report.address);

  return by_address && copied && packed && !packed_tight ? 0 : 1;
} catch (const cu::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
