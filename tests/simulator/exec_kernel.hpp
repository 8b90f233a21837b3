// For tests of the executor: PTX text in, a grid run, memory and the fault out; no driver API between.
#pragma once
#include "common/simulator/compile/compile.hpp"
#include "common/simulator/exec/launch.hpp"
#include "common/simulator/memory/address_space.hpp"
#include "common/simulator/ptx/load.hpp"
#include "common/simulator/wanted.hpp"
#include "tests/catch.hpp"

#include <cstring>
#include <string>
#include <vector>

namespace cudasim::testing {

constexpr u64 kContext = 77;

// Device memory of `count` Ts, freed at the end of the scope.
template <class T>
class Buffer {
 public:
  explicit Buffer(std::size_t count, T value = T{}) : count_(count) {
    Allocation wanted;
    wanted.size = count * sizeof(T);
    wanted.context = kContext;
    wanted.label = "cuMemAlloc";
    allocation_ = AddressSpace::instance().allocate(wanted, 256, true);
    for (std::size_t i = 0; i < count; ++i) (*this)[i] = value;
  }
  ~Buffer() { free(); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  void free() {
    if (!freed_) AddressSpace::instance().release(address(), "cuMemFree");
    freed_ = true;
  }
  u64 address() const { return allocation_->base; }
  T& operator[](std::size_t i) { return reinterpret_cast<T*>(allocation_->host)[i]; }
  std::vector<T> all() { return {&(*this)[0], &(*this)[0] + count_}; }

 private:
  std::shared_ptr<Allocation> allocation_;
  std::size_t count_;
  bool freed_ = false;
};

inline const std::string kHeader = ".version 8.0\n.target sm_90\n.address_size 64\n";

class Module {
 public:
  explicit Module(const std::string& text) {
    std::vector<ptx::Module> modules(1);
    ptx::Parsed parsed = ptx::parse(text);
    for (const auto& e : parsed.errors) UNSCOPED_INFO("line " << e.at.line << ": " << e.message);
    REQUIRE(parsed.errors.empty());
    modules[0] = std::move(parsed.module);
    Placement placement;
    placement.place = [this](const ptx::Variable& v) {
      Allocation wanted;
      wanted.size = v.size;
      wanted.context = kContext;
      wanted.kind = v.space == Space::constant ? MemoryKind::module_constant : MemoryKind::module_global;
      wanted.device_writable = v.space != Space::constant;
      wanted.label = v.name;
      globals_.push_back(AddressSpace::instance().allocate(wanted, std::max<u64>(v.align, 16), true));
      return globals_.back()->base;
    };
    placement.write = [](u64 address, std::span<const std::byte> bytes) {
      const auto found = AddressSpace::instance().find(address);
      std::memcpy(found->host + (address - found->base), bytes.data(), bytes.size());
    };
    Loaded loaded = load(modules, placement);
    for (const auto& e : loaded.errors) UNSCOPED_INFO("line " << e.at.line << ": " << e.message);
    REQUIRE(loaded.program != nullptr);
    program = loaded.program;
  }
  ~Module() {
    for (const auto& g : globals_) AddressSpace::instance().release(g->base, "cuModuleUnload");
  }
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  template <class... Arguments>
  Launch launch(const std::string& name, Dim3 grid, Dim3 block, Arguments... arguments) const {
    Launch l;
    l.program = program;
    for (const Kernel& k : program->kernels) {
      if (k.name == name) l.kernel = &k;
    }
    REQUIRE(l.kernel != nullptr);
    l.grid = grid;
    l.block = block;
    l.context = kContext;
    l.parameters.resize(l.kernel->parameter_bytes);
    const auto& parameters = program->functions[l.kernel->function]->parameters;
    std::size_t at = 0;
    (put(l, parameters, at, arguments), ...);
    l.compile = wanted_compiled();
    return l;
  }
  template <class... Arguments>
  std::optional<Fault> run(const std::string& name, Dim3 grid, Dim3 block, Arguments... arguments) const {
    return cudasim::run(launch(name, grid, block, arguments...));
  }

  std::shared_ptr<const Program> program;

 private:
  template <class T>
  static void put(Launch& l, const std::vector<Code::Parameter>& parameters, std::size_t& at, const T& value) {
    REQUIRE(at < parameters.size());
    REQUIRE(parameters[at].size == sizeof(T));
    std::memcpy(l.parameters.data() + parameters[at++].offset, &value, sizeof value);
  }
  std::vector<std::shared_ptr<Allocation>> globals_;
};

// A kernel of one parameter, the address of u32s, in %out; %t is the thread's number in its block, %rd its slot there.
inline std::string kernel(const std::string& body, const std::string& before = "") {
  return kHeader + before + R"(
.visible .entry k(.param .u64 out) {
  .reg .u64 %out, %slot, %a<20>;
  .reg .u32 %t, %r<30>;
  .reg .pred %p<10>;
  ld.param.u64 %out, [out];
  cvta.to.global.u64 %out, %out;
  mov.u32 %t, %tid.x;
  mad.wide.u32 %slot, %t, 4, %out;
)" + body +
         "\n  ret;\n}\n";
}

}  // namespace cudasim::testing
