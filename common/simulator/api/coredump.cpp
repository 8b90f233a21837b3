// What is to be written down when a kernel goes wrong (CUDA Driver API manual, "Coredump Attributes Control API"). The
// settings are kept and answered, for the process and for each context; a file of the debugger's form is not written:
// the report on stderr says what there is to say.
#include "common/simulator/api/coredump.hpp"

#include "common/simulator/api/call.hpp"

#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <ctime>
#include <mutex>
#include <string>

#if CUDA_VERSION >= 12010
namespace cudasim {
namespace {

constexpr int kGenerationFlags = 7;       // CU_COREDUMP_GENERATION_FLAGS, newer than the oldest headers
constexpr unsigned kLightweight = 0x2f;   // CU_COREDUMP_LIGHTWEIGHT_FLAGS
constexpr unsigned kSkipAbort = 1u << 4;  // CU_COREDUMP_SKIP_ABORT
constexpr std::size_t kText = 1024;       // room that a name has, with its end

struct Settings {
  bool on_exception = false, user_trigger = false;
  unsigned flags = 0;
  std::string file, pipe;
};

std::string host_name() {
  char name[256] = {};
  if (gethostname(name, sizeof name - 1) != 0) name[0] = 0;
  return name;
}

std::string named_for_process(const char* prefix) {
  return std::string(prefix) + "." + host_name() + "." + std::to_string(getpid());
}

// What stands for the process's number, the machine's name and the time in a name.
std::string expanded(const std::string& pattern) {
  std::string text;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const char which = pattern[i] == '%' && i + 1 < pattern.size() ? pattern[i + 1] : '\0';
    if (which == 'p') {
      text += std::to_string(getpid());
    } else if (which == 'h') {
      text += host_name();
    } else if (which == 't') {
      text += std::to_string(std::time(nullptr));
    } else {
      text += pattern[i];
      continue;
    }
    ++i;
  }
  return text;
}

// The environment's word goes first, as the manual has it.
struct GlobalSettings {
  std::mutex mutex;
  Settings settings;
  GlobalSettings() {
    const auto set = [](const char* name) {
      const char* value = std::getenv(name);
      return value != nullptr && std::string(value) != "0";
    };
    settings.on_exception = set("CUDA_ENABLE_COREDUMP_ON_EXCEPTION");
    settings.user_trigger = set("CUDA_ENABLE_USER_TRIGGERED_COREDUMP");
    const char* const file = std::getenv("CUDA_COREDUMP_FILE");
    const char* const pipe = std::getenv("CUDA_COREDUMP_PIPE");
    settings.file = file != nullptr ? expanded(file) : named_for_process("core.cuda");
    settings.pipe = pipe != nullptr ? expanded(pipe) : named_for_process("corepipe.cuda");
  }
};

GlobalSettings& global() {
  static GlobalSettings& only = *new GlobalSettings;
  return only;
}

// A context's own: the process's when it was made, and what its flags wanted.
struct Own {
  std::mutex mutex;
  Settings settings;
  Own() {
    const std::scoped_lock lock(global().mutex);
    settings = global().settings;
  }
};

void say_that_none_is_made() { refuse("a core dump of the device", "a fault is reported on stderr only"); }

bool is_text(int attribute) { return attribute == CU_COREDUMP_FILE || attribute == CU_COREDUMP_PIPE; }
bool is_flag(int attribute) { return attribute >= CU_COREDUMP_ENABLE_ON_EXCEPTION && attribute < CU_COREDUMP_FILE; }

std::size_t size_of(int attribute) {
  require(is_text(attribute) || is_flag(attribute) || attribute == kGenerationFlags);
  return is_text(attribute) ? kText : is_flag(attribute) ? sizeof(bool) : sizeof(int);
}

CUresult get(const Settings& settings, int attribute, void* value, std::size_t* size) {
  const std::size_t wanted = size_of(attribute);
  require(size != nullptr);
  if (value == nullptr) return *size = wanted, CUDA_SUCCESS;
  if (is_text(attribute)) {
    const std::string& text = attribute == CU_COREDUMP_FILE ? settings.file : settings.pipe;
    require(*size > text.size());
    std::memcpy(value, text.c_str(), text.size() + 1);
    return CUDA_SUCCESS;
  }
  require(*size == wanted);
  bool flag = false;
  switch (attribute) {
    case CU_COREDUMP_ENABLE_ON_EXCEPTION: flag = settings.on_exception; break;
    case CU_COREDUMP_TRIGGER_HOST: flag = (settings.flags & kSkipAbort) == 0; break;
    case CU_COREDUMP_LIGHTWEIGHT: flag = (settings.flags & kLightweight) == kLightweight; break;
    case CU_COREDUMP_ENABLE_USER_TRIGGER: flag = settings.user_trigger; break;
    default: std::memcpy(value, &settings.flags, sizeof settings.flags); return CUDA_SUCCESS;
  }
  std::memcpy(value, &flag, sizeof flag);
  return CUDA_SUCCESS;
}

CUresult set(Settings& settings, int attribute, const void* value, std::size_t* size) {
  const std::size_t wanted = size_of(attribute);
  require(size != nullptr);
  if (value == nullptr) return *size = wanted, CUDA_SUCCESS;
  if (is_text(attribute)) {
    require(*size != 0 && *size <= kText);
    require(attribute == CU_COREDUMP_FILE || !settings.user_trigger, CUDA_ERROR_NOT_SUPPORTED);  // it is in use
    const char* const text = static_cast<const char*>(value);
    (attribute == CU_COREDUMP_FILE ? settings.file : settings.pipe) = expanded({text, strnlen(text, *size)});
    return CUDA_SUCCESS;
  }
  require(*size == wanted);
  unsigned number = 0;
  std::memcpy(&number, value, wanted);
  const auto with = [&](unsigned bits, bool on) { return on ? settings.flags | bits : settings.flags & ~bits; };
  switch (attribute) {
    case CU_COREDUMP_ENABLE_ON_EXCEPTION:
      settings.on_exception = number != 0;
      if (number != 0) say_that_none_is_made();
      break;
    case CU_COREDUMP_TRIGGER_HOST: settings.flags = with(kSkipAbort, number == 0); break;
    case CU_COREDUMP_LIGHTWEIGHT: settings.flags = with(kLightweight, number != 0); break;
    case CU_COREDUMP_ENABLE_USER_TRIGGER: settings.user_trigger = number != 0; break;
    default: settings.flags = number;
  }
  return CUDA_SUCCESS;
}

}  // namespace

void begin_coredump_settings(Context& context) {
  constexpr u32 kOnException = 0x20, kUserTrigger = 0x40;  // CU_CTX_COREDUMP_ENABLE, CU_CTX_USER_COREDUMP_ENABLE
  Settings& settings = context.parts.get<Own>().settings;
  if ((context.flags & (kOnException | kUserTrigger)) == 0) return;
  settings.on_exception = true;  // the one implies the other
  say_that_none_is_made();
}

CUresult driver::call_cuCoredumpGetAttribute(CUcoredumpSettings attrib, void* value, size_t* size) {
  Own& own = current_context_even_faulted()->parts.get<Own>();
  require(attrib != CU_COREDUMP_ENABLE_USER_TRIGGER && attrib != CU_COREDUMP_PIPE);  // the process's only
  const std::scoped_lock lock(own.mutex);
  return get(own.settings, attrib, value, size);
}

CUresult driver::call_cuCoredumpGetAttributeGlobal(CUcoredumpSettings attrib, void* value, size_t* size) {
  require_calls_permitted();
  const std::scoped_lock lock(global().mutex);
  return get(global().settings, attrib, value, size);
}

CUresult driver::call_cuCoredumpSetAttribute(CUcoredumpSettings attrib, void* value, size_t* size) {
  Own& own = current_context_even_faulted()->parts.get<Own>();
  require(attrib != CU_COREDUMP_ENABLE_USER_TRIGGER && attrib != CU_COREDUMP_PIPE);  // the process's only
  const std::scoped_lock lock(own.mutex);
  return set(own.settings, attrib, value, size);
}

CUresult driver::call_cuCoredumpSetAttributeGlobal(CUcoredumpSettings attrib, void* value, size_t* size) {
  require_calls_permitted();
  const std::scoped_lock lock(global().mutex);
  return set(global().settings, attrib, value, size);
}

}  // namespace cudasim
#endif
