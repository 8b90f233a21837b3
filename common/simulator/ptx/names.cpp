// The names in a function's body: an inner scope's hide those of the scopes around it.
#include "common/simulator/ptx/names.hpp"

namespace cudasim::ptx {
namespace {

constexpr u32 kOutermost = ~0u;  // what stands outside of the body: parameters and results

template <class T>
std::vector<std::vector<u32>> by_scope(const std::vector<T>& all, std::size_t scopes) {
  std::vector<std::vector<u32>> lists(scopes);
  for (u32 i = 0; i < all.size(); ++i) lists[all[i].scope].push_back(i);
  return lists;
}

}  // namespace

Names::Names(const Function& function)
    : function_(function),
      labels_of_(by_scope(function.labels, function.scopes.size())),
      tables_of_(by_scope(function.tables, function.scopes.size())),
      prototypes_of_(by_scope(function.prototypes, function.scopes.size())) {
  bound_.emplace_back();
  for (u32 i = 0; i < function.parameters.size(); ++i) {
    bind(exact_, function.parameters[i].name, kOutermost, {Binding::parameter, i, 0});
  }
  for (u32 i = 0; i < function.results.size(); ++i) {
    bind(exact_, function.results[i].name, kOutermost, {Binding::result, i, 0});
  }
  if (!function.scopes.empty()) push(0);
}

void Names::bind(Table& table, std::string_view name, u32 scope, Binding binding) {
  table[name].push_back({scope, binding});
  bound_.back().emplace_back(&table, name);
}

void Names::push(u32 scope) {
  open_.push_back(scope);
  bound_.emplace_back();
  for (u32 i : function_.scopes[scope].registers) {
    const Register& reg = function_.registers[i];
    bind(reg.count == 0 ? exact_ : families_, reg.name, scope, {Binding::reg, i, 0});
  }
  for (u32 i : function_.scopes[scope].variables)
    bind(exact_, function_.variables[i].name, scope, {Binding::variable, i, 0});
  for (u32 i : labels_of_[scope]) bind(labels_, function_.labels[i].name, scope, {Binding::label, i, 0});
  for (u32 i : tables_of_[scope]) bind(labels_, function_.tables[i].name, scope, {Binding::table, i, 0});
  for (u32 i : prototypes_of_[scope]) bind(labels_, function_.prototypes[i].name, scope, {Binding::prototype, i, 0});
}

void Names::pop() {
  for (const auto& [table, name] : bound_.back()) (*table)[name].pop_back();
  bound_.pop_back();
  open_.pop_back();
}

// Scopes are numbered in the order in which they open, so a scope's ancestors have lower numbers.
void Names::enter(u32 scope) {
  if (!open_.empty() && open_.back() == scope) return;
  std::vector<u32> way;
  u32 ancestor = scope;
  while (!open_.empty()) {
    if (open_.back() == ancestor) break;
    if (ancestor > open_.back()) {
      way.push_back(ancestor);
      ancestor = function_.scopes[ancestor].parent;
    } else {
      pop();
    }
  }
  for (auto at = way.rbegin(); at != way.rend(); ++at) push(*at);
}

i64 Names::depth(const Entry& entry) { return entry.scope == kOutermost ? i64{-1} : i64{entry.scope}; }

// %r12 of %r<100>: which digits are the number's, the declarations decide.
const Names::Entry* Names::numbered(std::string_view name, u32* number) const {
  const Entry* best = nullptr;
  u64 value = 0, unit = 1;
  for (std::size_t at = name.size(); at-- > 1 && unit < 1'000'000'000;) {
    const char c = name[at];
    if (c < '0' || c > '9') break;
    value += unit * static_cast<u64>(c - '0');
    unit *= 10;
    if (c == '0' && at + 1 != name.size()) continue;  // %r012 is not %r<100>'s
    const auto found = families_.find(name.substr(0, at));
    if (found == families_.end()) continue;
    for (auto entry = found->second.rbegin(); entry != found->second.rend(); ++entry) {
      if (value >= function_.registers[entry->binding.index].count) continue;
      if (best == nullptr || depth(*entry) > depth(*best)) {
        best = &*entry;
        *number = static_cast<u32>(value);
      }
      break;
    }
  }
  return best;
}

std::optional<Binding> Names::find(std::string_view name) const {
  u32 number = 0;
  const Entry* family = numbered(name, &number);
  const auto found = exact_.find(name);
  const Entry* exact = found == exact_.end() || found->second.empty() ? nullptr : &found->second.back();
  if (exact != nullptr && (family == nullptr || depth(*exact) >= depth(*family))) return exact->binding;
  if (family == nullptr) return std::nullopt;
  Binding binding = family->binding;
  binding.number = number;
  return binding;
}

std::optional<Binding> Names::find_label(std::string_view name) const {
  const auto found = labels_.find(name);
  if (found == labels_.end() || found->second.empty()) return std::nullopt;
  return found->second.back().binding;
}

}  // namespace cudasim::ptx
