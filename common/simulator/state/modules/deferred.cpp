#include "common/simulator/state/modules/deferred.hpp"

#include "common/simulator/state/devices/driver.hpp"
#include "common/simulator/state/errors/failure.hpp"

#include <algorithm>
#include <cctype>
#include <unordered_set>

namespace cudasim {
namespace {

using Names = std::unordered_set<std::string_view>;

bool names_one(const ptx::Operand& operand, const Names& functions) {
  if (const auto* name = std::get_if<ptx::Name>(&operand.value); name != nullptr && functions.contains(name->text))
    return true;
  return std::any_of(operand.elements.begin(), operand.elements.end(),
                     [&](const ptx::Operand& element) { return names_one(element, functions); });
}

bool stands_alone(const ptx::Function& function, const Names& functions) {
  if (!function.is_entry || !function.has_body || !function.alias_of.empty()) return false;
  for (const ptx::Variable& variable : function.variables) {
    if (variable.space == Space::global || variable.space == Space::constant) return false;
  }
  return std::none_of(function.statements.begin(), function.statements.end(), [&](const ptx::Statement& statement) {
    return statement.opcode == "call" ||
           std::any_of(statement.operands.begin(), statement.operands.end(),
                       [&](const ptx::Operand& operand) { return names_one(operand, functions); });
  });
}

}  // namespace

bool lazy_loading() {
  std::string mode = at_init("CUDA_MODULE_LOADING");
  for (char& letter : mode) letter = static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
  return mode != "EAGER";
}

bool DeferredKernels::possible(const ptx::Module& text) {
  Names functions;
  for (const ptx::Function& function : text.functions) functions.insert(function.name);
  for (const ptx::Variable& variable : text.variables) {
    for (const ptx::Relocation& relocation : variable.relocations) {
      if (functions.contains(relocation.symbol)) return false;
    }
  }
  return functions.size() == text.functions.size() &&
         std::all_of(text.functions.begin(), text.functions.end(),
                     [&](const ptx::Function& function) { return stands_alone(function, functions); });
}

DeferredKernels::DeferredKernels(ptx::Module text) : text_(std::move(text)), kernels_(std::move(text_.functions)) {
  text_.functions.clear();
  for (std::size_t i = 0; i < kernels_.size(); ++i) by_name_.emplace(kernels_[i].name, i);
}

std::vector<std::string> DeferredKernels::names() const {
  std::vector<std::string> all;
  for (const ptx::Function& kernel : kernels_) all.push_back(kernel.name);
  return all;
}

std::shared_ptr<const Program> DeferredKernels::load(const std::string& name, const Program& variables) const {
  const auto found = by_name_.find(name);
  if (found == by_name_.end()) return nullptr;
  ptx::Module alone = text_;
  alone.functions.push_back(kernels_[found->second]);
  Placement placement;
  placement.place = [&](const ptx::Variable& variable) {
    const auto placed = std::find_if(variables.globals.begin(), variables.globals.end(),
                                     [&](const Global& global) { return global.name == variable.name; });
    return placed != variables.globals.end() ? placed->address : 0;
  };
  placement.write = [](u64, std::span<const std::byte>) {};  // it has been initialised
  Loaded loaded = cudasim::load({&alone, 1}, placement);
  if (!loaded.program) fail(CUDA_ERROR_INVALID_PTX, reason_text(loaded.errors, text_.text));
  return loaded.program;
}

}  // namespace cudasim
