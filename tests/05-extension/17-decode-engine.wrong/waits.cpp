// Rejected with: "the host does not wait for the device"
// No step uses the old pages any more when they are moved, but the host has nothing to launch in the meantime.
#include "05-extension/17-decode-engine/pages.hpp"
#include "common/cu.hpp"

#include <vector>

void move_pages(const engine::Pages& pages, int slot, const std::vector<int>& from, const std::vector<int>& to,
                CUstream stream) {
  CU_THROW(cuStreamSynchronize(stream));
  const CUdeviceptr row = pages.table + sizeof(int) * static_cast<std::size_t>(slot) * pages.pitch;
  for (std::size_t i = 0; i < from.size(); ++i) {
    for (int layer = 0; layer < pages.layers; ++layer) {
      for (const CUdeviceptr kind : {pages.keys, pages.values}) {
        const CUdeviceptr first = kind + layer * pages.layer_bytes;
        CU_THROW(cuMemcpyDtoDAsync(first + to[i] * pages.page_bytes, first + from[i] * pages.page_bytes,
                                   pages.page_bytes, stream));
      }
    }
    CU_THROW(cuMemsetD32Async(row + sizeof(int) * i, static_cast<unsigned>(to[i]), 1, stream));
  }
}
