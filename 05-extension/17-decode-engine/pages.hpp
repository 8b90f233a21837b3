// Where the pages of all requests are.
#pragma once
#include <cuda.h>

#include <cstddef>

namespace engine {

// Each layer has room for the keys of all pages, and for their values. Page p of a layer begins p × page_bytes bytes
// after the layer's first page. The table has a row of `pitch` page numbers, of type int, for each slot.
struct Pages {
  CUdeviceptr keys, values, table;
  int layers, pitch;
  std::size_t layer_bytes, page_bytes;
};

}  // namespace engine
