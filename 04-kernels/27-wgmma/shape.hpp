// What host and kernels agree on.
#pragma once
#include "04-kernels/boxes.hpp"

// c = a × b, n × n elements each. The maps describe the same memory as the pointers.
struct Product {
  CUtensorMap map_a, map_b;
  const void *a, *b;
  void* c;
  int n;
};

constexpr int kNarrow = 64, kWide = 256;  // columns of a tile of c; it has 64 rows
constexpr int bytes_of_step(int columns) { return (1 + columns / kBox) * kBoxBytes; }
