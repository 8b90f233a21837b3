// One function for each name of functions.inc: it is called if no file here defines another one of that name.
// The names are weak symbols, so the linker prefers any other definition.
namespace runtime {
int not_supported_by_name(const char* function);  // in errors.cpp
}

// The arguments are not looked at, so the declarations need none.
#define FUNCTION(name) \
  extern "C" __attribute__((weak)) int name() { return runtime::not_supported_by_name(#name); }
#include "common/runtime/functions.inc"
#undef FUNCTION
