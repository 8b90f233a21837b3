// Rejected with: "steps that are in the stream already find the old pages"
// The stream does not synchronize with the default stream, so the pages are moved at once.
#include "05-extension/17-decode-engine/pages.hpp"
#include "common/cu.hpp"

#include <vector>

void move_pages(const engine::Pages& pages, int slot, const std::vector<int>& from, const std::vector<int>& to,
                CUstream stream) {
  (void)stream;
  const CUdeviceptr row = pages.table + sizeof(int) * static_cast<std::size_t>(slot) * pages.pitch;
  for (std::size_t i = 0; i < from.size(); ++i) {
    for (int layer = 0; layer < pages.layers; ++layer) {
      for (const CUdeviceptr kind : {pages.keys, pages.values}) {
        const CUdeviceptr first = kind + layer * pages.layer_bytes;
        CU_THROW(cuMemcpyDtoDAsync(first + to[i] * pages.page_bytes, first + from[i] * pages.page_bytes,
                                   pages.page_bytes, nullptr));
      }
    }
    CU_THROW(cuMemsetD32Async(row + sizeof(int) * i, static_cast<unsigned>(to[i]), 1, nullptr));
  }
}
