// Links modules: declarations meet their definitions, in one module and across several. Source: PTX ISA, "Linking
// directives".
#include "common/simulator/ptx/link.hpp"

#include <algorithm>

namespace cudasim::ptx {
namespace {

class Linker {
 public:
  explicit Linker(std::span<const Module> modules) : modules_(modules) {}

  Link run() {
    link_.symbols.resize(modules_.size());
    for (u32 m = 0; m < modules_.size(); ++m) {
      module_ = m;
      for (const Variable& variable : modules_[m].variables) enter(variable);
      for (const Function& function : modules_[m].functions) {
        if (function.alias_of.empty()) enter(function);
      }
      for (const Function& function : modules_[m].functions) {
        if (!function.alias_of.empty()) alias(function);
      }
    }
    number_functions();
    resolve_externs();
    return std::move(link_);
  }

 private:
  void error(Position at, std::string message, Diagnostic::Kind kind = Diagnostic::syntax) {
    link_.errors.push_back({kind, at, std::move(message)});
  }

  static bool is_public(Linkage linkage) { return linkage != Linkage::local; }

  // A name in this module: its own, else what another module shows.
  Symbol* known(std::string_view name, Linkage linkage) {
    auto& own = link_.symbols[module_];
    if (const auto at = own.find(name); at != own.end()) return &at->second;
    if (!is_public(linkage)) return nullptr;
    const auto at = public_.find(name);
    return at == public_.end() ? nullptr : &at->second;
  }
  void make_known(std::string_view name, Linkage linkage, Symbol symbol, Position at) {
    const auto [own, is_new] = link_.symbols[module_].try_emplace(name, symbol);
    const Position declared = is_new ? at : own->second.declared;
    own->second = symbol;
    own->second.declared = declared;
    if (is_public(linkage)) public_.try_emplace(name, symbol);
  }

  void duplicate(Position at, const char* what, const std::string& name) {
    error(at, std::string("Duplicate definition of ") + what + " '" + name + "'");
  }

  void enter(const Variable& variable) {
    const Symbol* before = known(variable.name, variable.linkage);
    if (before == nullptr) {
      LinkedVariable linked;
      linked.variable = &variable;
      linked.module = module_;
      linked.dynamic_shared = is_dynamic_shared(variable);
      link_.variables.push_back(linked);
      const Symbol symbol{Symbol::variable, static_cast<u32>(link_.variables.size() - 1)};
      return make_known(variable.name, variable.linkage, symbol, variable.at);
    }
    if (before->kind != Symbol::variable) return duplicate(variable.at, "variable", variable.name);
    const Symbol symbol = *before;
    merge(link_.variables[symbol.index], variable);
    make_known(variable.name, variable.linkage, symbol, variable.at);
  }

  // Whether a text may declare once more what it has declared; told, if it may not.
  bool redeclares(const Variable& first, const Variable& again) {
    const auto open = [](const Variable& each) { return each.size == 0; };
    const auto same_sizes = [&] {
      const auto &a = first.dimensions, &b = again.dimensions;
      const bool or_open = !a.empty() && !b.empty() && (open(first) || open(again));
      return or_open ? std::equal(a.begin() + 1, a.end(), b.begin() + 1, b.end()) : a == b;
    };
    if (first.type != again.type || first.vector != again.vector || !same_sizes()) {
      error(again.at, "Inconsistent redefinition of variable '" + again.name + "'");
      return false;
    }
    if (first.linkage == Linkage::external && again.linkage == Linkage::local) {
      error(again.at, "'.extern' variable '" + again.name + "' cannot be resolved by a '.static'");
      return false;
    }
    if (first.linkage == Linkage::common && again.linkage != Linkage::external) {
      duplicate(again.at, "variable", again.name);
      return false;
    }
    return true;
  }

  bool redeclares(const LinkedFunction& linked, const Function& again) {
    const Function& first = *linked.function;
    if (linked.defined) {
      duplicate(again.at, "function", again.name);
      return false;
    }
    const bool same_linkage =
        first.linkage == again.linkage || (again.linkage == Linkage::local && first.linkage != Linkage::external);
    if (!same_linkage || first.noreturn != again.noreturn) {
      error(again.at, "Inconsistent redefinition of variable '" + again.name + "'");
      return false;
    }
    const auto differ = [&](auto&& same) {
      return !std::equal(first.parameters.begin(), first.parameters.end(), again.parameters.begin(), same) ||
             !std::equal(first.results.begin(), first.results.end(), again.results.begin(), same);
    };
    if (differ([](const Parameter& a, const Parameter& b) { return a.type == b.type && a.is_array == b.is_array; })) {
      error(again.at, "Inconsistent prototypes of '" + again.name + "', parameter types differ");
      return false;
    }
    if (differ([](const Parameter& a, const Parameter& b) { return a.align == b.align; })) {
      error(again.at, "Inconsistent prototypes of '" + again.name + "', parameter alignment differ");
      return false;
    }
    return true;
  }

  // A second declaration of a variable: which of the two defines it?
  void merge(LinkedVariable& linked, const Variable& variable) {
    const Variable& first = *linked.variable;
    if (first.space != variable.space) {
      return error(variable.at, "State space mismatch between declarations of variable '" + variable.name + "'");
    }
    if (linked.module == module_ && !redeclares(first, variable)) return;
    if (variable.linkage == Linkage::external) {
      const bool known = variable.size != 0 && first.size != 0 && first.linkage != Linkage::common;
      if (known && variable.size != first.size && linked.module != module_) {
        error(variable.at, "Size doesn't match for '" + variable.name + "'");
      }
      return;
    }
    const bool sizes_differ = first.size != variable.size && first.size != 0;
    bool replace = false;
    switch (first.linkage) {
      case Linkage::external:
        replace = true;
        if (sizes_differ) error(variable.at, "Declarations of variable '" + variable.name + "' do not match");
        break;
      case Linkage::common:
        replace =
            variable.linkage != Linkage::weak && (variable.linkage != Linkage::common || variable.size > first.size);
        break;
      case Linkage::weak:
        replace = linked.module != module_ && variable.linkage == Linkage::visible;
        if (linked.module == module_) duplicate(variable.at, "variable", variable.name);
        break;
      default:
        if (linked.module == module_ || variable.linkage == Linkage::visible) {
          duplicate(variable.at, "variable", variable.name);
        }
    }
    if (!replace) return;
    linked.variable = &variable;
    linked.module = module_;
    linked.dynamic_shared = false;
  }

  void enter(const Function& function) {
    const Symbol* before = known(function.name, function.linkage);
    if (before == nullptr) {
      LinkedFunction linked;
      linked.function = &function;
      linked.module = module_;
      linked.defined = function.has_body;
      link_.functions.push_back(linked);
      const Symbol symbol{Symbol::function, static_cast<u32>(link_.functions.size() - 1)};
      return make_known(function.name, function.linkage, symbol, function.at);
    }
    if (before->kind != Symbol::function) return duplicate(function.at, "function", function.name);
    const Symbol symbol = *before;
    merge(link_.functions[symbol.index], function);
    make_known(function.name, function.linkage, symbol, function.at);
  }

  // Between texts, a float is not what bits are.
  static bool same_types(const std::vector<Parameter>& a, const std::vector<Parameter>& b, bool between_texts) {
    const auto is_float = [](Type type) { return type == Type::f32 || type == Type::f64; };
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](const Parameter& x, const Parameter& y) {
      return x.in_register == y.in_register && (x.size == y.size || x.size == 0 || y.size == 0) &&
             (x.type == Type::pred) == (y.type == Type::pred) &&
             (!between_texts || is_float(x.type) == is_float(y.type));
    });
  }

  void merge(LinkedFunction& linked, const Function& function) {
    const Function& first = *linked.function;
    const bool between_texts = linked.module != module_;
    if (first.is_entry != function.is_entry && between_texts) {
      return error(function.at, "Function '" + function.name + "' not declared __global__ in all source files");
    }
    if (first.is_entry != function.is_entry || !same_types(first.parameters, function.parameters, between_texts) ||
        !same_types(first.results, function.results, between_texts)) {
      return error(function.at, "Inconsistent prototypes of '" + function.name + "', parameter types differ");
    }
    if (!between_texts && !redeclares(linked, function)) return;
    if (!function.has_body) return;
    const bool stronger = first.linkage == Linkage::weak && function.linkage == Linkage::visible;
    if (linked.defined && (linked.module == module_ || (function.linkage != Linkage::weak && !stronger))) {
      return duplicate(function.at, "function", function.name);
    }
    if (linked.defined && !stronger) return;
    linked.function = &function;
    linked.module = module_;
    linked.defined = true;
  }

  void alias(const Function& function) {
    const Symbol* target = known(function.alias_of, Linkage::visible);
    if (target == nullptr || target->kind != Symbol::function) {
      return error(function.at, "Unknown symbol '" + function.alias_of + "'");
    }
    const Symbol symbol = *target;
    auto& own = link_.symbols[module_];
    const auto before = own.find(function.name);
    if (before != own.end() &&
        (before->second.kind != Symbol::function || link_.functions[before->second.index].defined)) {
      return duplicate(function.at, "function", function.name);
    }
    const Position declared = before != own.end() ? before->second.declared : function.at;
    own[function.name] = symbol;
    own[function.name].declared = declared;
    public_[function.name] = symbol;
  }

  void number_functions() {
    for (u32 i = 0; i < link_.functions.size(); ++i) {
      if (!link_.functions[i].defined) continue;
      link_.functions[i].index = static_cast<u32>(link_.definitions.size());
      link_.definitions.push_back(i);
    }
  }

  // An extern without a definition: ptxas warns and makes it a variable of this module.
  void resolve_externs() {
    for (LinkedVariable& linked : link_.variables) {
      const Variable& variable = *linked.variable;
      if (variable.linkage != Linkage::external || linked.dynamic_shared || variable.bank != 0) continue;
      if (variable.size == 0 || modules_.size() > 1) {
        error(variable.at, "Unresolved extern variable '" + variable.name + "'", Diagnostic::unresolved);
        continue;
      }
      link_.warnings.push_back({Diagnostic::unresolved, variable.at,
                                "Unresolved extern variable '" + variable.name +
                                    "' in whole program compilation, ignoring extern qualifier"});
    }
  }

  std::span<const Module> modules_;
  u32 module_ = 0;
  Link link_;
  std::unordered_map<std::string_view, Symbol> public_;
};

}  // namespace

Link link(std::span<const Module> modules) { return Linker(modules).run(); }

}  // namespace cudasim::ptx
