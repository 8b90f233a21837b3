// Kernels of a text that is known to be right, each translated when it is first wanted (CUDA_MODULE_LOADING=LAZY).
#pragma once
#include "common/simulator/ptx/load.hpp"

#include <string>
#include <unordered_map>
#include <vector>

namespace cudasim {

// CUDA_MODULE_LOADING, as cuInit found it.
bool lazy_loading();

class DeferredKernels {
 public:
  // Whether each function of the text can be translated without the others: all are kernels, none calls or names
  // another, and every variable outside of shared memory is the module's.
  static bool possible(const ptx::Module& text);

  explicit DeferredKernels(ptx::Module text);

  // The text without its kernels, for the program that has the variables.
  const ptx::Module& rest() const { return text_; }
  std::vector<std::string> names() const;
  // A program that consists of one kernel. `variables` is the one that has the variables. Null if the text has no
  // kernel of that name.
  std::shared_ptr<const Program> load(const std::string& name, const Program& variables) const;

 private:
  ptx::Module text_;
  std::vector<ptx::Function> kernels_;
  std::unordered_map<std::string, std::size_t> by_name_;
};

}  // namespace cudasim
