#include "common/simulator/state/modules/image.hpp"

#include "common/simulator/state/devices/driver.hpp"
#include "common/simulator/state/modules/compressed.hpp"
#include "common/simulator/state/modules/jit_cache.hpp"
#include "common/simulator/variables.hpp"
#include "common/simulator/wanted.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace cudasim {
namespace {

constexpr u32 kWrapperMagic = 0x466243B1;  // fatbinary_section.h: FATBINC_MAGIC
constexpr u32 kFatbinMagic = 0xBA55ED50;

struct FatbinWrapper {  // fatbinary_section.h
  u32 magic;
  u32 version;
  const void* data;
  void* file_name;
};

struct FatbinHeader {
  u32 magic;
  u16 version;
  u16 header_bytes;
  u64 content_bytes;
};

u32 first_word(const void* bytes) {
  u32 word;
  std::memcpy(&word, bytes, sizeof word);
  return word;
}

// PTX starts with `.version`, after comments and blanks.
bool looks_like_ptx(std::string_view text) {
  for (;;) {
    const auto start = text.find_first_not_of(" \t\r\n\f\v");
    if (start == std::string_view::npos) return false;
    text.remove_prefix(start);
    const bool line = text.substr(0, 2) == "//", block = text.substr(0, 2) == "/*";
    if (!line && !block) return text.substr(0, 8) == ".version";
    const auto end = line ? text.find('\n') : text.find("*/", 2);
    if (end == std::string_view::npos) return false;
    text.remove_prefix(end + (line ? 1 : 2));
  }
}

// The architecture that a text is written for, 75 for sm_75; 0 if it does not say.
u32 target_of(std::string_view text) {
  const auto at = text.find(".target");
  const auto sm = at == std::string_view::npos ? at : text.find("sm_", at);
  if (sm == std::string_view::npos) return 0;
  return static_cast<u32>(std::strtoul(std::string(text.substr(sm + 3, 4)).c_str(), nullptr, 10));
}

constexpr u32 kOurs = 90;

// Of several texts, the one for the newest architecture that runs here is wanted. A text without a target is a line of
// PTX that -lineinfo or -G keeps in machine code, for debuggers.
bool is_better(std::string_view text, std::string_view best) {
  const u32 target = target_of(text);
  return target != 0 && target <= kOurs && (best.empty() || target > target_of(best));
}

// The PTX in a fat binary: as it is, or unpacked by cuobjdump. What else is in there is machine code.
std::string ptx_in_fatbin(std::string_view bytes, bool tell) {
  std::string_view best;
  bool newer = false;  // there is PTX, but for devices that this one is older than
  for (auto start = bytes.find(".version"); start != std::string_view::npos; start = bytes.find(".version", start)) {
    const auto end = std::min(bytes.find('\0', start), bytes.size());
    const std::string_view text = bytes.substr(start, end - start);
    if (is_better(text, best)) best = text;
    newer = newer || target_of(text) > kOurs;
    start = end;
  }
  if (!best.empty()) return std::string(best);
  const std::vector<std::string> texts = unpacked_ptx(bytes);
  for (const std::string& text : texts) {
    if (is_better(text, best)) best = text;
  }
  if (!best.empty()) return std::string(best);
  const char* why =
      newer || !texts.empty() ? "the PTX in this fat binary is for newer devices than this one. Compile with nvcc "
                                "-gencode arch=compute_90,code=compute_90"
      : cuobjdump().empty()
          ? "this fat binary has no PTX as plain text in it. Compile with nvcc --no-compress "
            "-gencode arch=compute_75,code=compute_75. Or put the toolkit's cuobjdump, which unpacks PTX, "
            "on the PATH; in the course, `make cuobjdump` gets it"
          : "this fat binary has no PTX in it. Compile with nvcc "
            "-gencode arch=compute_75,code=compute_75, which adds PTX";
  if (tell) refuse("machine code", why);
  fail(CUDA_ERROR_NO_BINARY_FOR_GPU, why);
}

// No PTX has this character; between the texts of a linked image it separates them.
constexpr char kSeparator = '\x1e';

// A comment of ours, at the start of each text of a linked image: the image is all that is left of the linker. A number
// follows, of CU_JIT_MAX_REGISTERS, and the end of the comment.
constexpr std::string_view kLinked = "/*cudasim: linked, maxnreg ";

bool is_linked(std::string_view text) { return text.starts_with(kLinked); }

u32 registers_of_linker(std::string_view text) {
  if (!is_linked(text)) return 0;
  return static_cast<u32>(std::strtoul(std::string(text.substr(kLinked.size(), 12)).c_str(), nullptr, 10));
}

Texts split(std::string_view image) {
  Texts texts;
  for (;;) {
    const auto end = image.find(kSeparator);
    texts.emplace_back(image.substr(0, end));
    if (end == std::string_view::npos) return texts;
    image.remove_prefix(end + 1);
  }
}

// For an image that begins like an ELF file and is at least as long as an ELF header.
[[noreturn]] void refuse_elf(const char* image) {
  constexpr int kClass64 = 2, kLittleEndian = 1, kVersion = 1, kMachine = 18, kDevice = 190;  // EM_CUDA
  const auto byte = [&](int at) { return static_cast<unsigned char>(image[at]); };
  if (byte(4) == kClass64 && byte(5) == kLittleEndian && byte(6) == kVersion && byte(kMachine) == kDevice &&
      byte(kMachine + 1) == 0) {
    constexpr const char* kWhy = "this image is a cubin; load PTX instead (nvcc -ptx)";
    refuse("machine code", kWhy);
    fail(CUDA_ERROR_NO_BINARY_FOR_GPU, kWhy);
  }
  // A program or an object of the host, or no such file at all.
  fail(CUDA_ERROR_INVALID_IMAGE, "this is an ELF file, but not one for a GPU");
}

CUresult code_of(const ptx::Diagnostic& diagnostic) {
  return diagnostic.kind == ptx::Diagnostic::version ? CUDA_ERROR_UNSUPPORTED_PTX_VERSION : CUDA_ERROR_INVALID_PTX;
}

// What a program without a log buffer would never learn: that the simulator lacks something.
void tell_unsupported(const std::vector<ptx::Diagnostic>& errors) {
  for (const ptx::Diagnostic& error : errors) {
    if (error.kind != ptx::Diagnostic::unsupported) continue;
    std::fprintf(stderr, "cudasim: PTX line %u is not simulated: %s\n", error.at.line, error.message.c_str());
  }
}

[[noreturn]] void reject(const std::vector<ptx::Diagnostic>& errors, std::string_view text, JitOptions& options) {
  const std::string why = reason_text(errors, text);
  if (options.wants_errors()) {
    options.error(log_text(errors, true));
  } else {
    tell_unsupported(errors);
    if (!errors.empty() && errors.front().kind != ptx::Diagnostic::unsupported) tell_refused(options, why);
  }
  fail(errors.empty() ? CUDA_ERROR_INVALID_PTX : code_of(errors.front()), why);
}

ptx::Module parse_or_reject(const std::string& text, JitOptions& options) {
  constexpr std::size_t kMostErrors = 1000;  // ptxas has no limit
  ptx::Parsed parsed = ptx::parse(text, kMostErrors);
  if (!parsed.errors.empty()) reject(parsed.errors, text, options);
  return std::move(parsed.module);
}

std::string summary(const Program& program) {
  u64 global = 0, constant = 0;
  for (const Global& variable : program.globals)
    (variable.space == Space::constant ? constant : global) += variable.size;
  std::ostringstream text;
  text << "ptxas info    : " << global << " bytes gmem";
  if (constant != 0) text << ", " << constant << " bytes cmem[3]";
  text << '\n';
  for (const Kernel& kernel : program.kernels) {
    text << "ptxas info    : Compiling entry function '" << kernel.name << "' for 'sm_90'\n"
         << "ptxas info    : Function properties for " << kernel.name << "\n    " << kernel.stack_bytes
         << " bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
         << "ptxas info    : Used " << kernel.registers << " registers, used " << kernel.barriers << " barriers";
    if (kernel.static_shared != 0) text << ", " << kernel.static_shared << " bytes smem";
    text << '\n';
  }
  return text.str();
}

}  // namespace

// The device's target or an older one. Accelerated and family targets are numbered from 0x10000 and 0x20000.
static void require_target(u32 number) {
  const u32 target = number & 0xffff;
  require(number >> 16 <= 2);
  require(target >= 75, CUDA_ERROR_INVALID_IMAGE);  // the compiler of CUDA 13 has dropped these
  require(target <= 121);                           // the newest that exists
  require(target <= 90, CUDA_ERROR_INVALID_SOURCE);
}

JitOptions::JitOptions(unsigned count, CUjit_option* options, void** values) {
  require(count == 0 || (options != nullptr && values != nullptr));
  unsigned symbol_options = 0;  // CU_JIT_GLOBAL_SYMBOL_…, which go together
  for (unsigned i = 0; i < count; ++i) {
    void** value = &values[i];
    const auto number = reinterpret_cast<std::uintptr_t>(*value);
    switch (static_cast<int>(options[i])) {
      case CU_JIT_WALL_TIME: wall_time_ = value; break;
      case CU_JIT_INFO_LOG_BUFFER: info_.buffer = static_cast<char*>(*value); break;
      case CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES: info_.size = static_cast<u32>(number), info_.size_out = value; break;
      case CU_JIT_ERROR_LOG_BUFFER: error_.buffer = static_cast<char*>(*value); break;
      case CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES: error_.size = static_cast<u32>(number), error_.size_out = value; break;
      case CU_JIT_THREADS_PER_BLOCK: threads_ = value; break;
      case CU_JIT_LOG_VERBOSE: verbose_ = number != 0; break;
      case CU_JIT_OPTIMIZATION_LEVEL: break;  // any number is taken; nothing here is optimised by it
      case CU_JIT_TARGET: require_target(static_cast<u32>(number)); break;
      case CU_JIT_MAX_REGISTERS:
        require(number != 0);
        max_registers_ = static_cast<u32>(number);
        break;
      // What only a compiler to machine code could make a difference of.
      case CU_JIT_TARGET_FROM_CUCONTEXT:
      case CU_JIT_FALLBACK_STRATEGY:
      case CU_JIT_GENERATE_DEBUG_INFO:
      case CU_JIT_GENERATE_LINE_INFO:
      case CU_JIT_FAST_COMPILE:
      case CU_JIT_POSITION_INDEPENDENT_CODE:
      case 31:         // CU_JIT_MIN_CTA_PER_SM
      case 32:         // CU_JIT_MAX_THREADS_PER_BLOCK
      case 33: break;  // CU_JIT_OVERRIDE_DIRECTIVE_VALUES
      case 34: break;  // CU_JIT_SPLIT_COMPILE
      case CU_JIT_CACHE_MODE: require(number <= CU_JIT_CACHE_OPTION_CA); break;
      case 15:
        fail(CUDA_ERROR_INVALID_PTX);  // CU_JIT_NEW_SM3X_OPT, of older headers: no compiler knows it any more
      // These concern NVVM code (LTO), which is refused when it is loaded.
      case CU_JIT_LTO:
      case CU_JIT_FTZ:
      case CU_JIT_PREC_DIV:
      case CU_JIT_PREC_SQRT:
      case CU_JIT_FMA:
      case CU_JIT_REFERENCED_KERNEL_COUNT:
      case CU_JIT_REFERENCED_VARIABLE_COUNT:
      case CU_JIT_OPTIMIZE_UNUSED_DEVICE_VARIABLES: break;
      case CU_JIT_REFERENCED_KERNEL_NAMES:
      case CU_JIT_REFERENCED_VARIABLE_NAMES: require(number != 0); break;
      case CU_JIT_GLOBAL_SYMBOL_NAMES:
      case CU_JIT_GLOBAL_SYMBOL_ADDRESSES:
      case CU_JIT_GLOBAL_SYMBOL_COUNT: ++symbol_options; break;
      default: fail(CUDA_ERROR_INVALID_VALUE);
    }
  }
  require(symbol_options == 0 || symbol_options == 3);
  if (symbol_options != 0) fail(refuse("CU_JIT_GLOBAL_SYMBOL_NAMES"));
  for (const Log* log : {&info_, &error_}) require((log->buffer != nullptr) == (log->size_out != nullptr));
  // Buffers are empty strings until something is logged, even those of 0 bytes.
  fill(info_, "");
  fill(error_, "");
}

void tell_refused(const JitOptions& options, const std::string& why) {
  const char* log = std::getenv("CUDA_LOG_FILE");
  if (options.wants_errors() || quiet() || trace_wanted().api || (log != nullptr && *log != '\0')) return;
  std::fprintf(stderr, "cudasim: %s\n", why.substr(0, why.find('\n')).c_str());
}

// As driver 580: of a text that is cut the size is the buffer's, else the text's.
void JitOptions::fill(Log& log, const std::string& text) {
  if (log.buffer == nullptr) return;
  log.text += text;
  const std::size_t room = log.size != 0 ? log.size - 1 : 0;
  if (!log.text.empty()) std::memset(log.buffer, 0, room);
  std::memcpy(log.buffer, log.text.data(), std::min(room, log.text.size()));
  log.buffer[std::min(room, log.text.size())] = '\0';
  const std::size_t told = log.text.size() <= room ? log.text.size() : room != 0 ? log.size : 0;
  *log.size_out = reinterpret_cast<void*>(told);
}

void JitOptions::wall_time(float milliseconds) {
  if (wall_time_ != nullptr) std::memcpy(wall_time_, &milliseconds, sizeof milliseconds);
}

void JitOptions::threads_per_block(unsigned threads) {
  if (threads_ != nullptr) *threads_ = reinterpret_cast<void*>(static_cast<std::uintptr_t>(threads));
}

Texts texts_of_bytes(std::string_view bytes, bool tell) {
  if (bytes.substr(0, 4) == "\177ELF") {
    if (bytes.size() < 64) fail(CUDA_ERROR_INVALID_IMAGE);
    refuse_elf(bytes.data());
  }
  if (bytes.size() >= sizeof(FatbinHeader) && first_word(bytes.data()) == kFatbinMagic) {
    FatbinHeader header;
    std::memcpy(&header, bytes.data(), sizeof header);
    require(header.version == 1 && header.header_bytes >= sizeof header, CUDA_ERROR_INVALID_IMAGE);
    return split(ptx_in_fatbin(bytes, tell));
  }
  const std::string_view text = bytes.substr(0, bytes.find('\0'));
  if (!looks_like_ptx(text))
    fail(CUDA_ERROR_INVALID_IMAGE, "this is neither PTX, which begins with .version, nor a fatbin");
  return split(text);
}

bool wraps_nothing(const void* image) {
  if (image == nullptr || std::memcmp(image, &kWrapperMagic, 1) != 0 ||
      std::strlen(static_cast<const char*>(image)) < 4)
    return false;
  FatbinWrapper wrapper;
  std::memcpy(&wrapper, image, sizeof wrapper);
  return wrapper.magic == kWrapperMagic && wrapper.data == nullptr;
}

Texts texts_of_image(const void* image, bool tell) {
  require(image != nullptr);
  const char* bytes = static_cast<const char*>(image);
  // A text may be shorter than the four bytes of a magic number: look at one byte at a time.
  if (std::strncmp(bytes, "\177ELF", 4) == 0) refuse_elf(bytes);
  const auto starts_with = [&](u32 magic) {
    for (int i = 0; i < 4; ++i) {
      if (static_cast<unsigned char>(bytes[i]) != (magic >> (8 * i) & 0xff)) return false;
    }
    return true;
  };
  if (starts_with(kWrapperMagic)) {
    FatbinWrapper wrapper;
    std::memcpy(&wrapper, image, sizeof wrapper);
    require(wrapper.data != nullptr, CUDA_ERROR_INVALID_IMAGE);
    require(first_word(wrapper.data) == kFatbinMagic, CUDA_ERROR_INVALID_IMAGE);
    return texts_of_image(wrapper.data, tell);
  }
  if (starts_with(kFatbinMagic)) {
    FatbinHeader header;
    std::memcpy(&header, image, sizeof header);
    require(header.version == 1 && header.header_bytes >= sizeof header, CUDA_ERROR_INVALID_IMAGE);
    return split(ptx_in_fatbin({bytes, header.header_bytes + header.content_bytes}, tell));
  }
  return texts_of_bytes({bytes, std::strlen(bytes)});
}

std::string read_file(const char* path) {
  require(*path != '\0');
  std::error_code none;
  require(!std::filesystem::is_directory(path, none), CUDA_ERROR_OUT_OF_MEMORY);  // as driver 580
  std::ifstream file(path, std::ios::binary);
  require(file.good(), CUDA_ERROR_FILE_NOT_FOUND, [&] { return std::string("no such file: ") + path; });
  std::ostringstream bytes;
  bytes << file.rdbuf();
  return std::move(bytes).str();
}

std::string linked_image(const Texts& texts, u32 max_registers) {
  if (texts.empty()) return ".version 7.8\n.target sm_90\n.address_size 64\n";  // of nothing: a module without anything
  std::string image;
  for (const std::string& text : texts) {
    if (!image.empty()) image += kSeparator;
    image += std::string(kLinked) + std::to_string(max_registers) + "*/" + text;
  }
  return image;
}

namespace {

// As if each kernel had said .maxnreg; one that says less keeps that.
void limit_registers(ptx::Module& module, u32 most) {
  if (most == 0) return;
  for (ptx::Function& function : module.functions) {
    function.max_registers = function.max_registers == 0 ? most : std::min(function.max_registers, most);
  }
}

// Places variables as if there were memory for them.
Placement nowhere() {
  Placement placement;
  placement.place = [next = kHeapWindow](const ptx::Variable& variable) mutable {
    const u64 address = next;
    next += (variable.size / 256 + 2) * 256;
    return address;
  };
  placement.write = [](u64, std::span<const std::byte>) {};
  return placement;
}

ptx::Module parse_text(const std::string& text, JitOptions& options) {
  ptx::Module module = parse_or_reject(text, options);
  limit_registers(module, options.max_registers());
  limit_registers(module, registers_of_linker(text));
  return module;
}

Loaded load_texts(const Texts& texts, const Placement& placement, JitOptions& options) {
  std::vector<ptx::Module> parsed;
  for (const std::string& text : texts) parsed.push_back(parse_text(text, options));
  Loaded loaded = load(parsed, placement);
  const std::string_view text = texts.size() == 1 ? std::string_view(texts.front()) : std::string_view();
  if (!loaded.program) reject(loaded.errors, text, options);
  return loaded;
}

// Compiles texts, or finds that this has been done before: by the linker, or by a load whose result is in the cache.
class Compilation {
 public:
  Compilation(const Texts& texts, JitOptions& options, bool use_cache) : texts_(texts), options_(options) {
    linked_ = std::all_of(texts.begin(), texts.end(), is_linked);
    if (use_cache && !linked_) cached_as_ = linked_image(texts, options.max_registers());
    cached_ = !cached_as_.empty() && in_jit_cache(cached_as_);
    require(linked_ || cached_ || !jit_disabled(), CUDA_ERROR_JIT_COMPILATION_DISABLED);
  }

  std::shared_ptr<const Program> run(const Placement& placement) {
    const Loaded loaded = load_texts(texts_, placement, options_);
    if (!cached_ && !loaded.warnings.empty()) options_.info(log_text(loaded.warnings, false));
    if (!cached_ && options_.verbose()) options_.info(summary(*loaded.program));
    if (!cached_ && !cached_as_.empty()) add_to_jit_cache(cached_as_);
    tell();
    return loaded.program;
  }

  // The kernels, to be translated one by one. Null if that is not wanted, or not possible.
  std::unique_ptr<const DeferredKernels> defer() {
    if ((!cached_ && !linked_) || !lazy_loading() || texts_.size() != 1) return nullptr;
    if (linked_ && options_.verbose()) return nullptr;
    ptx::Module parsed = parse_text(texts_.front(), options_);
    if (!DeferredKernels::possible(parsed)) return nullptr;
    tell();
    return std::make_unique<const DeferredKernels>(std::move(parsed));
  }

 private:
  // As driver 580: what comes from the cache has taken no time to compile, and has nothing to log.
  void tell() {
    const std::chrono::duration<float, std::milli> took = std::chrono::steady_clock::now() - start_;
    options_.threads_per_block(kMaxThreadsPerBlock);
    options_.wall_time(cached_ ? 0 : took.count());
  }

  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  const Texts& texts_;
  JitOptions& options_;
  std::string cached_as_;
  bool linked_ = false, cached_ = false;
};

}  // namespace

std::shared_ptr<Module> load_ptx(const std::shared_ptr<Context>& context, const Texts& texts, JitOptions& options) {
  auto memory = std::make_shared<ModuleMemory>(context);
  const Placement placement = memory->placement();
  Compilation compilation(texts, options, true);
  auto deferred = compilation.defer();
  const auto program = deferred ? load({&deferred->rest(), 1}, placement).program : compilation.run(placement);
  auto module = std::make_shared<Module>(context, program, std::move(memory), std::move(deferred));
  module->handle = modules().add(module);
  return module;
}

std::shared_ptr<const Program> check_ptx(const Texts& texts, JitOptions& options, bool use_cache) {
  return Compilation(texts, options, use_cache).run(nowhere());
}

std::vector<ptx::Diagnostic> link_errors(const Texts& texts) {
  std::vector<ptx::Module> parsed;
  for (const std::string& text : texts) {
    ptx::Parsed one = ptx::parse(text);
    if (!one.errors.empty()) return std::move(one.errors);
    parsed.push_back(std::move(one.module));
  }
  return load(parsed, nowhere()).errors;
}

void reject_text(const std::vector<ptx::Diagnostic>& errors, const std::string& text, JitOptions& options) {
  reject(errors, text, options);
}

}  // namespace cudasim
