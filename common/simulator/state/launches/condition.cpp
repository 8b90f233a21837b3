#include "common/simulator/state/launches/condition.hpp"

#include "common/simulator/state/errors/registry.hpp"

#include <mutex>
#include <unordered_map>

namespace cudasim {
namespace {

// Kernels know a condition by its handle only.
struct Conditions {
  std::mutex mutex;
  std::unordered_map<u64, std::weak_ptr<Condition>> by_handle;
};

Conditions& conditions() {
  static auto& all = *new Conditions;
  return all;
}

}  // namespace

Condition::Condition(u32 first, bool each_launch)
    : handle(fresh_handle()), initial(first), assigned(each_launch), value(each_launch ? first : 0) {}

Condition::~Condition() {
  const std::scoped_lock lock(conditions().mutex);
  conditions().by_handle.erase(handle);
}

std::shared_ptr<Condition> make_condition(u32 initial, bool assigned) {
  auto made = std::make_shared<Condition>(initial, assigned);
  const std::scoped_lock lock(conditions().mutex);
  conditions().by_handle[made->handle] = made;
  return made;
}

std::shared_ptr<Condition> find_condition(u64 handle) {
  const std::scoped_lock lock(conditions().mutex);
  const auto found = conditions().by_handle.find(handle);
  return found == conditions().by_handle.end() ? nullptr : found->second.lock();
}

bool set_condition(u64 handle, u32 value) {
  const auto condition = find_condition(handle);
  if (condition) condition->value = value;
  return condition != nullptr;
}

}  // namespace cudasim
