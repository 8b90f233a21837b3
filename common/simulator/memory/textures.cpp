// The live texture and surface objects.
#include "common/simulator/memory/textures.hpp"

#include <mutex>
#include <shared_mutex>
#include <unordered_map>

namespace cudasim {
namespace {

struct Live {
  std::shared_mutex mutex;
  std::unordered_map<u64, std::shared_ptr<const Texture>> by_handle;
};
Live& live() {
  static Live& all = *new Live;  // kernels may still run while the process ends
  return all;
}

}  // namespace

void enter_texture(u64 handle, std::shared_ptr<const Texture> texture) {
  const std::unique_lock lock(live().mutex);
  live().by_handle[handle] = std::move(texture);
}
bool remove_texture(u64 handle) {
  const std::unique_lock lock(live().mutex);
  return live().by_handle.erase(handle) != 0;
}
std::shared_ptr<const Texture> find_texture(u64 handle) {
  const std::shared_lock lock(live().mutex);
  const auto found = live().by_handle.find(handle);
  return found == live().by_handle.end() ? nullptr : found->second;
}

}  // namespace cudasim
