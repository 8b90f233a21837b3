#include "common/simulator/state/contexts/coredump.hpp"

#include "common/simulator/state/contexts/context.hpp"
#include "common/simulator/state/devices/driver.hpp"

#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <ctime>
#include <mutex>
#include <string>

namespace cudasim {

namespace {

// CUcoredumpSettings, which the oldest headers lack
enum : int { kOnException = 1, kTriggerHost, kLightweightDump, kUserTrigger, kFile, kPipe, kGenerationFlags };
constexpr unsigned kLightweight = 0x2f;   // CU_COREDUMP_LIGHTWEIGHT_FLAGS
constexpr unsigned kSkipAbort = 1u << 4;  // CU_COREDUMP_SKIP_ABORT
constexpr std::size_t kText = 1024;       // room that a name has, with its end

std::string host_name() {
  char name[256] = {};
  if (gethostname(name, sizeof name - 1) != 0) name[0] = 0;
  return name;
}

}  // namespace

std::string named_for_process(const char* prefix) {
  return std::string(prefix) + "." + host_name() + "." + std::to_string(getpid());
}

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

GlobalCoredump::GlobalCoredump() {
  const auto enabled = [](const char* name) {
    const char* value = std::getenv(name);
    return value != nullptr && std::string(value) != "0";
  };
  settings.on_exception = enabled("CUDA_ENABLE_COREDUMP_ON_EXCEPTION");
  settings.user_trigger = enabled("CUDA_ENABLE_USER_TRIGGERED_COREDUMP");
  const char* const file = std::getenv("CUDA_COREDUMP_FILE");
  const char* const pipe = std::getenv("CUDA_COREDUMP_PIPE");
  settings.file = file != nullptr ? expanded(file) : named_for_process("core.cuda");
  settings.pipe = pipe != nullptr ? expanded(pipe) : named_for_process("corepipe.cuda");
}

GlobalCoredump& global_coredump() {
  static GlobalCoredump& only = *new GlobalCoredump;
  return only;
}

ContextCoredump::ContextCoredump() {
  const std::scoped_lock lock(global_coredump().mutex);
  settings = global_coredump().settings;
}

namespace {

void say_that_none_is_made() { refuse("a core dump of the device", "a fault is reported on stderr only"); }

bool is_text(int attribute) { return attribute == kFile || attribute == kPipe; }
bool is_flag(int attribute) { return attribute >= kOnException && attribute < kFile; }

std::size_t size_of(int attribute) {
  require(is_text(attribute) || is_flag(attribute) || attribute == kGenerationFlags);
  return is_text(attribute) ? kText : is_flag(attribute) ? sizeof(bool) : sizeof(int);
}

}  // namespace

void get_coredump_setting(const CoredumpSettings& settings, int attribute, void* value, std::size_t* size) {
  const std::size_t wanted = size_of(attribute);
  require(size != nullptr);
  if (value == nullptr) {
    *size = wanted;
    return;
  }
  if (is_text(attribute)) {
    const std::string& text = attribute == kFile ? settings.file : settings.pipe;
    require(*size > text.size());
    std::memcpy(value, text.c_str(), text.size() + 1);
    return;
  }
  require(*size == wanted);
  bool flag = false;
  switch (attribute) {
    case kOnException: flag = settings.on_exception; break;
    case kTriggerHost: flag = (settings.flags & kSkipAbort) == 0; break;
    case kLightweightDump: flag = (settings.flags & kLightweight) == kLightweight; break;
    case kUserTrigger: flag = settings.user_trigger; break;
    default: std::memcpy(value, &settings.flags, sizeof settings.flags); return;
  }
  std::memcpy(value, &flag, sizeof flag);
}

void set_coredump_setting(CoredumpSettings& settings, int attribute, const void* value, std::size_t* size) {
  const std::size_t wanted = size_of(attribute);
  require(size != nullptr);
  if (value == nullptr) {
    *size = wanted;
    return;
  }
  if (is_text(attribute)) {
    require(*size != 0 && *size <= kText);
    require(attribute == kFile || !settings.user_trigger, CUDA_ERROR_NOT_SUPPORTED);  // it is in use
    const char* const text = static_cast<const char*>(value);
    (attribute == kFile ? settings.file : settings.pipe) = expanded({text, strnlen(text, *size)});
    return;
  }
  require(*size == wanted);
  unsigned number = 0;
  std::memcpy(&number, value, wanted);
  const auto with = [&](unsigned bits, bool on) { return on ? settings.flags | bits : settings.flags & ~bits; };
  switch (attribute) {
    case kOnException:
      settings.on_exception = number != 0;
      if (number != 0) say_that_none_is_made();
      break;
    case kTriggerHost: settings.flags = with(kSkipAbort, number == 0); break;
    case kLightweightDump: settings.flags = with(kLightweight, number != 0); break;
    case kUserTrigger: settings.user_trigger = number != 0; break;
    default: settings.flags = number;
  }
}

void begin_coredump_settings(Context& context) {
  constexpr u32 kEnable = 0x20, kUser = 0x40;  // CU_CTX_COREDUMP_ENABLE, CU_CTX_USER_COREDUMP_ENABLE
  CoredumpSettings& settings = context.coredump.settings;
  if ((context.flags & (kEnable | kUser)) == 0) return;
  settings.on_exception = true;  // each flag implies this
  say_that_none_is_made();
}

}  // namespace cudasim
