// Which code has called the library.
#pragma once
#include "common/simulator/types.hpp"

#include <string>

namespace cudasim {

// The first address on the stack that is not in this library, and not one that is to be passed over; null if there is
// none.
const void* caller(bool (*passed_over)(const void* address) = nullptr);

struct CodeAddress {
  std::string file;  // without its folder; empty: unknown
  u64 offset = 0;    // from where the file is loaded
};
CodeAddress code_address(const void* address);

}  // namespace cudasim
