// Attention in bfloat16 or e4m3 on the tensor cores of compute capability 9.0: o = softmax(scale × q × the transpose of
// k) × v. Each kernel changes one thing in an earlier one.
#include "04-kernels/attention_exact.hpp"
#include "04-kernels/clock.hpp"
#include "e4m3.hpp"
#include "pipeline.hpp"
#include "softmax.hpp"

// The weights of a softmax as left operands: 16 rows of a warp and 32 bytes each.
template <class S>
using Weights = unsigned[S::kKeys * S::kBytes / kStepBytes][1][4];

// Multiplies 32 bytes of the rows of both operands. The left one is a descriptor, or in registers.
template <class S, hopper::Major kB, int kSums, class Left>
__device__ void multiply_step(float (&sums)[kSums], const Left& left, std::uint64_t right, bool accumulate) {
  if constexpr (S::kBytes == 2) {
    hopper::wgmma<kB>(sums, left, right, accumulate);
  } else {
    hopper::wgmma_bytes(sums, left, right, accumulate);
  }
}

// Starts to compute scores = 64 rows of q × the transpose of a tile of k.
template <class S>
__device__ void multiply_keys(Scores<S>& scores, const unsigned char* q, const unsigned char* k) {
  const std::uint64_t rows = hopper::matrix_descriptor(q), keys = hopper::matrix_descriptor(k);
  hopper::keep(registers(scores));
  hopper::wgmma_fence();
#pragma unroll
  for (int i = 0; i < S::kHead * S::kBytes / kStepBytes;
       ++i) {  // in units of 16 bytes: to the next box, and to the next step
    const int box = i / 4 * kBoxRowBytes / 16, column = i % 4 * 2;
    multiply_step<S, hopper::Major::kK>(registers(scores), rows + box * kRows<S> + column,
                                        keys + box * S::kKeys + column, i > 0);
  }
  hopper::wgmma_commit();
}

// Starts to compute sums += weights × a tile of v, or = if they will be promoted. In e4m3, v is transposed.
template <class S>
__device__ void multiply_values(Output<S>& output, Weights<S>& weights, const unsigned char* v) {
  constexpr bool kTransposed = S::kBytes == 1;
  constexpr int kNext = kTransposed ? kStepBytes / 16 : kMma * kBoxRowBytes / 16;
  const std::uint64_t values =
      kTransposed ? hopper::matrix_descriptor(v) : hopper::matrix_descriptor(v, S::kKeys * kBoxRowBytes);
  hopper::keep(registers(output));
#pragma unroll
  for (auto& operand : weights) hopper::keep(operand[0]);
  hopper::wgmma_fence();
#pragma unroll
  for (int i = 0; i < S::kKeys * S::kBytes / kStepBytes; ++i) {
    multiply_step<S, hopper::Major::kMN>(registers(output), weights[i][0], values + i * kNext, !S::kPromoted || i > 0);
  }
  hopper::wgmma_commit();
}

// A consumer: a warpgroup that computes 64 rows of o at a time.
template <class S>
class Consumer {
 public:
  __device__ Consumer(const Arguments& p, Shared<S>& shared, int number)
      : p_(p), shared_(shared), q_(shared.q + number * kBox * kBoxRowBytes), number_(number), turns_(number) {}

  __device__ void run() {
    for (int part = 0;; ++part) {
      hopper::mbarrier_wait(shared_.full_q, part % 2);
      const int item = __shfl_sync(0xffffffff, lane() == 0 ? shared_.item : 0, 0);  // lane 0 will also release it
      if (item >= p_.heads * parts_of_head<S>(p_.attention)) break;
      compute(Item<S>(p_, item));
    }
    turns_.finish();
  }

  // Without a producer, the block has only one part, and one thread of this warpgroup loads.
  __device__ void run_alone() {
    if (threadIdx.x == 0) {
      const Item<S> item(p_, blockIdx.x);
      load_tile<S>(shared_.q, p_.map_q, kRows<S>, item.row, item.head, shared_.full_q);
    }
    hopper::mbarrier_wait(shared_.full_q, 0);
    compute(Item<S>(p_, blockIdx.x));
  }

 private:
  __device__ void compute(const Item<S>& item) {
    const Attention& a = p_.attention;
    const int row = item.row + number_ * kBox + threadIdx.x / 32 % 4 * kMma;  // the warp's first one
    const std::size_t first = std::size_t{static_cast<unsigned>(item.head)} * a.queries + row;
    Softmax<S> softmax(a.scale * scale_of(p_.scales.q, item.head) * scale_of(p_.scales.k, item.head / a.group));
    Output<S> output;
    if constexpr (S::kPairs) {
      add_in_pairs(item, row, softmax, output);
    } else {
      add_in_order(item, row, softmax, output);
    }
    softmax.finish(output, scale_of(p_.scales.v, item.head / a.group), a.lse + first, a.queries - row);
    store(output, static_cast<__nv_bfloat16*>(a.o) + first * S::kHead, a.queries - row);
  }

  __device__ static float scale_of(const float* scales, int head) { return S::kBytes == 2 ? 1 : scales[head]; }

  // For each tile: scores, softmax, weighted values.
  __device__ void add_in_order(const Item<S>& item, int row, Softmax<S>& softmax, Output<S>& output) {
    Scores<S> scores;
    Weights<S> weights;
    for (int tile = item.tiles - 1; tile >= 0; --tile, ++round_) {
      if (!S::kProducer && threadIdx.x == 0) load(item, tile);
      wait(shared_.full_k);
      multiply_keys<S>(scores, q_, shared_.k[stage()]);
      hopper::wgmma_wait<0>();
      hopper::keep(registers(scores));
      release(shared_.empty_k, round_);
      if (tile == 0) release_q();
      weigh(scores, softmax, row, tile);
      softmax.rescale(output);
      convert(weights, scores);
      wait(shared_.full_v);
      multiply_values<S>(output, weights, shared_.v[stage()]);
      hopper::wgmma_wait<0>();
      hopper::keep(registers(output));
      release(shared_.empty_v, round_);
      if (!S::kProducer) __syncthreads();
    }
    if (item.tiles == 0) release_q();
  }

  // The same, but each step multiplies the keys of the next tile together with the values of the present one.
  __device__ void add_in_pairs(const Item<S>& item, int row, Softmax<S>& softmax, Output<S>& output) {
    if (item.tiles == 0) return release_q();
    Scores<S> scores;
    Weights<S> weights;
    Output<S> of_tile, &sums = S::kPromoted ? of_tile : output;  // sums: of the tensor cores
    wait(shared_.full_k);
    turns_.wait();
    multiply_keys<S>(scores, q_, shared_.k[stage()]);
    turns_.pass();
    hopper::wgmma_wait<0>();
    hopper::keep(registers(scores));
    release(shared_.empty_k, round_);
    weigh(scores, softmax, row, item.tiles - 1);
    convert(weights, scores);
    for (int tile = item.tiles - 2; tile >= 0; --tile) {
      const int values = stage(), values_parity = parity();
      ++round_;
      wait(shared_.full_k);
      turns_.wait();
      multiply_keys<S>(scores, q_, shared_.k[stage()]);
      hopper::mbarrier_wait(shared_.full_v[values], values_parity);
      multiply_values<S>(sums, weights, shared_.v[values]);
      turns_.pass();
      hopper::wgmma_wait<(S::kOverlap ? 1 : 0)>();
      hopper::keep(registers(scores));
      release(shared_.empty_k, round_);
      const Factors factors = softmax.factors();
      weigh(scores, softmax, row, tile);
      hopper::wgmma_wait<0>();
      hopper::keep(registers(sums)), hopper::keep(registers(scores));
      release(shared_.empty_v, round_ - 1);
      S::kPromoted ? promote<S>(output, factors, sums) : softmax.rescale(output);
      convert(weights, scores);
    }
    release_q();
    wait(shared_.full_v);
    multiply_values<S>(sums, weights, shared_.v[stage()]);
    hopper::wgmma_wait<0>();
    hopper::keep(registers(sums));
    release(shared_.empty_v, round_);
    if (S::kPromoted) promote<S>(output, softmax.factors(), sums);
    ++round_;
  }

  // Converts scores to weights, in FP32.
  __device__ void weigh(Scores<S>& scores, Softmax<S>& softmax, int row, int tile) const {
    if (!S::kSoftmax) return;
    if (S::kOnlyExponentials) return softmax.only_exponentials(scores);
    mask(scores, row, tile);
    softmax.add(scores);
  }

  // Removes the scores of the keys that a row does not use.
  __device__ void mask(Scores<S>& scores, int row, int tile) const {
    const int first_key = tile * S::kKeys;
    if (first_key + S::kKeys <= keys_of(p_.attention, row)) return;
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const int keys = keys_of(p_.attention, row + scores.row(i)) - first_key;
#pragma unroll
      for (int j = 0; j < scores.kEach; ++j) {
        if (scores.column(j) >= keys) scores.of_row(i, j) = -INFINITY;
      }
    }
  }

  __device__ static void convert(Weights<S>& weights, const Scores<S>& scores) {
#pragma unroll
    for (int i = 0; i < S::kKeys * S::kBytes / kStepBytes; ++i) {
      if constexpr (S::kBytes == 2) {
        as_operand(weights[i], scores, i);
      } else {
        as_bytes(weights[i], scores, i);
      }
    }
  }

  __device__ int stage() const { return round_ % S::kStages; }
  __device__ int parity() const { return round_ / S::kStages % 2; }
  __device__ void wait(std::uint64_t (&full)[S::kStages]) const { hopper::mbarrier_wait(full[stage()], parity()); }
  __device__ static void release(std::uint64_t (&empty)[S::kStages], int round) {
    if (S::kProducer && lane() == 0) hopper::mbarrier_arrive(empty[round % S::kStages]);
  }
  __device__ void release_q() const {
    if (S::kProducer && lane() == 0) hopper::mbarrier_arrive(shared_.empty_q);
  }
  __device__ void load(const Item<S>& item, int tile) const {
    const int head = item.head / p_.attention.group, key = tile * S::kKeys;
    load_tile<S>(shared_.k[0], p_.map_k, S::kKeys, key, head, shared_.full_k[0]);
    load_tile<S>(shared_.v[0], p_.map_v, S::kKeys, key, head, shared_.full_v[0]);
  }

  const Arguments& p_;
  Shared<S>& shared_;
  const unsigned char* q_;  // its rows
  int number_;
  int round_ = 0;  // counts the tiles of all parts
  Turns<S> turns_;
};

template <class S>
__device__ void attend(const Arguments& p) {
  extern __shared__ __align__(1024) unsigned char memory[];
  auto& shared = *reinterpret_cast<Shared<S>*>(memory);
  if (threadIdx.x == 0) initialize(shared);
  __syncthreads();
  if constexpr (!S::kProducer) {
    Consumer<S>(p, shared, 0).run_alone();
  } else {
    const int group = __shfl_sync(0xffffffff, threadIdx.x / kGroup, 0);  // the compiler sees that a warp has one value
    if (group == 0) {
      hopper::setmaxnreg_decrease<S::kProducerRegisters>();
      if (threadIdx.x == 0) produce(p, shared);
    } else {
      hopper::setmaxnreg_increase<S::kRegisters>();
      Consumer<S>(p, shared, group - 1).run();
    }
  }
}

#define KERNEL(name, ...)                                                                   \
  extern "C" __global__ void __launch_bounds__(kThreads<__VA_ARGS__>, __VA_ARGS__::kBlocks) \
      name(const __grid_constant__ Arguments p) {                                           \
    attend<__VA_ARGS__>(p);                                                                 \
  }
KERNEL(one_group_128, OneGroup<128>)
KERNEL(producer_128, Producer<128>)
KERNEL(pairs_128, Pairs<128>)
KERNEL(ping_pong_128, PingPong<128>)
KERNEL(overlap_128, Overlap<128>)
KERNEL(both_128, Both<128>)

KERNEL(longest_first_128, LongestFirst<128>)
KERNEL(persistent_128, Persistent<128>)
KERNEL(persistent_64, Persistent<64>)

KERNEL(e4m3_128, E4m3<128>)
KERNEL(promoted_128, Promoted<128>)

KERNEL(pairs_in_step_128, InStep<Pairs<128>>)
KERNEL(pairs_no_softmax_128, NoSoftmax<Pairs<128>>)
KERNEL(ping_pong_no_softmax_128, NoSoftmax<PingPong<128>>)
KERNEL(overlap_in_step_128, InStep<Overlap<128>>)
KERNEL(overlap_rescales_128, Rescales<Overlap<128>>)
KERNEL(overlap_only_exponentials_128, OnlyExponentials<Overlap<128>>)
KERNEL(overlap_no_softmax_128, NoSoftmax<Overlap<128>>)
KERNEL(overlap_only_products_128, OnlyProducts<Overlap<128>>)
KERNEL(overlap_ordered_128, Ordered<Overlap<128>>)

KERNEL(e4m3_unordered_128, Unordered<E4m3<128>>)
KERNEL(e4m3_in_step_128, InStep<E4m3<128>>)
KERNEL(e4m3_only_exponentials_128, OnlyExponentials<E4m3<128>>)
KERNEL(e4m3_no_softmax_128, NoSoftmax<E4m3<128>>)
KERNEL(promoted_unordered_128, Unordered<Promoted<128>>)
