// Lists the devices that this program can see: what each of them is called, in four ways, and what it is.
#include "common/cu.hpp"

#include <string>

// As nvidia-smi -L writes it: sixteen bytes in hexadecimal, in groups of 4, 2, 2, 2 and 6.
std::string spelled(const CUuuid& uuid) {
  std::string text = "GPU";
  for (int i = 0; i < 16; ++i) {
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02x", static_cast<unsigned char>(uuid.bytes[i]));
    if (i == 0 || i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += digits;
  }
  return text;
}

int main() {
  CU_CHECK(cuInit(0));
  int count;
  CU_CHECK(cuDeviceGetCount(&count));

  bool right = true;
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    CUdevice device, again;
    char name[100];
    char pci[20];
    CUuuid uuid;
    std::size_t bytes;
    int major, minor;
    CU_CHECK(cuDeviceGet(&device, ordinal));
    CU_CHECK(cuDeviceGetName(name, sizeof name, device));
    CU_CHECK(cuDeviceGetUuid(&uuid, device));
    CU_CHECK(cuDeviceGetPCIBusId(pci, sizeof pci, device));
    CU_CHECK(cuDeviceTotalMem(&bytes, device));
    CU_CHECK(cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device));
    CU_CHECK(cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device));
    CU_CHECK(cuDeviceGetByPCIBusId(&again, pci));

    std::printf("ordinal              | %d of %d\n", ordinal, count);
    std::printf("handle               | %d\n", device);
    std::printf("name                 | %s\n", name);
    std::printf("UUID                 | %s\n", spelled(uuid).c_str());
    std::printf("PCI address          | %s\n", pci);
    std::printf("memory               | %.1f GiB (%zu bytes)\n", bytes / 1073741824.0, bytes);
    std::printf("compute capability   | %d.%d\n", major, minor);
    std::printf("found by PCI address | %s\n", again == device ? "the same handle" : "another handle");
    right = right && again == device;
  }
  return right ? 0 : 1;
}
