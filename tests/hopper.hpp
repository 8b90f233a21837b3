// Watches what a learner's kernel does with the TMA, mbarriers and wgmma. It inserts instructions into the PTX that
// nvcc wrote, so the counts are the same on every device.
#pragma once
#include "common/cu.hpp"
#include "tests/capability.hpp"
#include "tests/catch.hpp"

#include <fstream>
#include <regex>
#include <string>
#include <vector>

// The learner's image with counters. A wait for a phase that never completes would hang the check, so threads that try
// too often exit. Some threads are slow. A thread that loads sleeps first, so that others notice if they read too
// early. The second warp and all warps of a cluster's second block sleep before they read shared memory, so that they
// notice if the next box has been loaded too early.
class Watched {
 public:
  static constexpr unsigned long long kMostTries = 100000;   // at waiting for a barrier, in one launch

  explicit Watched(const std::string& image) {
    std::ifstream file(image);
    std::string text, line;
    std::size_t declarations = 0;
    for (bool entry = false; std::getline(file, line);) {
      text += counter(line) + line + '\n';
      if (line.rfind(".address_size", 0) == 0) declarations = text.size();
      entry |= line.find(".entry") != std::string::npos;
      if (entry && line == "{") text += ".reg .b32 %unfinished;\nmov.b32 %unfinished, 0;\n", entry = false;
    }
    text.insert(declarations, ".visible .global .align 8 .b64 watched[11];\n");
    CU_CHECK(cuModuleLoadData(&module_.handle, text.c_str()));
  }

  CUfunction function(const char* name) const { return module_.function(name); }

  // What all threads together have executed. `unfinished`: groups of wgmma that were still in progress when the thread
  // that had issued them stored to global memory or loaded a box.
  // `meetings`: waits for the other blocks of a cluster, and arrivals at their barriers.
  // `from_registers`: multiplications whose operand a is in registers. `early_powers`: groups of wgmma that were still
  // in progress when their thread computed an exponential.
  struct Counts {
    unsigned long long loads, multicasts, expected_bytes, fences, tries, multiplications, wgmma_fences, unfinished,
        meetings, from_registers, early_powers;
  };
  Counts counts() const {
    CUdeviceptr address;
    Counts found;
    CU_CHECK(cuModuleGetGlobal(&address, nullptr, module_.handle, "watched"));
    CU_CHECK(cuMemcpyDtoH(&found, address, sizeof found));
    return found;
  }

 private:
  static std::string add(int counter, const std::string& value) {
    return "red.global.add.u64 [watched+" + std::to_string(8 * counter) + "], " + value + ";\n";
  }
  // The same for a value of 32 bits.
  static std::string add_wide(int counter, const std::string& value) {
    return "{ .reg .b32 %narrow; .reg .b64 %wide; mov.b32 %narrow, " + value + "; cvt.u64.u32 %wide, %narrow; " +
           add(counter, "%wide") + "}\n";
  }

  // Returns PTX that counts or delays the instruction of a line, or "" for other instructions.
  static std::string counter(const std::string& line) {
    static const std::regex load(R"(\s*cp\.async\.bulk\.tensor\..*global\.mbarrier.*)");
    static const std::regex expect(R"(\s*mbarrier\.(?:arrive\.)?expect_tx\..*,\s*([%\w]+);.*)");
    static const std::regex fence(R"(\s*fence\.(?:mbarrier_init|proxy\.async).*)");
    static const std::regex read(R"(.*\bld\.(?:volatile\.)?shared\b.*)");
    static const std::regex try_wait(R"(\s*mbarrier\.(?:try|test)_wait\..*)");
    static const std::regex two_lists(R"([^{]*\{[^{]*\{.*)");
    static const std::regex wait_group(R"(\s*wgmma\.wait_group\.\S*\s+(\d+);.*)");
    const auto has = [&](const char* name) { return line.find(name) != std::string::npos; };
    if (std::regex_match(line, load)) {
      return "nanosleep.u32 3000;\n" + add(0, "1") + (has(".multicast") ? add(1, "1") : "") +
             add_wide(7, "%unfinished");
    }
    if (std::smatch bytes; std::regex_match(line, bytes, expect)) return add_wide(2, bytes[1]);
    if (std::regex_match(line, fence)) return add(3, "1");
    if (std::regex_match(line, try_wait)) {
      return "{ .reg .b64 %tries; .reg .pred %many; atom.global.add.u64 %tries, [watched+32], 1;\n"
             "setp.gt.u64 %many, %tries, " +
             std::to_string(kMostTries) + "; @%many exit; }\n";
    }
    if (has("barrier.cluster.wait") || (has("mbarrier.arrive") && has("shared::cluster"))) return add(8, "1");
    if (has("wgmma.mma_async")) return add(5, "1") + (std::regex_match(line, two_lists) ? add(9, "1") : "");
    if (has("ex2.approx")) return add_wide(10, "%unfinished");
    if (has("wgmma.fence")) return add(6, "1");
    if (has("wgmma.commit_group")) return "add.u32 %unfinished, %unfinished, 1;\n";
    if (std::smatch most; std::regex_match(line, most, wait_group)) {
      return "min.u32 %unfinished, %unfinished, " + most[1].str() + ";\n";
    }
    if (has("st.global")) return add_wide(7, "%unfinished");
    if (std::regex_match(line, read)) {
      return "{ .reg .b32 %thread, %block; .reg .pred %late; mov.u32 %thread, %tid.x; mov.u32 %block, "
             "%cluster_ctarank;\n"
             "shl.b32 %block, %block, 5; or.b32 %thread, %thread, %block; setp.ge.u32 %late, %thread, 32;\n"
             "@%late nanosleep.u32 2000; }\n";
    }
    return "";
  }

  cu::Module module_;
};

// A map for a matrix that is stored row by row, and for boxes whose rows of 128 bytes are swizzled.
inline CUtensorMap swizzled_map(CUtensorMapDataType type, std::size_t element_bytes, const cu::Memory& memory, int rows,
                                int columns, int box_rows) {
  CUtensorMap map;
  const cuuint64_t sizes[] = {static_cast<cuuint64_t>(columns), static_cast<cuuint64_t>(rows)};
  const cuuint64_t pitch[] = {columns * element_bytes};
  const cuuint32_t box[] = {static_cast<cuuint32_t>(128 / element_bytes), static_cast<cuuint32_t>(box_rows)};
  const cuuint32_t strides[] = {1, 1};
  CU_CHECK(cuTensorMapEncodeTiled(&map, type, 2, reinterpret_cast<void*>(memory.address), sizes, pitch, box, strides,
                                  CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                                  CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE));
  return map;
}
