// Contexts of the first version of cuCtxCreate, whose device memory is below 4 GiB.
#pragma once
#include "common/simulator/state/context.hpp"

namespace cudasim {

constexpr u32 kFirstApiVersion = 3010, kSecondApiVersion = 3020;

// Throws what a driver returns for a first version: it needs a current context, and one of the first version alive.
void require_first_context();

// While one exists, what this thread allocates on a device lies below 4 GiB.
class FirstMemory {
 public:
  FirstMemory();
  ~FirstMemory();
  FirstMemory(const FirstMemory&) = delete;
  FirstMemory& operator=(const FirstMemory&) = delete;
  static bool wanted(const Context& context);
};

}  // namespace cudasim
