// PTX in a compressed fat binary. How it is compressed is not documented, so the toolkit's cuobjdump unpacks it.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace cudasim {

// The path of cuobjdump: in a `bin` folder of CUDA_HOME, CUDA_PATH or /usr/local/cuda, in PATH, or beside the
// simulator. Empty if there is none.
const std::string& cuobjdump();

// Every PTX text in a fat binary. None if it has none, or if there is no cuobjdump.
std::vector<std::string> unpacked_ptx(std::string_view fatbin);

}  // namespace cudasim
