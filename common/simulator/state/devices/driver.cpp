#include "common/simulator/state/devices/driver.hpp"

#include "common/simulator/state/processes/checkpoint.hpp"
#include "common/simulator/variables.hpp"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <set>

namespace cudasim {
namespace {

enum class Phase : int { before, ready, forked };
std::atomic<Phase> phase{Phase::before};

struct Driver {
  std::mutex mutex;
  std::vector<std::unique_ptr<Device>> machine;  // all there are
  std::vector<Device*> visible;                  // those that this process sees, in its order
  CUresult without = CUDA_ERROR_NO_DEVICE;       // what cuInit returns if no device is visible
  std::map<std::string, std::string, std::less<>> variables;  // those that begin with CUDA_, as cuInit found them
};

Driver& driver() {
  static Driver& only = *new Driver;
  return only;
}

const char* environment(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0' ? value : nullptr;
}

void complain(const char* variable, const char* value, const char* expected) {
  std::fprintf(stderr, "cudasim: %s=%s: expected %s\n", variable, value, expected);
}

// "4G", "512M", "1.5G", bytes without a letter.
u64 memory_size() {
  constexpr u64 kDefault = u64{4} << 30;
  const char* text = environment("CUDASIM_MEMORY");
  if (text == nullptr) return kDefault;
  char* end = nullptr;
  const double number = std::strtod(text, &end);
  int shift = 0;
  switch (std::toupper(static_cast<unsigned char>(*end))) {
    case 'K': shift = 10; break;
    case 'M': shift = 20; break;
    case 'G': shift = 30; break;
    case 'T': shift = 40; break;
    default: break;
  }
  if (shift != 0) ++end;
  const double size = number * static_cast<double>(u64{1} << shift);
  if (end != text && *end == '\0' && size >= 1 << 20 && size <= 1e15) return static_cast<u64>(size) / 512 * 512;
  complain("CUDASIM_MEMORY", text, "a size from 1M, such as 4G");
  return kDefault;
}

CUuuid uuid_of(u32 index) {
  CUuuid uuid{};
  std::memcpy(uuid.bytes, "simulated-gpu", 13);
  uuid.bytes[15] = static_cast<char>(index);
  return uuid;
}

// "GPU-" and the UUID as nvidia-smi writes it.
std::string uuid_name(const CUuuid& uuid) {
  std::string name = "GPU-";
  for (int i = 0; i < 16; ++i) {
    char byte[3];
    std::snprintf(byte, sizeof byte, "%02x", static_cast<unsigned char>(uuid.bytes[i]));
    if (i == 4 || i == 6 || i == 8 || i == 10) name += '-';
    name += byte;
  }
  return name;
}

std::unique_ptr<Device> make_device(u32 index, u64 memory) {
  auto device = std::make_unique<Device>();
  device->index = index;
  device->memory = memory;
  device->uuid = uuid_of(index);
  char bus[16];
  std::snprintf(bus, sizeof bus, "0000:00:%02x.0", kFirstPciDevice + index);
  device->bus_id = bus;
  return device;
}

// The device that one entry of CUDA_VISIBLE_DEVICES names: an index, or the beginning of one UUID. Null if none.
Device* named(const std::string& entry, const std::vector<std::unique_ptr<Device>>& machine) {
  if (entry.rfind("GPU-", 0) == 0) {
    Device* found = nullptr;
    for (const auto& device : machine) {
      if (uuid_name(device->uuid).rfind(entry, 0) != 0) continue;
      if (found != nullptr) return nullptr;  // more than one begins so
      found = device.get();
    }
    return found;
  }
  char* end = nullptr;
  const long index = std::strtol(entry.c_str(), &end, 10);
  const bool whole = end != entry.c_str() && *end == '\0';
  if (!whole || index < 0 || index >= static_cast<long>(machine.size())) return nullptr;
  return machine[static_cast<std::size_t>(index)].get();
}

std::string trimmed(const std::string& text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

// CUDA_VISIBLE_DEVICES: those before the first entry that names none; none at all, for a reason of its own, if one is
// named twice. The order of CUDA_DEVICE_ORDER is the same either way, since the simulated devices are equally fast.
std::vector<Device*> visible_devices(const std::vector<std::unique_ptr<Device>>& machine, CUresult& without) {
  std::vector<Device*> visible;
  const char* list = std::getenv("CUDA_VISIBLE_DEVICES");
  if (list == nullptr) {
    for (const auto& device : machine) visible.push_back(device.get());
    return visible;
  }
  std::string rest = list;
  for (;;) {
    const auto comma = rest.find(',');
    Device* device = named(trimmed(rest.substr(0, comma)), machine);
    if (device == nullptr) return visible;
    if (std::find(visible.begin(), visible.end(), device) != visible.end()) {
      without = CUDA_ERROR_INVALID_DEVICE;
      return {};
    }
    visible.push_back(device);
    if (comma == std::string::npos) return visible;
    rest.erase(0, comma + 1);
  }
}

std::map<std::string, std::string, std::less<>> cuda_variables() {
  std::map<std::string, std::string, std::less<>> found;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const auto equals = text.find('=');
    if (text.rfind("CUDA_", 0) == 0 && equals != std::string::npos)
      found[text.substr(0, equals)] = text.substr(equals + 1);
  }
  return found;
}

}  // namespace

CUresult initialize() {
  if (phase == Phase::forked) return CUDA_ERROR_NOT_INITIALIZED;
  Driver& state = driver();
  const std::scoped_lock lock(state.mutex);
  if (phase == Phase::ready) return CUDA_SUCCESS;
  if (state.machine.empty()) {
    name_unknown_variables();
    state.variables = cuda_variables();
    const u64 memory = memory_size();
    const u32 count = number_in("CUDASIM_DEVICES", 1, 64, 1, "a number from 1 to 64");
    for (u32 i = 0; i < count; ++i) state.machine.push_back(make_device(i, memory));
    state.visible = visible_devices(state.machine, state.without);
    for (std::size_t i = 0; i < state.visible.size(); ++i) state.visible[i]->ordinal = static_cast<CUdevice>(i);
    // A child has none of the threads that do the work.
    pthread_atfork(nullptr, nullptr, [] {
      if (phase == Phase::ready) phase = Phase::forked;
      forget_process_page();
    });
  }
  if (state.visible.empty()) return state.without;
  make_process_page();
  phase = Phase::ready;
  return CUDA_SUCCESS;
}

void require_initialized() {
  if (phase.load(std::memory_order_acquire) != Phase::ready)
    fail(CUDA_ERROR_NOT_INITIALIZED, "cuInit has not been called");
}

const std::string& at_init(const char* variable) {
  static const std::string none;
  const auto& variables = driver().variables;
  const auto found = variables.find(std::string_view(variable));
  return found != variables.end() ? found->second : none;
}

std::span<Device* const> devices() { return driver().visible; }

Device& device_at(CUdevice ordinal, CUresult otherwise) {
  const auto all = devices();
  if (ordinal < 0 || static_cast<std::size_t>(ordinal) >= all.size()) {
    fail(otherwise, "there is no device " + std::to_string(ordinal) + ": there are " + std::to_string(all.size()) +
                        ", counted from 0");
  }
  return *all[static_cast<std::size_t>(ordinal)];
}

CUresult refuse(const char* function, const char* why) {
  static std::mutex& mutex = *new std::mutex;
  static auto& told = *new std::set<std::string>;
  const std::scoped_lock lock(mutex);
  if (told.insert(std::string(function) + (why != nullptr ? why : "")).second) {
    std::fprintf(stderr, "cudasim: %s is not simulated%s%s\n", function, why != nullptr ? ": " : "",
                 why != nullptr ? why : "");
  }
  return CUDA_ERROR_NOT_SUPPORTED;
}

}  // namespace cudasim
