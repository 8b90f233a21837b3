#include "common/simulator/state/modules/module.hpp"

#include "common/simulator/memory/address_space.hpp"
#include "common/simulator/memory/textures.hpp"
#include "common/simulator/state/memory/allocations.hpp"

#include <cstring>

namespace cudasim {

ModuleMemory::~ModuleMemory() {
  for (const u64 base : bases_) {
    remove_texture(base);  // of a .texref or .surfref variable
    end_allocation(base, "cuModuleUnload");
  }
}

// A managed variable has one address for both sides: it is host memory that the device may touch.
u64 ModuleMemory::place(const ptx::Variable& variable) {
  const auto context = context_.lock();
  require(context != nullptr, CUDA_ERROR_CONTEXT_IS_DESTROYED);
  std::shared_ptr<Allocation> allocation;
  if (variable.managed) {
    auto bytes = std::make_shared<HostBytes>(variable.size);
    allocation = enter_host_memory(*context, MemoryKind::managed, bytes->get(), variable.size, CU_MEM_ATTACH_GLOBAL,
                                   variable.name.c_str(), bytes);
  } else {
    const bool constant = variable.space == Space::constant;
    allocation = allocate_device_memory(*context, constant ? MemoryKind::module_constant : MemoryKind::module_global,
                                        variable.size, variable.name.c_str(), true, std::max<u64>(variable.align, 512));
  }
  bases_.push_back(allocation->base);
  return allocation->base;
}

Placement ModuleMemory::placement() {
  Placement placement;
  placement.place = [this](const ptx::Variable& variable) { return place(variable); };
  placement.write = [](u64 address, std::span<const std::byte> bytes) {
    const auto allocation = AddressSpace::instance().find(address);
    if (!allocation || allocation->base + allocation->size - address < bytes.size()) fail(CUDA_ERROR_UNKNOWN);
    std::memcpy(allocation->host + (address - allocation->base), bytes.data(), bytes.size());
  };
  return placement;
}

namespace {

void end_modules(Context& context) {
  functions().remove_if([&](const Function& function) { return function.context_id == context.id; });
  modules().remove_if([&](const Module& module) { return module.context_id == context.id; });
}

}  // namespace

Registry<Module, CUmodule>& modules() {
  static auto& all = *new Registry<Module, CUmodule>;
  static const bool hooked = (at_context_end(end_modules), true);
  static_cast<void>(hooked);
  return all;
}

Registry<Function, CUfunction>& functions() {
  static auto& all = *new Registry<Function, CUfunction>;
  return all;
}

const Global* find_variable(const Program& program, const std::string& name) {
  const Global* found = nullptr;
  for (const Global& variable : program.globals) {
    if (variable.name == name && (found == nullptr || variable.visible)) found = &variable;
  }
  return found;
}

Module::Module(const std::shared_ptr<Context>& owner, std::shared_ptr<const Program> loaded,
               std::shared_ptr<ModuleMemory> memory, std::unique_ptr<const DeferredKernels> deferred)
    : context(owner),
      health(owner->health),
      context_id(owner->id),
      program(std::move(loaded)),
      memory_(std::move(memory)),
      deferred_(std::move(deferred)) {}

FunctionSettings default_settings(const Kernel& kernel) {
  const u32 most = kernel.static_shared <= kSharedPerBlock ? kSharedPerBlock : kSharedPerBlockOptin;
  FunctionSettings settings;
  settings.max_dynamic_shared = static_cast<int>(most - kernel.static_shared);
  return settings;
}

FunctionSettings merged(const FunctionSettings& of_kernel, const FunctionSettings& of_function, u32 own) {
  FunctionSettings all = of_kernel;
  const auto set = [own](int attribute) { return (own >> attribute & 1) != 0; };
  if (set(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)) all.max_dynamic_shared = of_function.max_dynamic_shared;
  if (set(CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT)) all.carveout = of_function.carveout;
  if (set(CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED))
    all.non_portable_cluster = of_function.non_portable_cluster;
  if (set(CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE)) all.cluster_policy = of_function.cluster_policy;
  for (int axis = 0; axis < 3; ++axis) {
    if (set(CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH + axis)) all.cluster[axis] = of_function.cluster[axis];
  }
  return all;
}

std::vector<std::string> Module::kernel_names() const {
  if (deferred_ != nullptr) return deferred_->names();
  std::vector<std::string> names;
  for (const Kernel& kernel : program->kernels) names.push_back(kernel.name);
  return names;
}

namespace {

const Kernel* kernel_in(const Program& program, const std::string& name) {
  for (const Kernel& kernel : program.kernels) {
    if (kernel.name == name) return &kernel;
  }
  return nullptr;
}

}  // namespace

std::shared_ptr<const Program> Module::program_with(const std::string& name) const {
  if (deferred_ != nullptr) return deferred_->load(name, *program);
  return kernel_in(*program, name) != nullptr ? program : nullptr;
}

CUfunction Module::function(const std::string& name) {
  const std::scoped_lock lock(mutex_);
  if (const auto known = functions_.find(name); known != functions_.end()) return known->second;
  auto made = std::make_shared<Function>();
  made->program = program_with(name);
  if (made->program == nullptr) return nullptr;
  made->kernel = kernel_in(*made->program, name);
  made->memory = memory_;
  made->context = context;
  made->health = health;
  made->context_id = context_id;
  made->module = handle;
  made->settings = default_settings(*made->kernel);
  made->handle = functions().add(made);
  return functions_[name] = made->handle;
}

bool Module::knows(const std::string& name) {
  const std::scoped_lock lock(mutex_);
  return functions_.contains(name);
}

void Module::close() {
  const std::scoped_lock lock(mutex_);
  for (const auto& [name, function] : functions_) functions().remove(function);
  functions_.clear();
}

std::shared_ptr<Module> get_module(CUmodule handle) {
  auto module = modules().get(handle);
  require_healthy(*module->health);
  return module;
}

std::shared_ptr<Function> get_function(CUfunction handle) {
  auto function = functions().get(handle);
  require_healthy(*function->health);
  return function;
}

}  // namespace cudasim
