// Uses the op through op.h as an inference engine would, and then asks whether the plugin keeps the contract.
#include "05-extension/02-plugin/faults.hpp"
#include "05-extension/02-plugin/op.h"
#include "common/cu.hpp"

#include <vector>

using Floats = std::vector<float>;

// Prints a row of the table. Returns whether the call returned the expected code.
bool row(const char* call, int code, int expected) {
  std::printf("%-27s | %3d  | %s\n", call, code, op_message(code));
  return code == expected;
}

void show(const char* name, const Floats& numbers) {
  std::printf("%-2s =", name);
  for (float number : numbers) std::printf(" %2.0f", number);
  std::printf("\n");
}

struct Array {
  cu::Memory memory;

  explicit Array(const Floats& numbers) : memory(numbers.size() * sizeof(float)) {
    CU_CHECK(cuMemcpyHtoD(memory.address, numbers.data(), numbers.size() * sizeof(float)));
  }
  Floats read(std::size_t count) const {
    Floats numbers(count);
    CU_CHECK(cuMemcpyDtoH(numbers.data(), memory.address, count * sizeof(float)));
    return numbers;
  }
};

bool use_the_op() {
  op* square = nullptr;
  op_execution* execution = nullptr;
  std::printf("%-27s | code | meaning\n", "call");
  bool right = row("op_create, scale 1", op_create(&square, 1), CUDA_SUCCESS);
  right &= row("op_attach", op_attach(square, &execution), CUDA_SUCCESS);
  right &= row("op_prepare, -2 rows", op_prepare(execution, -2, 3), CUDA_ERROR_INVALID_VALUE);
  right &= row("op_prepare, 2 rows", op_prepare(execution, 2, 3), CUDA_SUCCESS);
  const host::Op first_owner(square, op_destroy);
  const host::Execution second_owner(execution, op_detach);
  if (!right) return false;

  const cu::Stream stream;
  const Array x({1, 2, 3, 4, 5, 6}), b({10, 20}), g({1, 1, 1, 1, 2, 3});  // two rows of three
  const Array y(Floats(6)), dx(Floats(6)), db(Floats(2));
  {
    const cu::Context other;  // another library makes its own context current
    const int code = op_enqueue(execution, x.memory.address, b.memory.address, y.memory.address, stream.handle);
    right &= row("op_enqueue, other context", code, CUDA_SUCCESS);
  }
  const int code = op_enqueue_backward(execution, x.memory.address, g.memory.address, dx.memory.address,
                                       db.memory.address, stream.handle);
  right &= row("op_enqueue_backward", code, CUDA_SUCCESS);
  CU_CHECK(cuStreamSynchronize(stream.handle));

  std::printf("\n");
  show("y", y.read(6));
  show("dx", dx.read(6));
  show("db", db.read(2));
  right &= y.read(6) == Floats{11, 14, 19, 36, 45, 56} && dx.read(6) == Floats{2, 4, 6, 8, 20, 36} &&
           db.read(2) == Floats{3, 6};
  return right;
}

// Prints whether a simple test accepts a plugin, and which rule the host finds broken. Returns whether it finds one.
bool breaks_a_rule(const Plugin& plugin) {
  const bool passes = host::Session(plugin).passes_a_simple_test();
  const std::string rule = host::first_broken_rule(plugin);
  std::printf("%-30s | %-11s | %s\n", plugin.name, passes ? "passes" : "fails", rule.empty() ? "-" : rule.c_str());
  return !rule.empty();
}

int main() {
  const cu::Primary primary;  // current for this thread; the plugin does not choose a context
  bool right = use_the_op();
  if (!right) return 1;

  std::printf("\n%-30s | simple test | rule that it breaks: a plugin ...\n", "plugin");
  right &= !breaks_a_rule({});
  for (const Plugin& faulty : faults::all()) right &= breaks_a_rule(faulty);
  return right ? 0 : 1;
}
