// Exercise: a request goes on after its pages were moved. See README.md.
#include "05-extension/17-decode-engine/pages.hpp"
#include "common/cu.hpp"

#include <vector>

// Moves the pages of the request in `slot`: for each i, the keys and values of page from[i] become those of page to[i]
// in all layers, and entry i of the slot's row in the table becomes to[i]. Steps that are in the stream already find
// the old pages, and later steps the new ones. pages.hpp says where keys and values are. Throws cu::Error if a driver
// call fails.
//
// The caller guarantees that from and to have as many entries, and that no page of `to` is in use, so no page is in
// both. It also decides what becomes of the old pages.
//
// The function must not wait for the device, and must not allocate memory of the device or page-locked memory of the
// host. The caller may call it again before the device has moved anything, and the second call must not change what the
// first one does.
void move_pages(const engine::Pages& pages, int slot, const std::vector<int>& from, const std::vector<int>& to,
                CUstream stream) {
  (void)pages, (void)slot, (void)from, (void)to, (void)stream;
}
