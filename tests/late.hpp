// Finds tiles in shared memory that are overwritten too early, on any device.
#pragma once
#include "common/cu.hpp"
#include "tests/catch.hpp"

#include <fstream>
#include <string>

// The learner's image, in which the fourth warp of a block and all later ones sleep before each ldmatrix. If the other
// warps copy the next tile without waiting for them, they read the wrong elements.
class Late {
 public:
  explicit Late(const std::string& image) {
    std::ifstream file(image);
    std::string text;
    for (std::string line; std::getline(file, line); text += line + '\n') {
      if (line.find("ldmatrix.") == std::string::npos) continue;
      text +=
          "{ .reg .b32 %thread; .reg .pred %late; mov.u32 %thread, %tid.x; setp.ge.u32 %late, %thread, 96;\n"
          "@%late nanosleep.u32 2000; bar.warp.sync 0xffffffff; }\n";
    }
    CU_CHECK(cuModuleLoadData(&module_.handle, text.c_str()));
  }
  CUfunction function(const char* name) const { return module_.function(name); }

 private:
  cu::Module module_;
};
