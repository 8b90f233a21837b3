// What host and kernels agree on: how the matrices are described, and the shape of each kernel.
#pragma once
#include "04-kernels/boxes.hpp"

// c = a × b, all in bfloat16: c has rows × columns elements, and each is a sum of `inner` products.
struct Product {
  CUtensorMap map_a, map_b, map_c;
  void* c;
  int rows, columns, inner;
  int band;  // how many rows of tiles the tile order visits column by column; 1: row by row
};

// Whether the boxes from which the TMA stores a tile are swizzled. The kernels and the tensor map must agree.
constexpr bool kSwizzledStores = true;

// Each shape changes one thing in an earlier one.
struct OneStage {
  static constexpr int kConsumers = 1;  // warpgroups that multiply, 64 rows of a tile each
  static constexpr int kColumns = 256;  // of a tile of c
  static constexpr int kStages = 1;     // each holds the boxes for one step
  static constexpr int kDeep = 1;       // boxes of each row of boxes in a step: 64 products of each sum
  static constexpr int kCluster = 1;    // blocks that load boxes of b for each other
  static constexpr bool kSpecialized = false, kTmaStore = false;
  static constexpr bool kTransposed = false;  // b is stored by columns, so its boxes are K-major
  static constexpr bool kThin = false;        // see `thin` in kernels.cu
  static constexpr bool kSetmaxnreg = true, kLoads = true, kReleaseCluster = false;  // for control runs
};
struct Pipelined : OneStage {
  static constexpr int kStages = 4;
};
struct Cooperative : Pipelined {
  static constexpr int kConsumers = 2;
};
struct Specialized : Cooperative {
  static constexpr bool kSpecialized = true;
};
struct TmaStore : Specialized {
  static constexpr bool kTmaStore = true;
};
struct Cluster : TmaStore {
  static constexpr int kCluster = 2;
};

// Smaller tiles, for matrices that have too few large ones for all multiprocessors. With fewer stages, two blocks would
// fit on a multiprocessor, but at 1024 this takes 1.4 times as long.
struct Small : TmaStore {
  static constexpr int kConsumers = 1, kColumns = 128, kStages = 6;
};
struct Smallest : Small {
  static constexpr int kColumns = 64, kStages = 8;
};

// A product x · wᵀ with few rows of x. The kernel computes its transpose, w · xᵀ, so w is the matrix a, and x is b.
template <int kRowsOfX>
struct Thin : Pipelined {
  static constexpr int kColumns = kRowsOfX, kStages = kRowsOfX == 16 ? 5 : 3, kDeep = 2;
  static constexpr bool kSpecialized = true, kTransposed = true, kThin = true;
};

// The same shape for a matrix b that is stored by columns.
template <class Shape>
struct Transposed : Shape {
  static constexpr bool kTransposed = true;
};

// Control runs. The results of `NoLoads` are wrong.
struct OneBlock : OneStage {};  // launched with the shared memory of four stages
struct SingleConsumer : Specialized {
  static constexpr int kConsumers = 1;
};
template <class Shape>
struct NoLoads : Shape {
  static constexpr bool kLoads = false;
};
struct NoSetmaxnreg : Cluster {
  static constexpr bool kSetmaxnreg = false;
};
struct ReleaseCluster : Specialized {
  static constexpr bool kReleaseCluster = true;
};

template <class Shape>
constexpr int kTileRows = kBox * Shape::kConsumers;
template <class Shape>
constexpr int kDepthBytes = (kTileRows<Shape> + Shape::kColumns) * kBox * 2;  // of a and b, 64 products deep
template <class Shape>
constexpr int kStageBytes = Shape::kDeep * kDepthBytes<Shape>;
template <class Shape>
constexpr int kThreads = kGroup * (Shape::kConsumers + (Shape::kSpecialized ? 1 : 0));
template <class Shape>
constexpr int kSharedBytes =
    Shape::kStages * kStageBytes<Shape> + (Shape::kTmaStore ? 2 * Shape::kConsumers * kBoxBytes : 0);
