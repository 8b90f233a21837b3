// For programs that check themselves: prints what is wrong, and counts it.
#pragma once
#include <cuda_runtime.h>

#include <cstdio>

inline int& mistakes() {
  static int count = 0;
  return count;
}

#define EXPECT(condition)                                                \
  do {                                                                   \
    if (!(condition)) {                                                  \
      std::printf("%s:%d: wrong: %s\n", __FILE__, __LINE__, #condition); \
      ++mistakes();                                                      \
    }                                                                    \
  } while (false)

#define EXPECT_SUCCESS(call)                                                                 \
  do {                                                                                       \
    const cudaError_t result = (call);                                                       \
    if (result != cudaSuccess) {                                                             \
      std::printf("%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(result)); \
      ++mistakes();                                                                          \
    }                                                                                        \
  } while (false)
