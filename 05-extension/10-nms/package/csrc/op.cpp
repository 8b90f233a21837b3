// The op: its schema, its checks, and its implementations for tensors on the CPU and on a GPU.
#include "nms.hpp"

#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>
#include <torch/headeronly/core/Dispatch.h>
#include <torch/headeronly/core/ScalarType.h>

#include <algorithm>
#include <numeric>
#include <vector>

#ifdef WITH_CUDA
#include <cuda_runtime_api.h>
#include <torch/csrc/stable/accelerator.h>
#include <torch/csrc/stable/macros.h>
#endif

using torch::headeronly::ScalarType;
using torch::stable::Tensor;

namespace box_nms {
namespace {

#define DISPATCH(dtype, ...)                                            \
  THO_DISPATCH_SWITCH(dtype, "box_nms",                                 \
                      THO_DISPATCH_CASE(ScalarType::Float, __VA_ARGS__) \
                          THO_DISPATCH_CASE(ScalarType::Double, __VA_ARGS__))

void check(const Tensor& boxes, const Tensor& scores) {
  STD_TORCH_CHECK(boxes.dim() == 2 && boxes.size(1) == 4, "box_nms: boxes must be n x 4");
  STD_TORCH_CHECK(scores.dim() == 1 && scores.size(0) == boxes.size(0), "box_nms: ", boxes.size(0),
                  " boxes need as many scores");
  STD_TORCH_CHECK(boxes.scalar_type() == scores.scalar_type(), "box_nms: boxes are ",
                  torch::headeronly::toString(boxes.scalar_type()), ", but scores are ",
                  torch::headeronly::toString(scores.scalar_type()), "; both must have the same dtype");
  STD_TORCH_CHECK(boxes.device() == scores.device(), "box_nms: boxes and scores must be on the same device");
}

// Half types are computed in float.
Tensor ready(const Tensor& tensor) {
  const ScalarType type = tensor.scalar_type();
  const bool is_half = type == ScalarType::Half || type == ScalarType::BFloat16;
  return torch::stable::contiguous(is_half ? torch::stable::to(tensor, ScalarType::Float) : tensor);
}

std::vector<Index> best_first(const std::vector<long long>& ranks) {
  std::vector<Index> order(ranks.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return ranks[a] > ranks[b]; });
  return order;
}

// Returns how many boxes are kept.
template <class W>
Index keep_on_cpu(const W* boxes, const W* scores, Index count, W threshold, Index* kept) {
  std::vector<long long> ranks(count);
  std::transform(scores, scores + count, ranks.begin(), [](W score) { return rank_of(score); });
  const std::vector<Index> order = best_first(ranks);
  std::vector<Box<W>> sorted(count);
  std::transform(order.begin(), order.end(), sorted.begin(), [&](Index number) { return box(boxes, number); });
  std::vector<bool> removed(count);
  Index total = 0;
  for (Index i = 0; i < count; ++i) {
    if (removed[i]) continue;
    kept[total++] = order[i];
    for (Index j = i + 1; j < count; ++j) {
      if (overlap(sorted[i], sorted[j], threshold)) removed[j] = true;
    }
  }
  std::fill(kept + total, kept + count, -1);
  return total;
}

// The results: the numbers of the kept boxes, and how many there are.
struct Results {
  Tensor kept, total;

  explicit Results(const Tensor& boxes)
      : kept(torch::stable::new_empty(boxes, {boxes.size(0)}, ScalarType::Long)),
        total(torch::stable::new_zeros(boxes, std::vector<int64_t>(), ScalarType::Long)) {}
  Index* numbers() const { return reinterpret_cast<Index*>(kept.mutable_data_ptr<int64_t>()); }
  Index* count() const { return reinterpret_cast<Index*>(total.mutable_data_ptr<int64_t>()); }
};

std::tuple<Tensor, Tensor> on_cpu(const Tensor& boxes, const Tensor& scores, double threshold) {
  check(boxes, scores);
  const Tensor b = ready(boxes), s = ready(scores);
  const Results results(b);
  DISPATCH(b.scalar_type(), [&] {
    *results.count() = keep_on_cpu(b.const_data_ptr<scalar_t>(), s.const_data_ptr<scalar_t>(), b.size(0),
                                   static_cast<scalar_t>(threshold), results.numbers());
  });
  return {results.kept, results.total};
}

#ifdef WITH_CUDA

// With many boxes, PyTorch's sort is faster than counting. The stable ABI has no function for it, so it is called by
// name.
Tensor sorted(const Tensor& scores) {
  using torch::stable::detail::from;
  std::array<StableIValue, 4> stack = {from(scores), from(true), from(int64_t{0}),
                                       from(true)};  // stable, dim, descending
  TORCH_ERROR_CODE_CHECK(torch_call_dispatcher("aten::argsort", "stable", stack.data(), TORCH_ABI_VERSION));
  return torch::stable::detail::to<Tensor>(stack[0]);
}

Stream current_stream(const Tensor& tensor) {
  void* stream = nullptr;
  TORCH_ERROR_CODE_CHECK(aoti_torch_get_current_cuda_stream(tensor.get_device_index(), &stream));
  return static_cast<Stream>(stream);
}

std::tuple<Tensor, Tensor> on_cuda(const Tensor& boxes, const Tensor& scores, double threshold) {
  check(boxes, scores);
  const int64_t count = boxes.size(0);
  STD_TORCH_CHECK(count <= kMost, "box_nms: ", count, " boxes are too many; the limit is ", kMost);
  const torch::stable::accelerator::DeviceGuard guard(boxes.get_device_index());
  const Tensor b = ready(boxes), s = ready(scores);
  const Results results(b);
  if (count == 0) return {results.kept, results.total};

  const Stream stream = current_stream(b);
  const bool is_counted = count <= kCounted;
  const Tensor order = is_counted ? torch::stable::new_empty(b, {count}, ScalarType::Long) : sorted(s);
  const Tensor mask = torch::stable::new_empty(b, {mask_words(count)}, ScalarType::Long);
  auto* const numbers = reinterpret_cast<Index*>(order.mutable_data_ptr<int64_t>());
  DISPATCH(b.scalar_type(), [&] {
    if (is_counted) find_order(s.const_data_ptr<scalar_t>(), static_cast<int>(count), numbers, stream);
    keep(b.const_data_ptr<scalar_t>(), numbers, static_cast<int>(count), threshold,
         reinterpret_cast<Word*>(mask.mutable_data_ptr<int64_t>()), results.numbers(), results.count(), stream);
  });
  STD_CUDA_KERNEL_LAUNCH_CHECK();
  return {results.kept, results.total};
}

#endif

}  // namespace
}  // namespace box_nms

STABLE_TORCH_LIBRARY(box_nms, library) {
  library.def("nms(Tensor boxes, Tensor scores, float threshold) -> (Tensor kept, Tensor count)");
}

STABLE_TORCH_LIBRARY_IMPL(box_nms, CPU, library) { library.impl("nms", TORCH_BOX(&box_nms::on_cpu)); }

#ifdef WITH_CUDA
STABLE_TORCH_LIBRARY_IMPL(box_nms, CUDA, library) { library.impl("nms", TORCH_BOX(&box_nms::on_cuda)); }
#endif
