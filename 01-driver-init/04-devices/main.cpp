// Lists the devices that a program can see, once for each of three values of CUDA_VISIBLE_DEVICES.
#include "common/cu.hpp"

#include <unistd.h>

#include <climits>
#include <string>
#include <vector>

// The UUID as nvidia-smi -L shows it: sixteen bytes in hexadecimal, in groups of 4, 2, 2, 2 and 6.
std::string as_text(const CUuuid& uuid) {
  std::string text = "GPU";
  for (int i = 0; i < 16; ++i) {
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02x", static_cast<unsigned char>(uuid.bytes[i]));
    if (i == 0 || i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += digits;
  }
  return text;
}

// Prints one line for each device that this process can see.
int list_devices() {
  CU_CHECK(cuInit(0));
  int count = 0;
  CU_CHECK(cuDeviceGetCount(&count));
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    CUdevice device = 0;
    CU_CHECK(cuDeviceGet(&device, ordinal));
    CUuuid uuid;
    CU_CHECK(cuDeviceGetUuid(&uuid, device));
    char address[20];
    CU_CHECK(cuDeviceGetPCIBusId(address, sizeof address, device));
    char name[100];
    CU_CHECK(cuDeviceGetName(name, sizeof name, device));
    int major = 0, minor = 0;
    CU_CHECK(cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device));
    CU_CHECK(cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device));
    std::size_t bytes = 0;
    CU_CHECK(cuDeviceTotalMem(&bytes, device));
    std::printf("%3d      %s  %s  %d.%d  %.1f GiB  %s\n", ordinal, as_text(uuid).c_str(), address, major, minor,
                bytes / 1073741824.0, name);

    CUdevice found = -1;
    CU_CHECK(cuDeviceGetByPCIBusId(&found, address));
    if (found != device) return 1;
  }
  return 0;
}

// Starts this program again in a new process, which lists its devices, and returns the lines that it prints. A process
// of its own is needed, because cuInit reads the environment variable only once.
std::vector<std::string> devices_with(const std::string& setting) {
  char program[PATH_MAX] = "";
  if (readlink("/proc/self/exe", program, sizeof program - 1) < 0) return {};
  setenv("PROGRAM", program, 1);  // the shell reads the variable, so the path may contain any character
  std::printf("%s\n", setting.empty() ? "CUDA_VISIBLE_DEVICES is not set" : setting.c_str());
  std::fflush(stdout);

  FILE* output = popen((setting + " \"$PROGRAM\" list").c_str(), "r");
  if (!output) return {};
  std::vector<std::string> lines;
  char line[300];
  while (std::fgets(line, sizeof line, output)) {
    std::printf("%s", line);
    lines.push_back(std::string(line).substr(3));  // everything but the ordinal
  }
  if (pclose(output) != 0) lines.clear();
  return lines;
}

int main(int arguments, char**) {
  if (arguments > 1) return list_devices();

  unsetenv("CUDA_VISIBLE_DEVICES");
  setenv("CUDA_DEVICE_ORDER", "PCI_BUS_ID", 1);  // the order of nvidia-smi
  std::printf("ordinal  UUID%37sPCI address   capability, memory, name\n", "");
  const std::vector<std::string> all = devices_with("");
  if (all.empty()) return 1;

  const std::size_t last = all.size() - 1;
  const std::string chosen = last > 0 ? std::to_string(last) + ",0" : "0";
  const std::vector<std::string> two = devices_with("CUDA_VISIBLE_DEVICES=" + chosen);
  if (two.empty() || two.front() != all[last] || two.back() != all[0]) return 1;

  const std::string uuid = all[last].substr(6, 40);
  const std::vector<std::string> one = devices_with("CUDA_VISIBLE_DEVICES=" + uuid);
  return one.size() == 1 && one[0] == all[last] ? 0 : 1;
}
