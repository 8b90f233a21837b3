// Finds the variables of a module by name, reads and writes them, and lets a kernel report the memory space of each.
#include "common/cu.hpp"
#include "common/image.hpp"

// Prints the size of a variable that the host looks up by name.
void look_up(const cu::Module& module, const char* name) {
  CUdeviceptr address;
  std::size_t bytes;
  const CUresult result = cuModuleGetGlobal(&address, &bytes, module.handle, name);
  if (result == CUDA_SUCCESS) {
    std::printf("%-16s | %2zu bytes\n", name, bytes);
  } else {
    std::printf("%-16s | %s\n", name, cu::name(result));
  }
}

const char* name_of_space(char letter) {
  switch (letter) {
    case 'g': return "global";
    case 'c': return "constant";
    case 's': return "shared";
    case 'l': return "local";
    default: return "unknown";
  }
}

void print_spaces(const cu::Module& module) {
  const char* what[] = {"cuMemAlloc memory", "visits", "factors", "shop::stock", "shared_array", "local_array"};
  cu::Memory letters(6);
  void* arguments[] = {&letters.address};
  CU_CHECK(cuLaunchKernel(module.function("spaces"), 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr));
  char space[6];
  CU_CHECK(cuMemcpyDtoH(space, letters.address, sizeof space));
  std::printf("\naddress of          | memory space\n");
  for (int i = 0; i < 6; ++i) std::printf("%-19s | %s\n", what[i], name_of_space(space[i]));
}

// Launches the module's kernel with 32 threads, each of which adds 1 to visits.
void visit(const cu::Module& module) {
  CU_CHECK(cuLaunchKernel(module.function("visit"), 1, 1, 1, 32, 1, 1, 0, nullptr, nullptr, nullptr));
}

// Prints and returns the value of visits that the host finds through this module.
int read_visits(const cu::Module& module, const char* when) {
  CUdeviceptr visits;
  CU_CHECK(cuModuleGetGlobal(&visits, nullptr, module.handle, "visits"));
  int count;
  CU_CHECK(cuMemcpyDtoH(&count, visits, sizeof count));
  std::printf("visits in the %s %d\n", when, count);
  return count;
}

// Loads the image a second time between the launches. Returns whether each module has a variable of its own.
bool load_again(const cu::Module& first) {
  visit(first);
  visit(first);
  cu::Module second(cu::image("kernels.ptx"));  // the same image
  visit(second);
  std::printf("\n");
  const int in_first = read_visits(first, "first module, after 2 launches of 32 threads:");
  const int in_second = read_visits(second, "second module, after 1 launch of 32 threads: ");
  return in_first == 164 && in_second == 132;
}

// Multiplies 1 1 1 1 by the four factors and returns the last product.
float scale_ones(const cu::Module& module, const char* when) {
  float values[4] = {1, 1, 1, 1};
  cu::Memory memory(sizeof values);
  CU_CHECK(cuMemcpyHtoD(memory.address, values, sizeof values));
  void* arguments[] = {&memory.address};
  CU_CHECK(cuLaunchKernel(module.function("scale"), 1, 1, 1, 4, 1, 1, 0, nullptr, arguments, nullptr));
  CU_CHECK(cuMemcpyDtoH(values, memory.address, sizeof values));
  std::printf("factors %-22s %g %g %g %g\n", when, values[0], values[1], values[2], values[3]);
  return values[3];
}

int main() try {
  cu::Primary context;
  cu::Module module(cu::image("kernels.ptx"));

  std::printf("name             | lookup by the host\n");
  for (const char* name : {"visits", "factors", "stock", "_ZN4shop5stockE", "shared_array"}) look_up(module, name);
  print_spaces(module);
  const bool separate = load_again(module);

  std::printf("\n");
  const float before = scale_ones(module, "as in the image:");
  CUdeviceptr factors;
  CU_CHECK(cuModuleGetGlobal(&factors, nullptr, module.handle, "factors"));
  const float others[4] = {10, 20, 30, 40};
  CU_CHECK(cuMemcpyHtoD(factors, others, sizeof others));
  const float after = scale_ones(module, "written by the host:");
  return separate && before == 4 && after == 40 ? 0 : 1;
} catch (const cu::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
