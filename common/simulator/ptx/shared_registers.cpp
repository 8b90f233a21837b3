// Which registers of its module a function uses. Source: PTX ISA, "Register state space".
#include "common/simulator/ptx/link.hpp"
#include "common/simulator/ptx/names.hpp"

#include <set>

namespace cudasim::ptx {
namespace {

constexpr u32 kUnset = ~0u;
constexpr std::size_t kMostShared = 1u << 20;  // registers, of all functions
constexpr std::size_t kMostHandedOver = 256;   // with a call

class Uses {
 public:
  Uses(const Function& function, u32 module, const Link& link)
      : function_(function), module_(module), link_(link), names_(function) {
    for (const Statement& statement : function.statements) {
      names_.enter(statement.scope);
      name(statement.guard);
      for (const Operand& each : statement.operands) operand(each);
      if (statement.opcode == "call") call(statement);
    }
  }

  std::set<SharedRegister> registers;
  std::set<u32> callees;  // of the same module: indices in Program::functions

 private:
  void name(const std::string& text) {
    const std::optional<Binding> binding = names_.find(text);
    if (!binding || binding->kind != Binding::reg) return;
    const u32 reg = function_.registers[binding->index].of_module;
    if (reg != kUnset) registers.insert({reg, binding->number});
  }

  void operand(const Operand& given) {
    if (const Name* own = std::get_if<Name>(&given.value)) name(own->text);
    if (const Address* address = std::get_if<Address>(&given.value))
      name(address->base.substr(0, address->base.find('.')));
    name(given.index_register);
    for (const Operand& each : given.elements) operand(each);
    if (given.pair != nullptr) operand(*given.pair);
  }

  void call(const Statement& statement) {
    const Name* target = std::get_if<Name>(&statement.operands[1].value);
    if (target == nullptr || names_.find(target->text)) return;
    const Symbol* symbol = link_.find(module_, target->text);
    if (symbol == nullptr || symbol->kind != Symbol::function) return;
    const LinkedFunction& callee = link_.functions[symbol->index];
    if (callee.defined && callee.module == module_) callees.insert(callee.index);
  }

  const Function& function_;
  const u32 module_;
  const Link& link_;
  Names names_;
};

}  // namespace

void share_registers(std::span<const Module> modules, Link& link) {
  const u32 count = static_cast<u32>(link.definitions.size());
  std::vector<std::set<SharedRegister>> registers(count);
  std::vector<std::vector<u32>> callees(count);
  bool any = false;
  for (u32 i = 0; i < count; ++i) {
    const LinkedFunction& linked = link.functions[link.definitions[i]];
    if (modules[linked.module].registers.empty()) continue;
    Uses uses(*linked.function, linked.module, link);
    registers[i] = std::move(uses.registers);
    callees[i].assign(uses.callees.begin(), uses.callees.end());
    any = true;
  }
  if (!any) return;
  // Callees first. A function that calls itself is refused later: see Loader::check_conventions().
  std::vector<bool> seen(count, false);
  std::size_t total = 0;
  for (u32 root = 0; root < count; ++root) {
    std::vector<std::pair<u32, std::size_t>> stack;  // function, how many of its callees have been looked at
    if (!seen[root]) stack.emplace_back(root, 0);
    seen[root] = true;
    while (!stack.empty()) {
      const auto [function, next] = stack.back();
      if (next != 0)
        registers[function].insert(registers[callees[function][next - 1]].begin(),
                                   registers[callees[function][next - 1]].end());
      if (next == callees[function].size()) {
        const Function& done = *link.functions[link.definitions[function]].function;
        total += registers[function].size();
        if (total > kMostShared || (!done.is_entry && registers[function].size() > kMostHandedOver))
          return link.errors.push_back({Diagnostic::syntax, done.at, "Too many registers outside of functions"});
        stack.pop_back();
        continue;
      }
      const u32 callee = callees[function][next];
      ++stack.back().second;
      if (seen[callee]) continue;
      seen[callee] = true;
      stack.emplace_back(callee, 0);
    }
  }
  for (const auto& each : registers) link.shared_registers.emplace_back(each.begin(), each.end());
}

}  // namespace cudasim::ptx
