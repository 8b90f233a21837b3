// Room for what other files keep with a device or a context (its allocations, its pools) without this folder knowing
// their types: one object of each type, made when first asked for, destroyed with its owner.
#pragma once
#include <memory>
#include <mutex>
#include <typeindex>
#include <utility>
#include <vector>

namespace cudasim {

class Parts {
 public:
  // T is made as T(arguments...). The arguments count only the first time.
  template <class T, class... Arguments>
  T& get(Arguments&&... arguments) {
    const std::scoped_lock lock(mutex_);
    for (const auto& [type, part] : parts_) {
      if (type == typeid(T)) return *static_cast<T*>(part.get());
    }
    auto made = std::make_shared<T>(std::forward<Arguments>(arguments)...);
    parts_.emplace_back(typeid(T), made);
    return *made;
  }

  // Destroys all of them, the last made first.
  void clear() {
    std::vector<std::pair<std::type_index, std::shared_ptr<void>>> parts;
    {
      const std::scoped_lock lock(mutex_);
      parts.swap(parts_);
    }
    while (!parts.empty()) parts.pop_back();
  }

 private:
  std::recursive_mutex mutex_;  // a part may ask for another while it is made
  std::vector<std::pair<std::type_index, std::shared_ptr<void>>> parts_;
};

}  // namespace cudasim
