#include "common/simulator/state/module.hpp"

#include "common/simulator/memory/address_space.hpp"

#include <sys/mman.h>

#include <cstring>

namespace cudasim {

ModuleMemory::~ModuleMemory() {
  for (const u64 base : bases_) AddressSpace::instance().release(base, "cuModuleUnload");
}

u64 ModuleMemory::place(const ptx::Variable& variable) {
  if (variable.managed) return place_managed(variable);
  Allocation wanted;
  wanted.size = variable.size;
  wanted.kind = variable.space == Space::constant ? MemoryKind::module_constant : MemoryKind::module_global;
  wanted.context = context_;
  wanted.device = device_;
  wanted.label = variable.name;
  wanted.device_writable = variable.space != Space::constant;
  const auto allocation = AddressSpace::instance().allocate(wanted, std::max<u64>(variable.align, 256), true);
  if (!allocation) fail(CUDA_ERROR_OUT_OF_MEMORY);
  bases_.push_back(allocation->base);
  return allocation->base;
}

// A managed variable has one address for both sides: it is host memory that the device may touch.
u64 ModuleMemory::place_managed(const ptx::Variable& variable) {
  void* bytes = mmap(nullptr, variable.size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (bytes == MAP_FAILED) fail(CUDA_ERROR_OUT_OF_MEMORY);
  auto managed = std::make_shared<Allocation>();
  managed->base = reinterpret_cast<u64>(bytes);
  managed->size = variable.size;
  managed->host = static_cast<std::byte*>(bytes);
  managed->kind = MemoryKind::managed;
  managed->context = context_;
  managed->device = device_;
  managed->label = variable.name;
  managed->keep = std::shared_ptr<void>(bytes, [size = variable.size](void* at) { munmap(at, size); });
  if (!AddressSpace::instance().enter(managed)) fail(CUDA_ERROR_UNKNOWN);
  bases_.push_back(managed->base);
  return managed->base;
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

Module::Module(const std::shared_ptr<Context>& owner, std::shared_ptr<const Program> loaded,
               std::shared_ptr<ModuleMemory> memory)
    : context(owner),
      health(owner->health),
      context_id(owner->id),
      program(std::move(loaded)),
      memory_(std::move(memory)) {}

FunctionSettings default_settings(const Kernel& kernel) {
  FunctionSettings settings;
  if (kernel.static_shared < kSharedPerBlock) {
    settings.max_dynamic_shared = static_cast<int>(kSharedPerBlock - kernel.static_shared);
  }
  return settings;
}

CUfunction Module::function(const std::string& name) {
  for (const Kernel& kernel : program->kernels) {
    if (kernel.name == name) return function(kernel);
  }
  return nullptr;
}

CUfunction Module::function(const Kernel& kernel) {
  const std::scoped_lock lock(mutex_);
  CUfunction& known = functions_[&kernel];
  if (known != nullptr) return known;
  auto made = std::make_shared<Function>();
  made->program = program;
  made->kernel = &kernel;
  made->memory = memory_;
  made->context = context;
  made->health = health;
  made->context_id = context_id;
  made->module = handle;
  made->settings = default_settings(kernel);
  known = functions().add(made);
  made->handle = known;
  return known;
}

void Module::close() {
  const std::scoped_lock lock(mutex_);
  for (const auto& [kernel, function] : functions_) functions().remove(function);
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
