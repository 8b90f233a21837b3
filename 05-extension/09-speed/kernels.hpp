// The kernels of kernels.cu in one context, and how each is launched. This file deals with addresses, streams and
// lengths, and does not depend on PyTorch.
#pragma once
#include "common/cu.hpp"

#include <algorithm>
#include <string>

struct Kernels {
  static constexpr unsigned kMostDown = 65535;  // blocks in a grid's second dimension

  cu::Module module;
  int multiprocessors = 0;
  CUfunction forward_1, forward_4, backward_1, backward_4, add_rows, multiply_;

  // Loads the kernels into the current context.
  explicit Kernels(const std::string& image)
      : module(image),
        forward_1(module.function("forward_1")),
        forward_4(module.function("forward_4")),
        backward_1(module.function("backward_1")),
        backward_4(module.function("backward_4")),
        add_rows(module.function("add_rows")),
        multiply_(module.function("multiply")) {
    CUdevice device;
    CU_THROW(cuCtxGetDevice(&device));
    CU_THROW(cuDeviceGetAttribute(&multiprocessors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device));
  }

  // How blocks of 256 threads divide the rows and columns. If `wide`, a thread handles four floats of a row.
  struct Grid {
    bool wide;
    int columns;            // divided by four if wide
    unsigned x, y;          // threads of a block
    unsigned across, down;  // blocks
    int strip;              // rows of a block, in backward
  };

  Grid grid(int rows, int columns, CUdeviceptr all_addresses) const {
    Grid made{};
    made.wide = columns % 4 == 0 && all_addresses % 16 == 0;
    made.columns = made.wide ? columns / 4 : columns;
    // Few elements: a block handles all rows of its columns, so no partial sums have to be added up afterwards.
    const bool few = static_cast<long long>(rows) * columns <= 1 << 18 && rows <= 1024;
    const unsigned widest = few ? 8 : 256;
    for (made.x = 1; made.x < widest && made.x < static_cast<unsigned>(made.columns);) made.x *= 2;
    made.y = 256 / made.x;
    made.across = (made.columns + made.x - 1) / made.x;
    // Many elements: eight blocks for each multiprocessor, if a thread then has between 8 and 32 rows.
    const int blocks = std::max(1u, 8 * multiprocessors / made.across);
    const int rows_of_a_thread = std::clamp(rows / (blocks * static_cast<int>(made.y)), 8, 32);
    const int least = (rows + kMostDown - 1) / kMostDown;  // the hardware's limit for the grid
    made.strip = few ? rows : std::max<int>(rows_of_a_thread * made.y, least);
    made.down = (rows + made.strip - 1) / made.strip;
    return made;
  }

  void forward(CUstream stream, CUdeviceptr x, CUdeviceptr b, CUdeviceptr y, int rows, int columns) const {
    Grid g = grid(rows, columns, x | b | y);
    const unsigned down = std::min((rows + 4 * g.y - 1) / (4 * g.y), kMostDown);
    void* arguments[] = {&x, &b, &y, &rows, &g.columns};
    CU_THROW(
        cuLaunchKernel(g.wide ? forward_4 : forward_1, g.across, down, 1, g.x, g.y, 1, 0, stream, arguments, nullptr));
  }

  // How many rows of partial sums backward() writes. If it is one, that row is db; otherwise call add_up().
  unsigned sums(int rows, int columns, CUdeviceptr all_addresses) const {
    return grid(rows, columns, all_addresses).down;
  }

  // `all_addresses` is g | x | dx, the value that was passed to sums().
  void backward(CUstream stream, CUdeviceptr g, CUdeviceptr x, CUdeviceptr dx, CUdeviceptr sums, int rows, int columns,
                CUdeviceptr all_addresses) const {
    Grid made = grid(rows, columns, all_addresses);
    void* arguments[] = {&g, &x, &dx, &sums, &rows, &made.columns, &made.strip};
    CU_THROW(cuLaunchKernel(made.wide ? backward_4 : backward_1, made.across, made.down, 1, made.x, made.y, 1, 0,
                            stream, arguments, nullptr));
  }

  void add_up(CUstream stream, CUdeviceptr sums, CUdeviceptr db, int rows, int columns) const {
    void* arguments[] = {&sums, &db, &rows, &columns};
    CU_THROW(cuLaunchKernel(add_rows, (columns + 7) / 8, 1, 1, 8, 128, 1, 0, stream, arguments, nullptr));
  }

  void multiply(CUstream stream, CUdeviceptr a, CUdeviceptr b, CUdeviceptr c, int m, int n, int k) const {
    void* arguments[] = {&a, &b, &c, &m, &n, &k};
    CU_THROW(cuLaunchKernel(multiply_, (n + 127) / 128, (m + 127) / 128, 1, 256, 1, 1, 0, stream, arguments, nullptr));
  }
};
