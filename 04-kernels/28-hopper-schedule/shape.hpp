// What host and kernels agree on: how the matrices are described, and the shape of each kernel.
#pragma once
#include <cuda.h>

#include <cstddef>

constexpr int kBox = 64;                    // a box has 64 rows of 64 elements, 128 bytes each
constexpr int kBoxBytes = kBox * kBox * 2;  // two bytes per element
constexpr int kGroup = 128;                 // threads of a warpgroup

// c = a × b, all n × n elements in bfloat16. The maps describe the same memory as the pointers.
struct Product {
  CUtensorMap map_a, map_b, map_c;
  const void *a, *b;
  void* c;
  int n;
  int band;         // how many rows of tiles the tile order visits column by column; 1: row by row
  float* partial;   // stream-K: the sums of parts of tiles,
  unsigned* ready;  // and which of them are complete
};

// Each shape changes one thing in an earlier one.
struct Warpgroup {
  static constexpr int kConsumers = 1;  // warpgroups that multiply, 64 rows of a tile each
  static constexpr int kColumns = 256;  // of a tile of c
  static constexpr int kStages = 1;     // each holds the boxes for one step, 64 products deep
  static constexpr int kCluster = 1;    // blocks that load boxes of b for each other
  static constexpr bool kSpecialized = false, kTmaStore = false, kPingPong = false, kStreamK = false, kKeepA = false;
  static constexpr bool kSetmaxnreg = true, kLoads = true, kReleaseCluster = false;  // for control runs
};
struct Multistage : Warpgroup {
  static constexpr int kStages = 4;
};
struct Specialized : Multistage {
  static constexpr bool kSpecialized = true;
};
struct Cooperative : Specialized {
  static constexpr int kConsumers = 2;
};
struct TmaStore : Cooperative {
  static constexpr bool kTmaStore = true;
};
struct Cluster : TmaStore {
  static constexpr int kCluster = 2;
};
struct PingPong : Cluster {
  static constexpr bool kPingPong = true;
};
struct KeepA : Cluster {
  static constexpr bool kKeepA = true;  // in the L2 cache
};
struct StreamK : Cluster {
  static constexpr bool kStreamK = true;
};

// Smaller tiles, for matrices that have too few large ones for all multiprocessors.
struct Narrow : TmaStore {
  static constexpr int kColumns = 128, kStages = 6;
};
struct Small : Narrow {
  static constexpr int kConsumers = 1;
};
struct Smallest : Small {
  static constexpr int kColumns = 64, kStages = 8;
};

// Control runs. The results of the second are wrong.
struct OneBlock : Multistage {};  // shared memory for four stages, of which `tma` uses one
struct NoLoads : Cluster {
  static constexpr bool kLoads = false;
};
struct NoSetmaxnreg : Cluster {
  static constexpr bool kSetmaxnreg = false;
};
struct ReleaseCluster : Specialized {
  static constexpr bool kReleaseCluster = true;
};

template <class Shape>
constexpr int kTileRows = kBox * (Shape::kPingPong ? 1 : Shape::kConsumers);
template <class Shape>
constexpr int kBoxesOfA = kTileRows<Shape> / kBox;
template <class Shape>
constexpr int kBoxesOfB = Shape::kColumns / kBox;
template <class Shape>
constexpr int kStageBoxes = kBoxesOfA<Shape> + kBoxesOfB<Shape>;
template <class Shape>
constexpr int kThreads = kGroup * (Shape::kConsumers + (Shape::kSpecialized ? 1 : 0));
template <class Shape>
constexpr int kSharedBytes =
    (Shape::kStages * kStageBoxes<Shape> + (Shape::kTmaStore ? 2 * Shape::kConsumers : 0)) * kBoxBytes;

constexpr int kMostConsumers = 2;  // per block, and the bytes of their sums
constexpr std::size_t kPartialBytes = kMostConsumers * kBox * 256 * sizeof(float);
