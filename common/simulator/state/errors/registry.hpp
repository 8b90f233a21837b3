// Handles, which a program holds instead of pointers. A handle looks like a pointer, is never dereferenced, and is not
// used twice, so that a lookup tells a stale, foreign or random value from a live one.
#pragma once
#include "common/simulator/state/errors/failure.hpp"
#include "common/simulator/types.hpp"

#include <functional>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>
#include <vector>

namespace cudasim {

// A value that no handle had before; one sequence for all kinds, so that a handle of another kind is never found.
// Lies where neither the processor's programs nor the simulated device have memory; never 0, 1 or 2.
u64 fresh_handle();

// For a value that is not a handle of the expected kind: "handle 0x3c0000000040 …".
std::string no_such_handle(u64 value);

// All live objects of one kind, by handle. Thread-safe. Handle is the driver's opaque pointer type.
template <class Object, class Handle>
class Registry {
 public:
  Handle add(std::shared_ptr<Object> object) {
    const u64 value = fresh_handle();
    const std::unique_lock lock(mutex_);
    objects_.emplace(value, std::move(object));
    return reinterpret_cast<Handle>(value);
  }

  // Null if it is unknown.
  std::shared_ptr<Object> find(Handle handle) const {
    const std::shared_lock lock(mutex_);
    const auto found = objects_.find(reinterpret_cast<u64>(handle));
    return found == objects_.end() ? nullptr : found->second;
  }

  // Throws `otherwise` if it is unknown.
  std::shared_ptr<Object> get(Handle handle, CUresult otherwise = CUDA_ERROR_INVALID_HANDLE) const {
    auto object = find(handle);
    if (!object) fail(otherwise, no_such_handle(reinterpret_cast<u64>(handle)));
    return object;
  }

  // Takes it out; null if it is unknown. If two threads remove the same handle, one gets the object.
  std::shared_ptr<Object> remove(Handle handle) {
    const std::unique_lock lock(mutex_);
    const auto found = objects_.find(reinterpret_cast<u64>(handle));
    if (found == objects_.end()) return nullptr;
    auto object = std::move(found->second);
    objects_.erase(found);
    return object;
  }

  // Takes out all that `chosen` picks, for the end of a context.
  std::vector<std::shared_ptr<Object>> remove_if(const std::function<bool(const Object&)>& chosen) {
    std::vector<std::shared_ptr<Object>> taken;
    const std::unique_lock lock(mutex_);
    for (auto at = objects_.begin(); at != objects_.end();) {
      if (!chosen(*at->second)) {
        ++at;
        continue;
      }
      taken.push_back(std::move(at->second));
      at = objects_.erase(at);
    }
    return taken;
  }

  std::size_t size() const {
    const std::shared_lock lock(mutex_);
    return objects_.size();
  }

 private:
  mutable std::shared_mutex mutex_;
  std::unordered_map<u64, std::shared_ptr<Object>> objects_;
};

}  // namespace cudasim
