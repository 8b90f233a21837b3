// Modules: a loaded program, its variables in device memory, and the handles of its functions.
#pragma once
#include "common/simulator/exec/instruction.hpp"
#include "common/simulator/ptx/load.hpp"
#include "common/simulator/state/contexts/context.hpp"
#include "common/simulator/state/errors/registry.hpp"
#include "common/simulator/state/modules/deferred.hpp"

#include <map>
#include <string>

namespace cudasim {

// A module's variables in memory, given back with it.
class ModuleMemory {
 public:
  explicit ModuleMemory(std::weak_ptr<Context> context) : context_(std::move(context)) {}
  ~ModuleMemory();
  ModuleMemory(const ModuleMemory&) = delete;
  ModuleMemory& operator=(const ModuleMemory&) = delete;

  Placement placement();

 private:
  u64 place(const ptx::Variable& variable);
  const std::weak_ptr<Context> context_;
  std::vector<u64> bases_;
};

// What can be set per function (cuFuncSetAttribute), apart from its code.
struct FunctionSettings {
  int max_dynamic_shared = 0;
  int carveout = -1;
  int cluster[3] = {0, 0, 0};
  int non_portable_cluster = 0;
  int cluster_policy = 0;
};

FunctionSettings default_settings(const Kernel& kernel);
// A library kernel's settings, except those that were set on the function itself: a bit for each CUfunction_attribute.
FunctionSettings merged(const FunctionSettings& of_kernel, const FunctionSettings& of_function, u32 own);

class Module;

struct Function {
  std::shared_ptr<const Program> program;
  const Kernel* kernel = nullptr;
  std::shared_ptr<ModuleMemory> memory;  // a running kernel keeps the module's variables
  std::weak_ptr<Context> context;
  std::shared_ptr<Health> health;
  u64 context_id = 0;
  CUmodule module = nullptr;
  CUfunction handle = nullptr;
  std::atomic<CUkernel> library_kernel{nullptr};  // if it is one in this context
  mutable std::atomic<bool> loaded{true};         // as cuFuncIsLoaded says

  mutable std::mutex mutex;  // for the following
  FunctionSettings settings;
  u32 own_settings = 0;  // those that cuFuncSetAttribute has set, a bit for each CUfunction_attribute
  // The state that cuFuncSetBlockShape and cuParamSet* build up for cuLaunch.
  Dim3 block_shape{1, 1, 1};
  u32 shared_size = 0;
  std::vector<std::byte> parameters;
  u32 parameter_size = 0;  // as cuParamSetSize has it

  FunctionSettings current_settings() const {
    const std::scoped_lock lock(mutex);
    return settings;
  }
};

class Module {
 public:
  // `deferred`: kernels that the program does not have yet; null if it has all.
  Module(const std::shared_ptr<Context>& context, std::shared_ptr<const Program> program,
         std::shared_ptr<ModuleMemory> memory, std::unique_ptr<const DeferredKernels> deferred = nullptr);

  const std::weak_ptr<Context> context;
  const std::shared_ptr<Health> health;
  const u64 context_id;
  const std::shared_ptr<const Program> program;  // the variables, and the kernels unless they are deferred
  CUmodule handle = nullptr;
  bool of_library = false;  // belongs to a CUlibrary: cuModuleUnload must not take it

  std::vector<std::string> kernel_names() const;
  // The handle of a function, the same each time; null if the module has none of that name.
  CUfunction function(const std::string& name);
  bool knows(const std::string& name);  // whether the function has a handle already
  // Forgets the functions' handles.
  void close();

 private:
  // The program that has the kernel of this name, translated now if it was deferred; null if there is none.
  std::shared_ptr<const Program> program_with(const std::string& name) const;

  const std::shared_ptr<ModuleMemory> memory_;
  const std::unique_ptr<const DeferredKernels> deferred_;
  std::mutex mutex_;
  std::map<std::string, CUfunction> functions_;
};

// A variable by name, .visible ones first; the driver finds the others too (nvcc writes no .visible for the variables
// of a whole program). Null otherwise.
const Global* find_variable(const Program& program, const std::string& name);

Registry<Module, CUmodule>& modules();
Registry<Function, CUfunction>& functions();

// Throws CUDA_ERROR_INVALID_HANDLE for an unknown handle, and the fault of its context.
std::shared_ptr<Module> get_module(CUmodule handle);
std::shared_ptr<Function> get_function(CUfunction handle);

}  // namespace cudasim
