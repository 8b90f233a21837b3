// Devices: ordinals, names, attributes, and what bad arguments get.
#include "tests/conformance/scenario.hpp"

#include <cctype>

FRESH_CASE("A device is asked by ordinal, and by attribute", "[device]") {
  conformance::device();
  CUdevice d = 0;
  int c = 0, v = 0;
  ANSWERS(cuDeviceGetCount(&c), CUDA_SUCCESS);
  NOTES("count " << c);
  ANSWERS(cuDeviceGet(&d, c), CUDA_ERROR_INVALID_DEVICE);
  ANSWERS(cuDeviceGet(&d, -1), CUDA_ERROR_INVALID_DEVICE);
  ANSWERS(cuDeviceGet(nullptr, 0), CUDA_ERROR_INVALID_VALUE);

  char b[8] = {}, whole[256] = {};
  CHECK(cuDeviceGetName(whole, sizeof whole, 0) == CUDA_SUCCESS);
  ANSWERS(cuDeviceGetName(b, 8, 0), CUDA_SUCCESS);
  CHECK(std::string(b) == std::string(whole).substr(0, 7));  // cut, and still ended by a zero
  NOTES("name8 '" << b << "'");
  ANSWERS(cuDeviceGetName(b, 8, 99), CUDA_ERROR_INVALID_DEVICE);

  ANSWERS(cuDeviceGetAttribute(&v, (CUdevice_attribute)9999, 0), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuDeviceGetAttribute(&v, (CUdevice_attribute)0, 0), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuDeviceGetAttribute(nullptr, (CUdevice_attribute)1, 0), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuDeviceGetAttribute(&v, (CUdevice_attribute)1, 99), CUDA_ERROR_INVALID_DEVICE);

  std::size_t t = 0;
  ANSWERS(cuDeviceTotalMem(&t, 0), CUDA_SUCCESS);
  NOTES("total " << t);
  CHECK(t > 0);
  ANSWERS(cuDeviceTotalMem(&t, 99), CUDA_ERROR_INVALID_DEVICE);

  char bus[32] = {};
  ANSWERS(cuDeviceGetPCIBusId(bus, 32, 0), CUDA_SUCCESS);
  for (char* at = bus; *at; ++at) {
    if (std::isxdigit(static_cast<unsigned char>(*at))) *at = 'h';
  }
  SHOWS("busform hhhh:hh:hh.h", "busform " << bus);
  CUuuid u{};
  ANSWERS(cuDeviceGetUuid(&u, 0), CUDA_SUCCESS);
}
