// The names in a function's body: scope by scope, as control passes through the text.
#pragma once
#include "common/simulator/ptx/module.hpp"

#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace cudasim::ptx {

struct Binding {
  enum Kind : u8 { reg, variable, parameter, result, label, table, prototype } kind = reg;
  u32 index = 0;   // in the Function's list of that kind
  u32 number = 0;  // of a register declared as %r<n>
};

class Names {
 public:
  explicit Names(const Function& function);
  // Statements are visited in the order of the text.
  void enter(u32 scope);
  std::optional<Binding> find(std::string_view name) const;
  std::optional<Binding> find_label(std::string_view name) const;  // also tables and prototypes

 private:
  struct Entry {
    u32 scope = 0;
    Binding binding;
  };
  using Table = std::unordered_map<std::string_view, std::vector<Entry>>;

  static i64 depth(const Entry& entry);
  void push(u32 scope);
  void pop();
  void bind(Table& table, std::string_view name, u32 scope, Binding binding);
  const Entry* numbered(std::string_view name, u32* number) const;

  const Function& function_;
  Table exact_, families_, labels_;
  std::vector<u32> open_;                                                // scopes, outermost first
  std::vector<std::vector<std::pair<Table*, std::string_view>>> bound_;  // what each of them has bound
  std::vector<std::vector<u32>> labels_of_, tables_of_, prototypes_of_;  // by scope
};

}  // namespace cudasim::ptx
