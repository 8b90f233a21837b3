// What kernels print: device-side printf, and the report of a failed assertion.
#include "tests/conformance/scenario.hpp"

#include <algorithm>

namespace {

// What is written to a file descriptor while it lives.
class Printed {
 public:
  explicit Printed(int descriptor) : descriptor_(descriptor), before_(dup(descriptor)), file_(std::tmpfile()) {
    flush();
    dup2(fileno(file_), descriptor_);
  }
  ~Printed() {
    text();
    std::fclose(file_);
  }
  Printed(const Printed&) = delete;
  Printed& operator=(const Printed&) = delete;

  // Ends it: from here on output goes where it went before.
  std::string text() {
    if (before_ < 0) return text_;
    flush();
    dup2(before_, descriptor_);
    close(before_);
    before_ = -1;
    std::rewind(file_);
    for (int c = std::fgetc(file_); c != EOF; c = std::fgetc(file_)) text_ += static_cast<char>(c);
    return text_;
  }

 private:
  static void flush() {
    std::fflush(stdout);
    std::fflush(stderr);
  }
  int descriptor_, before_;
  std::FILE* file_;
  std::string text_;
};

}  // namespace

FRESH_CASE("A kernel's printf arrives in whole lines by the next synchronisation", "[printing]") {
  const conformance::Module F = conformance::module();
  int x = 5;
  float f = 2.5f;
  void* a[] = {&x, &f};
  CU_CHECK(cuCtxSynchronize());
  Printed out(1);
  const CUresult launched = cuLaunchKernel(F("printf_k"), 2, 1, 1, 2, 1, 1, 0, 0, a, 0);
  const CUresult ended = cuCtxSynchronize();
  std::vector<std::string> lines;
  std::istringstream text(out.text());
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  std::sort(lines.begin(), lines.end());
  ANSWERS(launched, CUDA_SUCCESS);
  REQUIRE(lines.size() == 4);
  SHOWS("b0 t0 x=5 f=2.500 hi", lines[0]);
  SHOWS("b0 t1 x=5 f=2.500 hi", lines[1]);
  SHOWS("b1 t0 x=5 f=2.500 hi", lines[2]);
  SHOWS("b1 t1 x=5 f=2.500 hi", lines[3]);
  ANSWERS(ended, CUDA_SUCCESS);
}

FRESH_CASE("A failed assertion is reported by every thread that failed it", "[printing]") {
  const conformance::Module F = conformance::module();
  int x = 1;
  void* a[] = {&x};
  CU_CHECK(cuCtxSynchronize());
  Printed out(1), err(2);
  const CUresult launched = cuLaunchKernel(F("assert_k"), 1, 1, 1, 2, 1, 1, 0, 0, a, 0);
  const CUresult ended = cuCtxSynchronize();
  const std::string text = err.text() + out.text();
  CAPTURE(text);
  ANSWERS(launched, CUDA_SUCCESS);
  ANSWERS(ended, CUDA_ERROR_ASSERT);
  CHECK(text.find("void assert_k(int): block: [0,0,0], thread: [0,0,0] Assertion `x == 0` failed.") !=
        std::string::npos);
  CHECK(text.find("void assert_k(int): block: [0,0,0], thread: [1,0,0] Assertion `x == 0` failed.") !=
        std::string::npos);
}
