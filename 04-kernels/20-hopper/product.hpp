// What host and kernels agree on: how a product's matrices are described, and what a block takes.
#pragma once
#include <cuda.h>

constexpr int kBox = 64;                    // a box is 64 rows of 64 numbers, 128 bytes each
constexpr int kBoxBytes = kBox * kBox * 2;  // two bytes a number
constexpr int kColumns = 256;               // of a tile of c
constexpr int kBoxesOfB = kColumns / kBox;  // for one tile of c, 64 numbers deep
constexpr int kStages = 4;                  // boxes for so many steps lie in shared memory
constexpr int kBand = 16;                   // tiles below each other that are multiplied one after the other

// c = a × b, all n × n numbers in bfloat16. The maps describe the same memory as the pointers, for copies of boxes.
struct Product {
  CUtensorMap map_a, map_b, map_c;
  const void *a, *b;
  void* c;
  int n;
};

// Dynamic shared memory of a block with so many warpgroups that multiply; with boxes to put the result in, or without.
constexpr int shared_bytes(int groups, bool stores) {
  return (kStages * (groups + kBoxesOfB) + (stores ? 2 * groups : 0)) * kBoxBytes;
}
