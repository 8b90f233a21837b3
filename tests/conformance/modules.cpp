// Modules: what can be loaded, what is found in them, what a function says of itself.
#include "tests/conformance/scenario.hpp"

namespace {

// The image with one text in place of another, everywhere.
std::string with(std::string image, const std::string& what, const std::string& instead) {
  for (auto at = image.find(what); at != std::string::npos; at = image.find(what, at + instead.size())) {
    image.replace(at, what.size(), instead);
  }
  return image;
}

// The first line that starts with `directive`, replaced.
std::string with_line(const std::string& image, const std::string& directive, const std::string& line) {
  const auto start = image.find(directive);
  return image.substr(0, start) + line + image.substr(image.find('\n', start));
}

}  // namespace

FRESH_CASE("Only images that are PTX for this driver and device are loaded", "[module]") {
  conformance::context();
  const std::string k = conformance::image();
  CUmodule m = nullptr;
  ANSWERS(cuModuleLoad(&m, "no-such-file.ptx"), CUDA_ERROR_FILE_NOT_FOUND);
  ANSWERS(cuModuleLoadData(&m, "this is not ptx"), CUDA_ERROR_INVALID_IMAGE);
  ANSWERS(cuModuleLoadData(&m, ""), CUDA_ERROR_INVALID_IMAGE);
  ANSWERS(cuModuleLoadData(&m, nullptr), CUDA_ERROR_INVALID_VALUE);
  const std::string nw = with_line(k, ".version", ".version 99.0"), ta = with_line(k, ".target", ".target sm_199");
  ANSWERS(cuModuleLoadData(&m, nw.c_str()), CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
  ANSWERS(cuModuleLoadData(&m, ta.c_str()), CUDA_ERROR_INVALID_PTX);
  ANSWERS(cuModuleLoadData(&m, k.c_str()), CUDA_SUCCESS);
}

FRESH_CASE("The error log names the line and the word that is wrong", "[module]") {
  conformance::context();
  const std::string bad = with(conformance::image(), "trap;", "frobnicate;");
  char log[4096] = "not written";
  CUjit_option oo[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* ov[] = {log, reinterpret_cast<void*>(sizeof log)};
  CUmodule m = nullptr;
  ANSWERS(cuModuleLoadDataEx(&m, bad.c_str(), 2, oo, ov), CUDA_ERROR_INVALID_PTX);
  NOTES("log [" << log << "]");
  CHECK(std::strstr(log, "ptxas application ptx input, line ") == log);
  CHECK(std::strstr(log, "error   : Not a name of any known instruction: 'frobnicate'") != nullptr);
  CHECK(std::strstr(log, "ptxas fatal   : Ptx assembly aborted due to errors") != nullptr);
  CHECK(reinterpret_cast<std::size_t>(ov[1]) >= std::strlen(log));
}

FRESH_CASE("Shared variables of PTX may fill all that a block can opt in to", "[module]") {
  conformance::context();
  const auto text = [](int bytes) {
    return ".version 7.0\n.target sm_75\n.address_size 64\n.shared .align 4 .b8 sh[" + std::to_string(bytes) +
           "];\n.visible .entry k()\n{\n  st.volatile.shared.u32 [sh], 1;\n  ret;\n}\n";
  };
  char log[4096] = "";
  CUjit_option oo[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* ov[] = {log, reinterpret_cast<void*>(sizeof log)};
  CUmodule m = nullptr;
  int most = 0;
  ANSWERS(cuDeviceGetAttribute(&most, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 0), CUDA_SUCCESS);
  ANSWERS(cuModuleLoadDataEx(&m, text(most + 4).c_str(), 2, oo, ov), CUDA_ERROR_INVALID_PTX);
  NOTES("log [" << log << "]");
  CHECK(std::strstr(log, "Entry function 'k' uses too much shared data") != nullptr);
  for (const int bytes : {49152, 49156, most}) {
    CUfunction k = nullptr;
    int shared = 0;
    ANSWERS(cuModuleLoadData(&m, text(bytes).c_str()), CUDA_SUCCESS);
    ANSWERS(cuModuleGetFunction(&k, m, "k"), CUDA_SUCCESS);
    ANSWERS(cuFuncGetAttribute(&shared, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, k), CUDA_SUCCESS);
    CHECK(shared == bytes);
    int dynamic = 0;  // up to 48 KiB with the variables; if these alone are larger, all that is left
    ANSWERS(cuFuncGetAttribute(&dynamic, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, k), CUDA_SUCCESS);
    CHECK(dynamic == (bytes <= 49152 ? 49152 : most) - bytes);
    ANSWERS(cuLaunchKernel(k, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr), CUDA_SUCCESS);
    ANSWERS(cuCtxSynchronize(), CUDA_SUCCESS);
  }
}

FRESH_CASE("A kernel's local memory is rounded up to what its alignment needs", "[module]") {
  conformance::context();
  const auto local_size = [](int align, int size) {
    const std::string text =
        ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry k(.param .u64 at)\n{\n  .local .align " +
        std::to_string(align) + " .b8 v[" + std::to_string(size) +
        "];\n  .reg .b64 %a<3>;\n  ld.param.u64 %a0, [at];\n  mov.u64 %a1, v;\n  add.u64 %a1, %a1, "
        "%a0;\n  st.local.u32 [%a1], 1;\n  ret;\n}\n";
    CUmodule m = nullptr;
    CUfunction k = nullptr;
    int bytes = 0;
    CU_CHECK(cuModuleLoadData(&m, text.c_str()));
    CU_CHECK(cuModuleGetFunction(&k, m, "k"));
    CU_CHECK(cuFuncGetAttribute(&bytes, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, k));
    return bytes;
  };
  CHECK(local_size(4, 12) == 16);
  CHECK(local_size(8, 100) == 104);
  CHECK(local_size(16, 100) == 112);
  CHECK(local_size(32, 100) == 144);
}

FRESH_CASE("A kernel whose threads need more local memory than a thread has is not launched", "[module]") {
  conformance::context();
  const std::string text =
      ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry k(.param .u64 at)\n{\n  .local .align 4 .b8 "
      "much[524544];\n  .reg .b64 %a<3>;\n  ld.param.u64 %a0, [at];\n  mov.u64 %a1, much;\n  add.u64 %a1, %a1, %a0;\n"
      "  st.local.u32 [%a1], 1;\n  ret;\n}\n";
  CUmodule m = nullptr;
  CUfunction k = nullptr;
  int bytes = 0;
  CUdeviceptr offset = 0;
  void* a[] = {&offset};
  ANSWERS(cuModuleLoadData(&m, text.c_str()), CUDA_SUCCESS);
  ANSWERS(cuModuleGetFunction(&k, m, "k"), CUDA_SUCCESS);
  ANSWERS(cuFuncGetAttribute(&bytes, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, k), CUDA_SUCCESS);
  CHECK(bytes == 524544);
  ANSWERS(cuLaunchKernel(k, 1, 1, 1, 1, 1, 1, 0, 0, a, 0), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuCtxSynchronize(), CUDA_SUCCESS);
}

FRESH_CASE("A log is cut to the buffer it is given", "[module]") {
  conformance::context();
  const std::string bad = with(conformance::image(), "trap;", "frobnicate;");
  char log[17];
  std::memset(log, 'x', sizeof log);
  CUjit_option oo[] = {CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, CU_JIT_ERROR_LOG_BUFFER, CU_JIT_OPTIMIZATION_LEVEL};
  void* ov[] = {reinterpret_cast<void*>(16), log, reinterpret_cast<void*>(3)};
  CUmodule m = nullptr;
  ANSWERS(cuModuleLoadDataEx(&m, bad.c_str(), 3, oo, ov), CUDA_ERROR_INVALID_PTX);
  CHECK(log[16] == 'x');
  CHECK(std::memchr(log, '\0', 16) != nullptr);
  CUjit_option unknown = (CUjit_option)9999;
  ANSWERS(cuModuleLoadDataEx(&m, conformance::image().c_str(), 1, &unknown, ov), CUDA_ERROR_INVALID_VALUE);
}

FRESH_CASE("Functions and variables are found by name", "[module]") {
  const auto F = conformance::module();
  CUmodule m = F.mod;
  CUfunction f = nullptr, again = nullptr;
  CUdeviceptr g = 0;
  std::size_t s = 0;
  ANSWERS(cuModuleGetFunction(&f, m, "nope"), CUDA_ERROR_NOT_FOUND);
  ANSWERS(cuModuleGetFunction(&f, m, nullptr), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuModuleGetFunction(&f, m, "vadd"), CUDA_SUCCESS);
  CHECK(cuModuleGetFunction(&again, m, "vadd") == CUDA_SUCCESS);
  CHECK(again == f);
  ANSWERS(cuModuleGetGlobal(&g, &s, m, "coef"), CUDA_SUCCESS);
  SHOWS("size 64", "size " << s);
  ANSWERS(cuModuleGetGlobal(&g, &s, m, "nope"), CUDA_ERROR_NOT_FOUND);
  ANSWERS(cuModuleGetGlobal(&g, &s, m, "vadd"), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuModuleGetGlobal(&g, nullptr, m, "counter"), CUDA_SUCCESS);
  ANSWERS(cuModuleGetGlobal(nullptr, &s, m, "table"), CUDA_SUCCESS);
  SHOWS("size 1024", "size " << s);
#if CUDA_VERSION >= 12040
  unsigned n = 0;
  ANSWERS(cuModuleGetFunctionCount(&n, m), CUDA_SUCCESS);
  SHOWS("count 15", "count " << n);
#endif
  CUmodule mm = nullptr;
#if CUDA_VERSION >= 12030
  const char* nm = nullptr;
  ANSWERS(cuFuncGetName(&nm, F("local_k")), CUDA_SUCCESS);
  SHOWS("local_k", nm);
#endif
  ANSWERS(cuFuncGetModule(&mm, F("local_k")), CUDA_SUCCESS);
  SHOWS("1", (mm == m));
  ANSWERS(cuModuleUnload(m), CUDA_SUCCESS);
  ANSWERS(cuModuleUnload(m), CUDA_ERROR_INVALID_HANDLE);
}

FRESH_CASE("A function says what it needs", "[module]") {
  const auto F = conformance::module();
  const CUfunction f = F("vadd");
  const auto attribute = [](int number, CUfunction function) {
    int value = -99;
    const CUresult result = cuFuncGetAttribute(&value, static_cast<CUfunction_attribute>(number), function);
    conformance::record("  FA " + std::to_string(number) + " " + cu::name(result) + " " + std::to_string(value));
    CAPTURE(number);
    CHECK(std::string(cu::name(result)) == "CUDA_SUCCESS");
    return value;
  };
  CHECK(attribute(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, f) == 1024);
  CHECK(attribute(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, f) == 0);
  CHECK(attribute(CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES, f) == 64);
  CHECK(attribute(CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, f) == 0);
  CHECK(attribute(CU_FUNC_ATTRIBUTE_NUM_REGS, f) > 0);  // a compiler's choice: 12 on an H200
  CHECK(attribute(CU_FUNC_ATTRIBUTE_PTX_VERSION, f) >= 50);
  CHECK(attribute(CU_FUNC_ATTRIBUTE_BINARY_VERSION, f) >= 50);
  CHECK(attribute(CU_FUNC_ATTRIBUTE_CACHE_MODE_CA, f) == 0);
  CHECK(attribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, f) == 49152);
  CHECK(attribute(CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, f) == -1);
  for (int number = 10; number <= 15; ++number) CHECK(attribute(number, f) == 0);
  CHECK(attribute(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, F("bounded")) == 128);
  CHECK(attribute(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, F("statshared")) == 4096);
  // A compiler's choice again: the array is 256 bytes of .local memory in the PTX, and may end up in registers.
  const int local = attribute(CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, F("local_k"));
  CHECK((local == 256 || (local == 0 && !conformance::on_simulator())));
  int a = 0;
  ANSWERS(cuFuncGetAttribute(&a, (CUfunction_attribute)99, f), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuFuncGetAttribute(nullptr, CU_FUNC_ATTRIBUTE_NUM_REGS, f), CUDA_ERROR_INVALID_VALUE);
}

FRESH_CASE("What is set on a function stays, whatever is set on its kernel, and when", "[module]") {
  const auto made = conformance::context();
  const std::string image = conformance::image();
  CUlibrary library = nullptr;
  CUkernel kernel = nullptr;
  CUfunction function = nullptr, again = nullptr;
  constexpr auto kShared = CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
  const auto bytes = [&](CUfunction f) {
    int value = 0;
    CU_CHECK(cuFuncGetAttribute(&value, kShared, f));
    return value;
  };
  CU_CHECK(cuLibraryLoadData(&library, image.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0));
  CU_CHECK(cuLibraryGetKernel(&kernel, library, "inc"));
  ANSWERS(cuKernelSetAttribute(kShared, 1000, kernel, made.dev), CUDA_SUCCESS);
  ANSWERS(cuKernelGetFunction(&function, kernel), CUDA_SUCCESS);
  SHOWS("1000", bytes(function));
  ANSWERS(cuKernelSetAttribute(kShared, 1500, kernel, made.dev), CUDA_SUCCESS);
  SHOWS("1500", bytes(function));
  ANSWERS(cuFuncSetAttribute(function, kShared, 2000), CUDA_SUCCESS);
  ANSWERS(cuKernelSetAttribute(kShared, 3000, kernel, made.dev), CUDA_SUCCESS);
  SHOWS("2000", bytes(function));
  ANSWERS(cuKernelGetFunction(&again, kernel), CUDA_SUCCESS);
  CHECK(again == function);
  SHOWS("2000", bytes(function));
}

FRESH_CASE("A library's kernel runs in any context", "[module]") {
  const CUdevice dev = conformance::device().dev;
  const std::string image = conformance::image();
  CUlibrary library = nullptr;
  CUkernel kernel = nullptr;
  ANSWERS(cuLibraryLoadData(&library, image.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0), CUDA_SUCCESS);
  ANSWERS(cuLibraryGetKernel(&kernel, library, "nope"), CUDA_ERROR_NOT_FOUND);
  ANSWERS(cuLibraryGetKernel(&kernel, library, "inc"), CUDA_SUCCESS);
  for (int i = 0; i < 2; ++i) {
    CUcontext ctx = nullptr;
    CUdeviceptr counter = 0;
    std::size_t size = 0;
    int value = -1;
    ANSWERS(cuCtxCreate(&ctx, nullptr, 0, dev), CUDA_SUCCESS);
    ANSWERS(cuLaunchKernel((CUfunction)kernel, 2, 1, 1, 8, 1, 1, 0, nullptr, nullptr, nullptr), CUDA_SUCCESS);
    ANSWERS(cuLibraryGetGlobal(&counter, &size, library, "counter"), CUDA_SUCCESS);
    ANSWERS(cuMemcpyDtoH(&value, counter, 4), CUDA_SUCCESS);
    CHECK(value == 16);
    ANSWERS(cuCtxDestroy(ctx), CUDA_SUCCESS);
  }
  ANSWERS(cuLibraryUnload(library), CUDA_SUCCESS);
}

FRESH_CASE("A program can promise to keep a library's text, but not a file's", "[module]") {
  conformance::context();
  const std::string file = cu::image("kernels.ptx");
  CUlibrary library = nullptr;
  CUlibraryOption option[] = {CU_LIBRARY_BINARY_IS_PRESERVED};
  bool yes = true;
  void* value[] = {&yes};
  ANSWERS(cuLibraryLoadFromFile(&library, file.c_str(), nullptr, nullptr, 0, option, value, 1),
          CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuLibraryLoadFromFile(&library, file.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0), CUDA_SUCCESS);
}

namespace {

// Two texts: a kernel that calls a function, and the function.
const char kCaller[] = R"(
.version 6.0
.target sm_60
.address_size 64
.extern .func (.param .b32 result) twice (.param .b32 value);
.extern .global .align 4 .u32 bonus;
.visible .entry caller(.param .u64 out) {
  .reg .b32 %r<4>;
  .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [out];
  cvta.to.global.u64 %rd2, %rd1;
  mov.u32 %r1, 20;
  {
    .param .b32 given;
    .param .b32 got;
    st.param.b32 [given], %r1;
    call.uni (got), twice, (given);
    ld.param.b32 %r2, [got];
  }
  ld.global.u32 %r3, [bonus];
  add.u32 %r2, %r2, %r3;
  st.global.u32 [%rd2], %r2;
  ret;
}
)";
const char kCallee[] = R"(
.version 6.0
.target sm_60
.address_size 64
.visible .global .align 4 .u32 bonus = 2;
.visible .func (.param .b32 result) twice (.param .b32 value) {
  .reg .b32 %r<3>;
  ld.param.b32 %r1, [value];
  add.u32 %r2, %r1, %r1;
  st.param.b32 [result], %r2;
  ret;
}
)";

CUresult add(CUlinkState link, const char* text, const char* name, CUjitInputType type = CU_JIT_INPUT_PTX) {
  return cuLinkAddData(link, type, const_cast<char*>(text), std::strlen(text) + 1, name, 0, nullptr, nullptr);
}

}  // namespace

FRESH_CASE("Two texts are linked: a function and a variable of one are found by the other", "[module]") {
  conformance::context();
  CUlinkState link = nullptr;
  void* image = nullptr;
  std::size_t size = 0;
  CUmodule m = nullptr;
  CUfunction f = nullptr;
  CUdeviceptr out = 0;
  int value = 0;
  ANSWERS(cuLinkCreate(0, nullptr, nullptr, &link), CUDA_SUCCESS);
  ANSWERS(add(link, kCaller, "caller.ptx"), CUDA_SUCCESS);
  ANSWERS(add(link, kCallee, "callee.ptx"), CUDA_SUCCESS);
  ANSWERS(cuLinkComplete(link, &image, &size), CUDA_SUCCESS);
  CHECK(size > 0);
  ANSWERS(cuModuleLoadData(&m, image), CUDA_SUCCESS);
  ANSWERS(cuLinkDestroy(link), CUDA_SUCCESS);
  ANSWERS(cuModuleGetFunction(&f, m, "caller"), CUDA_SUCCESS);
  CU_CHECK(cuMemAlloc(&out, 4));
  void* a[] = {&out};
  ANSWERS(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, nullptr, a, nullptr), CUDA_SUCCESS);
  ANSWERS(cuMemcpyDtoH(&value, out, 4), CUDA_SUCCESS);
  CHECK(value == 42);
}

FRESH_CASE("A link that lacks a function fails, and says which", "[module]") {
  conformance::context();
  CUlinkState link = nullptr;
  void* image = nullptr;
  std::size_t size = 0;
  char log[1000] = "";
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {log, reinterpret_cast<void*>(sizeof log)};
  ANSWERS(cuLinkCreate(2, options, values, &link), CUDA_SUCCESS);
  ANSWERS(add(link, kCaller, "caller.ptx"), CUDA_SUCCESS);
  ANSWERS(cuLinkComplete(link, &image, &size), CUDA_ERROR_INVALID_SOURCE);
  CHECK(std::string(log).find("Undefined reference to") != std::string::npos);
  CHECK(std::string(log).find("in 'caller.ptx'") != std::string::npos);
  ANSWERS(cuLinkDestroy(link), CUDA_SUCCESS);
}

FRESH_CASE("A link is completed once; what is no PTX leaves it as it was, what is no machine code makes it fail",
           "[module]") {
  conformance::context();
  CUlinkState link = nullptr;
  void* image = nullptr;
  std::size_t size = 0;
  ANSWERS(cuLinkCreate(0, nullptr, nullptr, &link), CUDA_SUCCESS);
  ANSWERS(add(link, kCallee, "callee.ptx"), CUDA_SUCCESS);
  ANSWERS(cuLinkComplete(link, &image, &size), CUDA_SUCCESS);
  ANSWERS(cuLinkComplete(link, &image, &size), CUDA_ERROR_INVALID_HANDLE);
  ANSWERS(add(link, kCaller, "caller.ptx"), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuLinkDestroy(link), CUDA_SUCCESS);
  ANSWERS(cuLinkCreate(0, nullptr, nullptr, &link), CUDA_SUCCESS);
  ANSWERS(add(link, kCallee, "callee.ptx"), CUDA_SUCCESS);
  ANSWERS(add(link, "junk", "junk.ptx"), CUDA_ERROR_INVALID_IMAGE);
  ANSWERS(cuLinkComplete(link, &image, &size), CUDA_SUCCESS);
  ANSWERS(cuLinkDestroy(link), CUDA_SUCCESS);
  ANSWERS(cuLinkCreate(0, nullptr, nullptr, &link), CUDA_SUCCESS);
  ANSWERS(add(link, kCallee, "callee.ptx"), CUDA_SUCCESS);
  ANSWERS(add(link, kCallee, "callee.cubin", CU_JIT_INPUT_CUBIN), CUDA_ERROR_INVALID_IMAGE);
  ANSWERS(add(link, kCallee, "callee", static_cast<CUjitInputType>(77)), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(add(link, "junk", "junk.ptx"), CUDA_ERROR_INVALID_IMAGE);
  ANSWERS(cuLinkComplete(link, &image, &size), CUDA_ERROR_INVALID_IMAGE);
  ANSWERS(cuLinkDestroy(link), CUDA_SUCCESS);
  ANSWERS(cuLinkCreate(0, nullptr, nullptr, &link), CUDA_SUCCESS);
  ANSWERS(add(link, kCallee, "callee.ptx"), CUDA_SUCCESS);
  ANSWERS(add(link, kCallee, "again.ptx"), CUDA_ERROR_INVALID_SOURCE);
  ANSWERS(cuLinkDestroy(link), CUDA_SUCCESS);
}

FRESH_CASE("PTX of years ago is taken", "[module]") {
  conformance::context();
  CUmodule m = nullptr;
  ANSWERS(cuModuleLoadData(&m,
                           ".version 3.0\n.target sm_20\n.address_size 64\n.entry k(.param .u64 p) {\n"
                           ".reg .u64 %p;\n.reg .u32 %t;\nld.param.u64 %p, [p];\nmov.u32 %t, %tid.x;\n"
                           "st.global.u32 [%p], %t;\nret;\n}\n"),
          CUDA_SUCCESS);
}

FRESH_CASE("A register of several elements is packed and unpacked whole", "[module]") {
  conformance::context();
  CUmodule m = nullptr;
  CUfunction f = nullptr;
  CUdeviceptr out = 0;
  std::uint64_t value[2] = {};
  CU_CHECK(cuMemAlloc(&out, 16));
  ANSWERS(cuModuleLoadData(&m,
                           ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p) {\n"
                           ".reg .u64 %p, %d;\n.reg .v2 .u32 %v, %w;\nld.param.u64 %p, [p];\n"
                           "mov.u32 %v.x, 5;\nmov.u32 %v.y, 7;\nmov.b64 %d, %v;\nst.global.u64 [%p], %d;\n"
                           "mov.b64 %w, %d;\nst.global.v2.u32 [%p+8], %w;\nret;\n}\n"),
          CUDA_SUCCESS);
  CU_CHECK(cuModuleGetFunction(&f, m, "k"));
  void* a[] = {&out};
  ANSWERS(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, nullptr, a, nullptr), CUDA_SUCCESS);
  ANSWERS(cuMemcpyDtoH(value, out, 16), CUDA_SUCCESS);
  CHECK(value[0] == (std::uint64_t{7} << 32 | 5));
  CHECK(value[1] == value[0]);
}

FRESH_CASE("A kernel has no more registers than its loader's or linker's option allows", "[module]") {
  conformance::context();
  const std::string image = conformance::image();
  CUmodule m = nullptr;
  CUfunction f = nullptr;
  CUlinkState link = nullptr;
  void* linked = nullptr;
  int registers = 0;
  CUjit_option option[] = {CU_JIT_MAX_REGISTERS};
  void* value[] = {reinterpret_cast<void*>(std::uintptr_t{24})};
  ANSWERS(cuModuleLoadDataEx(&m, image.c_str(), 1, option, value), CUDA_SUCCESS);
  CU_CHECK(cuModuleGetFunction(&f, m, "printf_k"));
  ANSWERS(cuFuncGetAttribute(&registers, CU_FUNC_ATTRIBUTE_NUM_REGS, f), CUDA_SUCCESS);
  CHECK(registers <= 24);
  value[0] = reinterpret_cast<void*>(std::uintptr_t{24});
  ANSWERS(cuLinkCreate(1, option, value, &link), CUDA_SUCCESS);
  ANSWERS(add(link, image.c_str(), "kernels.ptx"), CUDA_SUCCESS);
  ANSWERS(cuLinkComplete(link, &linked, nullptr), CUDA_SUCCESS);
  ANSWERS(cuModuleLoadData(&m, linked), CUDA_SUCCESS);
  ANSWERS(cuLinkDestroy(link), CUDA_SUCCESS);
  CU_CHECK(cuModuleGetFunction(&f, m, "printf_k"));
  ANSWERS(cuFuncGetAttribute(&registers, CU_FUNC_ATTRIBUTE_NUM_REGS, f), CUDA_SUCCESS);
  CHECK(registers <= 24);
}

namespace {

// Links two texts; what came of adding the second one, and the log.
std::pair<std::string, std::string> linked(const char* a, const char* b) {
  const std::string head = ".version 7.0\n.target sm_70\n.address_size 64\n";
  std::string first = head + a, second = head + b;
  char log[600] = "";
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {log, reinterpret_cast<void*>(sizeof log)};
  CUlinkState state = nullptr;
  CU_CHECK(cuLinkCreate(2, options, values, &state));
  CU_CHECK(cuLinkAddData(state, CU_JIT_INPUT_PTX, first.data(), first.size() + 1, "a", 0, nullptr, nullptr));
  const std::string answer =
      cu::name(cuLinkAddData(state, CU_JIT_INPUT_PTX, second.data(), second.size() + 1, "b", 0, nullptr, nullptr));
  void* image = nullptr;
  std::size_t size = 0;
  CHECK(cu::name(cuLinkComplete(state, &image, &size)) == answer);
  CU_CHECK(cuLinkDestroy(state));
  return {answer, log};
}

}  // namespace

FRESH_CASE("Two texts that are linked must agree on what they share", "[module]") {
  conformance::context();
  const char* caller =
      ".extern .func (.param .b32 r) f(.param .b32 x);\n"
      ".visible .entry k(){ .reg .b32 %x; {.param .b32 p; .param .b32 q; st.param.b32 [p], 1; call (q), f, (p);"
      " ld.param.b32 %x,[q];} ret; }\n";
  const auto says = [](const std::string& log, const char* what) { return log.find(what) != std::string::npos; };
  CHECK(linked(caller, ".visible .func (.param .b32 r) f(.param .b32 x) { st.param.b32 [r], 1; ret; }\n").first ==
        "CUDA_SUCCESS");
  for (const char* other :
       {".visible .func (.param .b32 r) f(.param .b64 x) { st.param.b32 [r], 1; ret; }\n",
        ".visible .func (.param .b32 r) f(.param .b32 x, .param .b32 y) { st.param.b32 [r], 1; ret; }\n",
        ".visible .func f(.param .b32 x) { ret; }\n",
        ".visible .func (.param .f32 r) f(.param .f32 x) { st.param.b32 [r], 1; ret; }\n"}) {
    const auto [answer, log] = linked(caller, other);
    CAPTURE(other, log);
    CHECK(answer == "CUDA_ERROR_INVALID_SOURCE");
    CHECK(says(log, "Prototype doesn't match for 'f' in 'b', first defined in 'b'"));
  }
  CHECK(linked(caller, ".visible .entry f() { ret; }\n").second.find("not declared __global__") != std::string::npos);
  CHECK(linked(caller, ".visible .global .b32 f;\n").first == "CUDA_ERROR_INVALID_SOURCE");
  const auto sizes =
      linked(".visible .global .b32 g[4];\n",
             ".extern .global .b32 g[8];\n.visible .entry k(){ .reg .b32 %r; ld.global.u32 %r,[g]; ret; }\n");
  CHECK(sizes.first == "CUDA_ERROR_INVALID_SOURCE");
  CHECK(says(sizes.second, "Size doesn't match for 'g' in 'b', first specified in 'a'"));
  CHECK(linked(".common .global .b32 g[4];\n", ".common .global .b32 g[8];\n").first == "CUDA_SUCCESS");
  CHECK(linked(".weak .func f() { ret; }\n", ".weak .func f() { ret; }\n.visible .entry k(){ call f; ret; }\n").first ==
        "CUDA_SUCCESS");
}

FRESH_CASE("Unloading a module waits for its kernels", "[module]") {
  const auto F = conformance::module();
  long long nanoseconds = 200'000'000;
  void* arguments[] = {&nanoseconds};
  CU_CHECK(cuLaunchKernel(F("spin"), 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr));
  ANSWERS(cuModuleUnload(F.mod), CUDA_SUCCESS);
  ANSWERS(cuStreamQuery(nullptr), CUDA_SUCCESS);
}

FRESH_CASE("A program of the host is no image", "[module]") {
  conformance::context();
  CUmodule mod = nullptr;
  ANSWERS(cuModuleLoad(&mod, "/proc/self/exe"), CUDA_ERROR_INVALID_IMAGE);
}

#if CUDA_VERSION >= 12000
FRESH_CASE("A library of nonsense is found out when a kernel of it is wanted", "[library]") {
  conformance::context();
  CUlibrary library = nullptr;
  CUkernel kernel = nullptr;
  ANSWERS(cuLibraryLoadData(&library, "nonsense", nullptr, nullptr, 0, nullptr, nullptr, 0), CUDA_SUCCESS);
  ANSWERS(cuLibraryGetKernel(&kernel, library, "any"), CUDA_ERROR_INVALID_IMAGE);
  CUlibraryOption preserve[] = {CU_LIBRARY_BINARY_IS_PRESERVED};
  void* yes[] = {reinterpret_cast<void*>(1)};
  ANSWERS(cuLibraryLoadFromFile(&library, "/nowhere", nullptr, nullptr, 0, preserve, yes, 1),
          CUDA_ERROR_FILE_NOT_FOUND);
}
#endif

FRESH_CASE("A link of nothing is complete, and takes no more", "[module]") {
  conformance::context();
  CUlinkState link = nullptr;
  void* image = nullptr;
  std::size_t size = 0;
  char nonsense[] = "nonsense";
  CU_CHECK(cuLinkCreate(0, nullptr, nullptr, &link));
  ANSWERS(cuLinkComplete(link, &image, &size), CUDA_SUCCESS);
  ANSWERS(cuLinkAddData(link, CU_JIT_INPUT_PTX, nonsense, sizeof nonsense, "x", 0, nullptr, nullptr),
          CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuLinkAddFile(link, CU_JIT_INPUT_PTX, "/nowhere", 0, nullptr, nullptr), CUDA_ERROR_INVALID_VALUE);
  ANSWERS(cuLinkDestroy(link), CUDA_SUCCESS);
}

FRESH_CASE("No function is called nothing, and no device 999", "[module]") {
  const auto F = conformance::module();
  CUfunction f = nullptr;
  ANSWERS(cuModuleGetFunction(&f, F.mod, ""), CUDA_ERROR_INVALID_VALUE);
  CUjit_option option[] = {CU_JIT_TARGET};
  void* value[] = {reinterpret_cast<void*>(999)};
  CUmodule m = nullptr;
  ANSWERS(cuModuleLoadDataEx(&m, conformance::image().c_str(), 1, option, value), CUDA_ERROR_INVALID_VALUE);
}
