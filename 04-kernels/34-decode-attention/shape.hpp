// What host and kernels agree on: the shape of each kernel, and the arguments.
#pragma once

constexpr int kPage = 16;       // keys of a page
constexpr int kMostGroup = 16;  // heads of q that use the same head of k and v
constexpr int kMostRequests = 256;
constexpr int kWarps = 8, kThreads = 32 * kWarps;
constexpr int kBlocks = 1;  // that fit on a multiprocessor

// Which keys a block uses: all keys of a head, one of several equal parts of them, or its share of all keys of all
// requests.
enum class Schedule { kHead, kSplit, kEven };

// Each shape changes one thing in an earlier one. kD: elements in a row of q, k, v and o.
template <int kD>
struct PerHead {
  static constexpr int kHead = kD;
  static constexpr bool kGrouped = false;  // a block computes all heads of q that use the same head of k and v
  static constexpr Schedule kSchedule = Schedule::kHead;
  static constexpr bool kPaged = false;
  static constexpr int kBytes = 2;  // of an element of k and v: bfloat16, or e4m3
  static constexpr int kStages = 2;
};
template <int kD>
struct Grouped : PerHead<kD> {
  static constexpr bool kGrouped = true;
};
template <int kD>
struct Split : Grouped<kD> {
  static constexpr Schedule kSchedule = Schedule::kSplit;
};
template <int kD>
struct Paged : Split<kD> {
  static constexpr bool kPaged = true;
};
template <int kD>
struct Even : Paged<kD> {
  static constexpr Schedule kSchedule = Schedule::kEven;
};
template <int kD>
struct Fp8 : Even<kD> {
  static constexpr int kBytes = 1;
};

// For a control run: split, but not grouped.
template <int kD>
struct SplitPerHead : PerHead<kD> {
  static constexpr Schedule kSchedule = Schedule::kSplit;
};

// A warp uses one page in each step, or two if they have half the size. So a stage of its pipeline always has room for
// kMostGroup × kHead floats, too.
template <class S>
constexpr int kPages = 2 / S::kBytes;
template <class S>
constexpr int kStepKeys = kWarps * kPages<S> * kPage;  // that a block uses in each step
template <class S>
constexpr int kPageBytes = kPage * S::kHead * S::kBytes;  // of k, and of v
template <class S>
constexpr int kStageBytes = 2 * kPages<S> * kPageBytes<S>;
template <class S>
constexpr int kSharedBytes = kWarps * S::kStages * kStageBytes<S>;

// One new token for each request. The requests have different numbers of keys. The cache has `kv_heads` heads of k and
// v. If there is a table, it consists of pages with kPage rows for each head. They may be anywhere in the cache: row r
// of the table has the numbers of the pages of request r, in order. Without a table, the rows of a head of a request
// are contiguous, and there is room for `pitch` × kPage of them.
struct Decode {
  const void *q, *k, *v;
  const float *k_scales, *v_scales;  // for each head, if the elements are e4m3
  const int* table;
  const int* lengths;  // how many keys a request has
  void* o;             // like q: `group` × kv_heads rows for each request
  float* lse;          // for each row of q, the logarithm of the sum of the exponentials of its scores
  float* parts;        // the results of blocks that share a head, two for each block
  unsigned* done;  // for each head of each request, how many blocks have stored theirs; 0 before and after a launch
  int requests, kv_heads, group, pitch, splits;  // blocks that share a head with Schedule::kSplit
  float scale;
};

constexpr int kMostHead = 128;
// A part: kMostGroup rows of sums, and for each row its largest score and the sum of its exponentials.
constexpr int kPartFloats = kMostGroup * (kMostHead + 2);
