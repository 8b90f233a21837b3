#include "common/runtime/driver.hpp"

#include <dlfcn.h>

namespace runtime {
namespace {

constexpr int kCallRequiresNewerDriver = 36;  // cudaErrorCallRequiresNewerDriver

int lacking() { return kCallRequiresNewerDriver; }

void* look_up(void* library, const char* name) {
  void* address = library == nullptr ? nullptr : dlsym(library, name);
  return address != nullptr ? address : reinterpret_cast<void*>(&lacking);
}

Driver load() {
  // RTLD_NOLOAD first: a program that is linked with libcuda itself must not get a second one.
  void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  if (library == nullptr) library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
  Driver driver{};
  driver.found = library != nullptr;
#define TEXT(name) #name
#define F(function) driver.function = reinterpret_cast<decltype(driver.function)>(look_up(library, TEXT(function)));
#include "common/runtime/driver_functions.inc"
#undef F
  return driver;
}

}  // namespace

const Driver& driver() {
  static const Driver* const driver = new Driver(load());  // never destroyed: exit handlers may still call
  return *driver;
}

}  // namespace runtime
