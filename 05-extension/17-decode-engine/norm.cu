// RMSNorm of lesson 04-30.
#include "04-kernels/30-softmax-and-norm/rms_norm.hpp"

extern "C" __global__ void __launch_bounds__(kSmall.threads) rms_norm(const Rows p) {
  rms_norm<__nv_bfloat16, kSmall>(p, [&](auto& team, const auto& y, int row) {
    y.store(team, static_cast<__nv_bfloat16*>(p.y) + std::size_t(p.columns) * row, p.columns);
  });
}
