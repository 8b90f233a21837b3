// Stands in for the loader and the executor until both are here: weak, so that writing them is all it takes.
#include "common/simulator/exec/launch.hpp"
#include "common/simulator/ptx/load.hpp"

namespace cudasim {

__attribute__((weak)) Loaded load(std::span<const ptx::Module>, const Placement&) {
  Loaded loaded;
  loaded.errors.push_back({ptx::Diagnostic::unsupported, {}, "there is no loader yet"});
  return loaded;
}

__attribute__((weak)) std::string log_text(std::span<const ptx::Diagnostic> diagnostics, std::string_view, bool) {
  std::string text;
  for (const ptx::Diagnostic& diagnostic : diagnostics) text += diagnostic.message + '\n';
  return text;
}

__attribute__((weak)) std::optional<Fault> run(const Launch&) {
  Fault fault;
  fault.kind = FaultKind::illegal_instruction;
  fault.report = "there is no executor yet\n";
  return fault;
}

}  // namespace cudasim
