// Raises an error with PyTorch's C++ interface: through a function that takes a std::string.
#include <c10/util/Exception.h>

void fail(int kinds) { TORCH_CHECK(false, "libstdc++ has ", kinds, " kinds of std::string"); }
