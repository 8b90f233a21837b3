// From an image that a program passes to a loaded module: the kinds of images, the JIT's options and logs.
#pragma once
#include "common/simulator/state/modules/module.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace cudasim {

// The options of cuModuleLoadDataEx, cuLinkCreate and cuLibraryLoadData, in the order given.
class JitOptions {
 public:
  // Throws CUDA_ERROR_INVALID_VALUE for options that do not exist or are given without a value.
  JitOptions(unsigned count, CUjit_option* options, void** values);
  JitOptions() = default;

  bool verbose() const { return verbose_; }
  u32 max_registers() const { return max_registers_; }  // 0: not said
  // Fill the program's buffers, as far as they reach, and say how much it was.
  void info(const std::string& text) { fill(info_, text); }
  void error(const std::string& text) { fill(error_, text); }
  bool wants_errors() const { return error_.buffer != nullptr && error_.size != 0; }
  void wall_time(float milliseconds);
  void threads_per_block(unsigned threads);

 private:
  struct Log {
    char* buffer = nullptr;
    std::size_t size = 0;
    void** size_out = nullptr;
    std::string text;
  };
  static void fill(Log& log, const std::string& text);
  Log info_, error_;
  void** wall_time_ = nullptr;
  void** threads_ = nullptr;
  bool verbose_ = false;
  u32 max_registers_ = 0;
};

// Writes to stderr why code is refused, unless a log buffer, a trace or CUDA_LOG_FILE shows it.
void tell_refused(const JitOptions& options, const std::string& why);

// The PTX texts of an image. Usually one; what cuLinkComplete made holds all that were linked.
using Texts = std::vector<std::string>;
// From an image in memory: text ending in a zero byte, or a fat binary with PTX in it. `tell`: whether to say on stderr
// that there is none. Throws CUDA_ERROR_INVALID_IMAGE, CUDA_ERROR_NO_BINARY_FOR_GPU (machine code),
// CUDA_ERROR_INVALID_VALUE (null).
Texts texts_of_image(const void* image, bool tell = true);
// Whether it is the wrapper of a fat binary (fatbinary_section.h) without one. As a library, this is an empty module.
bool wraps_nothing(const void* image);
// The same for bytes of known length: a file's.
Texts texts_of_bytes(std::string_view bytes, bool tell = true);
// The contents of a file; throws CUDA_ERROR_FILE_NOT_FOUND.
std::string read_file(const char* path);
// What cuLinkComplete hands out. `max_registers` as CU_JIT_MAX_REGISTERS was for the linker; 0: not said.
std::string linked_image(const Texts& texts, u32 max_registers);

// Loads PTX into a context: one text, or several that are linked. Logs go to the options' buffers. Throws the error.
std::shared_ptr<Module> load_ptx(const std::shared_ptr<Context>& context, const Texts& texts, JitOptions& options);

// The same without a context: the program's variables lie nowhere, but everything is checked. `use_cache`: the JIT's.
std::shared_ptr<const Program> check_ptx(const Texts& texts, JitOptions& options, bool use_cache = true);

// The errors that prevent linking the texts. A single text is checked alone.
std::vector<ptx::Diagnostic> link_errors(const Texts& texts);
// Throws the errors of one text, after having written them to the error log.
[[noreturn]] void reject_text(const std::vector<ptx::Diagnostic>& errors, const std::string& text, JitOptions& options);

}  // namespace cudasim
