// Makes a Program of parsed modules: links them, resolves their functions, lays out shared memory kernel by kernel,
// places variables, fills in addresses.
#include "common/simulator/ptx/load.hpp"

#include "common/simulator/exec/pseudo.hpp"
#include "common/simulator/hardware.hpp"
#include "common/simulator/numbers.hpp"
#include "common/simulator/ptx/link.hpp"
#include "common/simulator/ptx/resolve.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace cudasim {
namespace ptx {
namespace {

constexpr u64 kFunctionStride = 16;
constexpr u64 kMostConstant = 64 << 10;
constexpr u32 kMostRegisters = 255, kFewestRegisters = 16;

class Loader {
 public:
  Loader(std::span<const Module> modules, const Placement& placement) : modules_(modules), placement_(placement) {}

  Loaded run() {
    link_ = link(modules_);
    if (link_.errors.empty()) resolve_functions();
    if (link_.errors.empty()) make_kernels();
    if (link_.errors.empty()) check_relocations();
    Loaded loaded;
    check_constants();
    if (link_.errors.empty()) {
      place_variables();
      write_constants();
      describe();
      loaded.program = std::move(program_);
    }
    loaded.errors = std::move(link_.errors);
    loaded.warnings = std::move(link_.warnings);
    return loaded;
  }

 private:
  void error(Position at, std::string message) { link_.errors.push_back({Diagnostic::syntax, at, std::move(message)}); }

  void error_of_size(Position at, std::string message) {
    link_.errors.push_back({Diagnostic::whole_text, at, std::move(message)});
  }

  void resolve_functions() {
    u32 files = 0;
    std::vector<u32> file_base;
    for (const Module& module : modules_) {
      file_base.push_back(files);
      program_->files.resize(files);
      program_->files.insert(program_->files.end(), module.files.begin(), module.files.end());
      files = static_cast<u32>(program_->files.size());
      program_->ptx_version = std::max(program_->ptx_version, module.version());
      program_->target = std::max(program_->target, module.target);
    }
    for (u32 definition : link_.definitions) {
      const LinkedFunction linked = link_.functions[definition];
      functions_.push_back(resolve(modules_[linked.module], linked, file_base[linked.module], link_));
    }
  }

  // --- Kernels ---

  std::vector<u32> callees(u32 function) const {
    std::vector<u32> all = functions_[function].callees;
    if (functions_[function].calls_indirectly) all.insert(all.end(), pointed_.begin(), pointed_.end());
    return all;
  }

  // All functions that the program takes the address of, in code or in an initialiser.
  void find_pointed() {
    for (const Resolved& resolved : functions_) {
      pointed_.insert(pointed_.end(), resolved.addresses_taken.begin(), resolved.addresses_taken.end());
    }
    for (const LinkedVariable& linked : link_.variables) {
      for (const Relocation& relocation : linked.variable->relocations) {
        const Symbol* symbol = link_.find(linked.module, relocation.symbol);
        if (symbol == nullptr || symbol->kind != Symbol::function) continue;
        if (link_.functions[symbol->index].defined) pointed_.push_back(link_.functions[symbol->index].index);
      }
    }
    std::sort(pointed_.begin(), pointed_.end());
    pointed_.erase(std::unique(pointed_.begin(), pointed_.end()), pointed_.end());
  }

  // What `start` calls, directly or not, itself first.
  std::vector<u32> reach(u32 start) const {
    std::vector<u32> found = {start};
    std::vector<bool> seen(functions_.size(), false);
    seen[start] = true;
    for (std::size_t i = 0; i < found.size(); ++i) {
      for (u32 callee : callees(found[i])) {
        if (seen[callee]) continue;
        seen[callee] = true;
        found.push_back(callee);
      }
    }
    return found;
  }

  // The depth of its stack of frames, as far as that is known: a recursive function counts once. `of_frame` is the size
  // of a frame; each call adds its cost.
  u64 stack_depth(u32 start, u32 Code::* of_frame, u64 call_cost) const {
    constexpr u64 kOpen = ~u64{0};
    struct Visit {
      u32 function;
      std::vector<u32> callees;
      std::size_t next = 0;
      u64 deepest = 0;
    };
    std::vector<u64> depth(functions_.size(), 0);
    std::vector<bool> done(functions_.size(), false);
    std::vector<Visit> stack;
    stack.push_back({start, callees(start)});
    depth[start] = kOpen;
    for (;;) {
      Visit& visit = stack.back();
      if (visit.next < visit.callees.size()) {
        const u32 callee = visit.callees[visit.next++];
        if (done[callee]) {
          visit.deepest = std::max(visit.deepest, depth[callee]);
        } else if (depth[callee] != kOpen) {
          depth[callee] = kOpen;
          stack.push_back({callee, callees(callee)});
        }
        continue;
      }
      const u64 own = (*functions_[visit.function].code).*of_frame;
      const u64 total = own + (visit.callees.empty() ? 0 : call_cost) + visit.deepest;
      depth[visit.function] = total;
      done[visit.function] = true;
      stack.pop_back();
      if (stack.empty()) return total;
      stack.back().deepest = std::max(stack.back().deepest, total);
    }
  }

  // In a module with a function of several results, compilers give up the calling conventions everywhere. Predicates
  // and short integers may then be passed in registers, but no function may call an external function, or itself.
  void check_conventions(const std::vector<u32>& reached, bool conventions) {
    for (u32 each : reached) {
      const Resolved& resolved = functions_[each];
      if (conventions && resolved.narrow.at.line != 0) {
        return error(resolved.narrow.at,
                     std::string("In ABI compilation, ") + resolved.narrow.what + " device functions is not supported");
      }
      if (conventions) continue;
      if (resolved.calls_by_convention.line != 0)
        return error(resolved.calls_by_convention, "'Indirect Functions or Extern Functions' requires ABI");
      const Function& function = *link_.functions[link_.definitions[each]].function;
      for (u32 callee : resolved.callees) {
        const std::vector<u32> further = reach(callee);
        if (std::find(further.begin(), further.end(), each) != further.end())
          return error(function.at, "Function '" + function.name + "' is recursive");
      }
    }
  }

  void make_kernels() {
    find_pointed();
    const bool conventions = std::none_of(link_.definitions.begin(), link_.definitions.end(),
                                          [&](u32 each) { return link_.functions[each].function->results.size() > 1; });
    for (u32 index = 0; index < functions_.size(); ++index) {
      const LinkedFunction& linked = link_.functions[link_.definitions[index]];
      if (!linked.function->is_entry) continue;
      const std::vector<u32> reached = reach(index);
      check_conventions(reached, conventions);
      make_kernel(index, *linked.function, reached);
    }
  }

  void make_kernel(u32 index, const Function& function, const std::vector<u32>& reached) {
    Kernel kernel;
    kernel.name = function.name;
    kernel.function = index;
    kernel.parameter_bytes = functions_[index].parameter_bytes;
    std::vector<u32> shared, constants;
    u32 words = 0;
    for (u32 each : reached) {
      const Resolved& resolved = functions_[each];
      shared.insert(shared.end(), resolved.shared.begin(), resolved.shared.end());
      constants.insert(constants.end(), resolved.constants_used.begin(), resolved.constants_used.end());
      kernel.barriers = std::max(kernel.barriers, resolved.barriers);
      kernel.reserved_shared |= resolved.reserved_shared;
      for (const CallSite& call : resolved.code->calls) {
        if (call.callee != kNoTarget && call.callee >= kBuiltin) kernel.builtins |= 1u << (call.callee - kBuiltin);
      }
      words = std::max(words, resolved.code->registers_32bit);
    }
    lay_out_shared(kernel, function, std::move(shared));
    std::sort(constants.begin(), constants.end());
    constants.erase(std::unique(constants.begin(), constants.end()), constants.end());
    for (u32 each : constants) kernel.constant_bytes += static_cast<u32>(link_.variables[each].variable->size);
    constexpr u64 kCallCost = 32, kMost = 1u << 30;  // kCallCost: what the executor adds to each frame, at most
    kernel.local_bytes = static_cast<u32>(std::min(stack_depth(index, &Code::local_bytes, kCallCost), kMost));
    kernel.stack_bytes = static_cast<u32>(std::min(stack_depth(index, &Code::variable_bytes, 0), kMost));
    const u32 most = most_registers(function);
    kernel.registers =
        std::clamp<u32>(static_cast<u32>(round_up(words + 2, 2)), std::min(kFewestRegisters, most), most);
    kernel.directives = function;
    auto& kernels = kernel.name.starts_with(kRuntimeKernels) ? program_->runtime_kernels : program_->kernels;
    kernels.push_back(std::move(kernel));
  }

  // Ours is an estimate, and often too high; programs reckon with it how many threads a block may have. So it never
  // says that a block which the launch bounds allow would not fit; without bounds, that is any block.
  static u32 most_registers(const Function& function) {
    u64 threads = kMaxBlock.x;
    for (const Dim3& bounds : {function.max_threads, function.required_threads}) {
      if (bounds.count() != 0) threads = std::min<u64>(bounds.count(), kMaxBlock.x);
    }
    const u64 resident = round_up(threads, kWarpSize) * std::max(function.min_blocks, 1u);
    const u32 fitting =
        static_cast<u32>(std::max<u64>(kRegistersPerMultiprocessor / resident / 8 * 8, kFewestRegisters));
    const u32 asked = function.max_registers != 0 ? function.max_registers : kMostRegisters;
    return std::min({fitting, asked, kMostRegisters});
  }

  // Static variables in the order of their declarations, then the dynamic memory, to which all extern arrays lead.
  void lay_out_shared(Kernel& kernel, const Function& function, std::vector<u32> variables) {
    std::sort(variables.begin(), variables.end());
    variables.erase(std::unique(variables.begin(), variables.end()), variables.end());
    u64 offset = 0;
    for (u32 each : variables) {
      const LinkedVariable& linked = link_.variables[each];
      if (linked.dynamic_shared) {
        kernel.dynamic_shared_align = std::max(kernel.dynamic_shared_align, linked.variable->align);
        continue;
      }
      offset = round_up(offset, linked.variable->align);
      kernel.shared_offset[each] = static_cast<u32>(offset);
      kernel.shared_variables.push_back({linked.variable->name, static_cast<u32>(offset), linked.variable->size});
      offset += linked.variable->size;
    }
    if (offset > kSharedPerBlockOptin) {  // as the driver, which compiles for the device; ptxas: 48 KiB
      return error_of_size(function.at, "Entry function '" + function.name + "' uses too much shared data (" +
                                            hex(offset) + " bytes, " + hex(kSharedPerBlockOptin) + " max)");
    }
    kernel.static_shared = static_cast<u32>(offset);
    const u32 dynamic = static_cast<u32>(round_up(offset, kernel.dynamic_shared_align));
    for (u32 each : variables) {
      if (!link_.variables[each].dynamic_shared) continue;
      kernel.shared_offset[each] = dynamic;
      kernel.shared_variables.push_back({link_.variables[each].variable->name, dynamic, 0});
    }
  }

  // --- Variables ---

  // Each text's constant variables have one bank together.
  void check_constants() {
    std::vector<u64> used(modules_.size(), 0);
    Position too_much;
    for (const LinkedVariable& linked : link_.variables) {
      if (linked.variable->space != Space::constant) continue;
      u64& offset = used[linked.module];
      offset = round_up(offset, linked.variable->align) + linked.variable->size;
      if (offset <= kMostConstant || too_much.line != 0) continue;
      too_much = linked.variable->at;
    }
    const u64 most = used.empty() ? 0 : *std::max_element(used.begin(), used.end());
    if (most > kMostConstant)
      error_of_size(too_much, "File uses too much global constant data (" + hex(most) + " bytes, " +
                                  hex(kMostConstant) + " max)");
  }

  static bool is_placed(const LinkedVariable& linked) {
    const Space space = linked.variable->space;
    if (linked.variable->bank != 0) return false;  // nothing but a name: see uses_constant() in resolve_values.cpp
    return space == Space::global || space == Space::constant || space == Space::tex;
  }

  void check_relocations() {
    for (const LinkedVariable& linked : link_.variables) {
      for (const Relocation& relocation : linked.variable->relocations) {
        const Symbol* symbol = link_.find(linked.module, relocation.symbol);
        if (symbol == nullptr) {
          error(relocation.at, "Unknown symbol '" + relocation.symbol + "'");
        } else if (symbol->kind == Symbol::function && !link_.functions[symbol->index].defined) {
          link_.errors.push_back(
              {Diagnostic::unresolved, relocation.at, "Unresolved extern function '" + relocation.symbol + "'"});
        } else if (symbol->kind == Symbol::variable && !is_placed(link_.variables[symbol->index])) {
          error(relocation.at, "Variable used as initial value not in .global or .const state space");
        }
      }
    }
  }

  void place_variables() {
    for (LinkedVariable& linked : link_.variables) {
      if (is_placed(linked)) linked.address = placement_.place(*linked.variable);
    }
    for (const LinkedVariable& linked : link_.variables) {
      if (is_placed(linked)) initialise(linked);
    }
  }

  void initialise(const LinkedVariable& linked) {
    const Variable& variable = *linked.variable;
    if (variable.data.empty() && variable.relocations.empty()) return;
    std::vector<std::byte> data = variable.data;
    for (const Relocation& relocation : variable.relocations) {
      const Symbol* symbol = link_.find(linked.module, relocation.symbol);
      const u64 address = symbol->kind == Symbol::function
                              ? value({AddressOf::function, link_.functions[symbol->index].index, 0})
                              : value({AddressOf::variable, symbol->index, 0});
      u64 bits = address + static_cast<u64>(relocation.addend);
      if (relocation.masked) bits = relocation.byte < 8 ? bits >> (8 * relocation.byte) : 0;
      if (data.size() < relocation.offset + relocation.size) data.resize(relocation.offset + relocation.size);
      std::memcpy(data.data() + relocation.offset, &bits, std::min<u32>(relocation.size, 8));
    }
    placement_.write(linked.address, data);
  }

  // What an address is counted from, in a kernel's own code for shared memory.
  u64 value(const AddressOf& of, const Kernel* kernel = nullptr) const {
    switch (of.kind) {
      case AddressOf::variable: return link_.variables[of.index].address + of.addend;
      case AddressOf::function: return kCodeWindow + kFunctionStride * of.index + of.addend;
      case AddressOf::shared: return kernel->shared_offset.at(of.index) + of.addend;
      case AddressOf::of_launch:
      case AddressOf::none: break;
    }
    return of.addend;
  }

  void write_constants() {
    std::vector<const Kernel*> kernel_of(functions_.size(), nullptr);
    for (const auto* kernels : {&program_->kernels, &program_->runtime_kernels}) {
      for (const Kernel& kernel : *kernels) kernel_of[kernel.function] = &kernel;
    }
    for (u32 i = 0; i < functions_.size(); ++i) {
      Resolved& resolved = functions_[i];
      const Kernel* kernel = kernel_of[i];
      resolved.constants.write(*resolved.code, [&](const AddressOf& of) { return value(of, kernel); });
      for (const OffsetFixup& fixup : resolved.fixups) {
        i64& offset = resolved.code->instructions[fixup.instruction].offset;
        offset = static_cast<i64>(static_cast<u64>(offset) + value(fixup.of, kernel));
      }
      program_->functions.push_back(std::move(resolved.code));
    }
  }

  // What the driver API can ask for by name.
  void describe() {
    for (const LinkedVariable& linked : link_.variables) {
      const Variable& variable = *linked.variable;
      if (!is_placed(linked)) continue;
      auto& references = variable.type == Type::texref    ? program_->texture_references
                         : variable.type == Type::surfref ? program_->surface_references
                                                          : program_->sampler_references;
      const u32 index = static_cast<u32>(program_->globals.size());
      if (variable.type == Type::texref || variable.type == Type::surfref || variable.type == Type::samplerref) {
        references[variable.name] = index;
      }
      Global global;
      global.name = variable.name;
      global.address = linked.address;
      global.size = variable.size;
      global.space = variable.space;
      global.managed = variable.managed;
      global.visible = variable.linkage != Linkage::local;
      program_->globals.push_back(std::move(global));
    }
    if (!modules_.empty()) program_->text = std::make_shared<const std::string>(modules_[0].text);
  }

  std::span<const Module> modules_;
  const Placement& placement_;
  Link link_;
  std::vector<Resolved> functions_;
  std::vector<u32> pointed_;
  std::shared_ptr<Program> program_ = std::make_shared<Program>();
};

}  // namespace
}  // namespace ptx

Loaded load(std::span<const ptx::Module> modules, const Placement& placement) {
  return ptx::Loader(modules, placement).run();
}

}  // namespace cudasim
