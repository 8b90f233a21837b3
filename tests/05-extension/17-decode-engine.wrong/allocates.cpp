// Rejected with: "no memory is allocated"
// A buffer for each call: right, but an allocation may wait for the device, and none of the buffers is freed.
#include "05-extension/17-decode-engine/pages.hpp"
#include "common/cu.hpp"

#include <vector>

void move_pages(const engine::Pages& pages, int slot, const std::vector<int>& from, const std::vector<int>& to,
                CUstream stream) {
  const CUdeviceptr row = pages.table + sizeof(int) * static_cast<std::size_t>(slot) * pages.pitch;
  for (std::size_t i = 0; i < from.size(); ++i) {
    for (int layer = 0; layer < pages.layers; ++layer) {
      for (const CUdeviceptr kind : {pages.keys, pages.values}) {
        const CUdeviceptr first = kind + layer * pages.layer_bytes;
        CU_THROW(cuMemcpyDtoDAsync(first + to[i] * pages.page_bytes, first + from[i] * pages.page_bytes,
                                   pages.page_bytes, stream));
      }
    }
  }
  int* numbers;
  CU_THROW(cuMemHostAlloc(reinterpret_cast<void**>(&numbers), sizeof(int) * to.size(), 0));
  for (std::size_t i = 0; i < to.size(); ++i) numbers[i] = to[i];
  CU_THROW(cuMemcpyHtoDAsync(row, numbers, sizeof(int) * to.size(), stream));
}
