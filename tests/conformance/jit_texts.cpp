// What the compiler of PTX says about a text, in which buffers, and which images are no images.
#include "tests/conformance/recorded.hpp"

#include <cstring>

namespace {

const std::string kHead = ".version 7.0\n.target sm_75\n.address_size 64\n";

std::string kernel(const std::string& body) {
  return kHead + ".visible .entry k(.param .u64 p)\n{\n" + body + "  ret;\n}\n";
}

// A text on one line.
std::string on_one_line(const char* text) {
  std::string line;
  for (; *text != '\0'; ++text) line += *text == '\n' ? std::string("\\n") : std::string(1, *text);
  return line;
}

struct Logs {
  std::array<char, 8192> error{}, info{};
  std::size_t error_size = sizeof error, info_size = sizeof info;

  CUresult load(const char* text, int verbose = 0) {
    std::array<CUjit_option, 5> names{CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
                                      CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, CU_JIT_LOG_VERBOSE};
    std::array<void*, 5> values{error.data(), reinterpret_cast<void*>(error_size), info.data(),
                                reinterpret_cast<void*>(info_size), reinterpret_cast<void*>(std::size_t(verbose))};
    CUmodule module = nullptr;
    const CUresult result = cuModuleLoadDataEx(&module, text, 5, names.data(), values.data());
    error_size = reinterpret_cast<std::size_t>(values[1]);
    info_size = reinterpret_cast<std::size_t>(values[3]);
    return result;
  }
};

struct Text {
  const char* name;
  std::string text;
};

void say_log_of(const Text& one) {
  Logs logs;
  SAY_AS(one.name, logs.load(one.text.c_str()));
  SHOW_AS("sizes", logs.error_size << " " << logs.info_size);
  SHOW_AS("log", on_one_line(logs.error.data()));
}

}  // namespace

RECORDED_CASE("The log of a text with one error names its line", "[modules]") {
  conformance::context();
  const Text texts[] = {
      {"unknown instruction", kernel("  frob.u32 %r1, 1;\n")},
      {"register not declared", kernel("  mov.u32 %r1, 1;\n")},
      {"two registers not declared", kernel("  mov.u32 %r1, %r2;\n")},
      {"type that the instruction lacks", kernel("  .reg .b32 %r<3>;\n  add.b32 %r1, %r1, %r2;\n")},
      {"unknown type", kernel("  .reg .u33 %r<3>;\n")},
      {"unknown modifier", kernel("  .reg .u32 %r<3>;\n  add.funny.u32 %r1, %r1, %r2;\n")},
      {"too few operands", kernel("  .reg .u32 %r<3>;\n  add.u32 %r1, %r2;\n")},
      {"too many operands", kernel("  .reg .u32 %r<3>;\n  add.u32 %r1, %r1, %r2, %r2;\n")},
      {"operand of another size", kernel("  .reg .u32 %r<3>;\n  .reg .u64 %d<3>;\n  add.u32 %r1, %r1, %d1;\n")},
      {"float operand in an integer instruction",
       kernel("  .reg .u32 %r<3>;\n  .reg .f32 %f<3>;\n  add.u32 %r1, %r1, %f1;\n")},
      {"float constant in an integer instruction", kernel("  .reg .u32 %r<3>;\n  add.u32 %r1, %r1, 1.5;\n")},
      {"integer constant in a float instruction", kernel("  .reg .f32 %f<3>;\n  add.f32 %f1, %f1, 1;\n")},
      {"label that is missing", kernel("  bra NOWHERE;\n")},
      {"label twice", kernel("A:\n  bra A;\nA:\n")},
      {"register twice", kernel("  .reg .u32 %r1;\n  .reg .u32 %r1;\n")},
      {"parameter that is missing", kernel("  .reg .u64 %d<3>;\n  ld.param.u64 %d1, [q];\n")},
      {"no semicolon", kernel("  .reg .u32 %r<3>;\n  mov.u32 %r1, 1\n")},
      {"no closing brace", kHead + ".visible .entry k()\n{\n  ret;\n"},
      {"a brace too many", kernel("") + "}\n"},
      {"the same kernel twice", kHead + ".visible .entry k()\n{\n  ret;\n}\n.visible .entry k()\n{\n  ret;\n}\n"},
      {"variable twice", kHead + ".global .u32 v;\n.global .u32 v;\n"},
      {"unknown directive", kHead + ".frobnicate 7\n"},
      {"no version", ".target sm_75\n.address_size 64\n.visible .entry k()\n{\n  ret;\n}\n"},
      {"no target", ".version 7.0\n.address_size 64\n.visible .entry k()\n{\n  ret;\n}\n"},
      {"target before version", ".target sm_75\n.version 7.0\n.visible .entry k()\n{\n  ret;\n}\n"},
      {"version alone", ".version 7.0\n"},
      {"header alone", kHead},
      {"version of the future", ".version 99.0\n.target sm_75\n.visible .entry k()\n{\n  ret;\n}\n"},
      {"version that never was", ".version 7.9\n.target sm_75\n.visible .entry k()\n{\n  ret;\n}\n"},
      {"version 0.0", ".version 0.0\n.target sm_75\n.visible .entry k()\n{\n  ret;\n}\n"},
      {"version 1.0", ".version 1.0\n.target sm_10\n.entry k\n{\n  ret;\n}\n"},
      {"version without a point", ".version 7\n.target sm_75\n.visible .entry k()\n{\n  ret;\n}\n"},
      {"unknown target", ".version 7.0\n.target sm_199\n.visible .entry k()\n{\n  ret;\n}\n"},
      {"target newer than the version", ".version 7.0\n.target sm_90\n.visible .entry k()\n{\n  ret;\n}\n"},
      {"target newer than the device", ".version 8.7\n.target sm_100\n.visible .entry k()\n{\n  ret;\n}\n"},
      {"target of another device only", ".version 8.7\n.target sm_100a\n.visible .entry k()\n{\n  ret;\n}\n"},
      {"address size 16", ".version 7.0\n.target sm_75\n.address_size 16\n.visible .entry k()\n{\n  ret;\n}\n"},
      {"address size 32", ".version 7.0\n.target sm_75\n.address_size 32\n.visible .entry k()\n{\n  ret;\n}\n"},
      {"instruction newer than the version", kernel("  .reg .u32 %r<3>;\n  redux.sync.add.u32 %r1, %r2, -1;\n")},
      {"instruction newer than the target",
       ".version 8.0\n.target sm_75\n.address_size 64\n.visible .entry k()\n{\n  barrier.cluster.arrive;\n  ret;\n}\n"},
      {"store to a constant", kHead + ".const .u32 c;\n.visible .entry k()\n{\n  st.const.u32 [c], 1;\n  ret;\n}\n"},
      {"store to a parameter", kernel("  st.param.u64 [p], 1;\n")},
      {"predicate that is none", kernel("  .reg .u32 %r<3>;\n  @%r1 mov.u32 %r1, 1;\n")},
      {"instruction outside of functions", kHead + "mov.u32 %r1, 1;\n"},
      {"number too large", kernel("  .reg .u32 %r<3>;\n  mov.u32 %r1, 99999999999999999999999;\n")},
      {"character that is none", kernel("  ?\n")},
      {"comment without end", kernel("  /* \n")},
      {"string without end", kHead + ".file 1 \"abc\n"},
      {"call of what is not declared", kernel("  call f;\n")},
      {"function that is only declared", kHead + ".extern .func f();\n.visible .entry k()\n{\n  call f;\n  ret;\n}\n"},
      {"variable that is only declared", kHead + ".extern .global .u32 v;\n.visible .entry k()\n{\n  .reg .u32 "
                                                 "%r<2>;\n  ld.global.u32 %r1, [v];\n  ret;\n}\n"},
      {"shared array too large",
       kHead + ".shared .align 4 .b8 s[300000];\n.visible .entry k()\n{\n  st.shared.u32 [s], 1;\n  ret;\n}\n"},
      {"constants too large",
       kHead + ".const .align 4 .b8 c[70000];\n.visible .entry k(.param .u64 p)\n{\n  .reg .u32 %r<3>;\n  .reg .u64 "
               "%d<2>;\n  ld.const.u32 %r1, [c];\n  ld.param.u64 %d1, [p];\n  st.global.u32 [%d1], %r1;\n  ret;\n}\n"},
      {"parameters too large", kHead + ".visible .entry k(.param .align 4 .b8 p[40000])\n{\n  ret;\n}\n"},
      {"block larger than 1024", kHead + ".visible .entry k()\n.maxntid 2048, 1, 1\n{\n  ret;\n}\n"},
      {"maxntid and reqntid", kHead + ".visible .entry k()\n.maxntid 128, 1, 1\n.reqntid 64, 1, 1\n{\n  ret;\n}\n"},
      {"misaligned access", kHead + ".global .align 4 .u32 v[4];\n.visible .entry k()\n{\n  .reg .u32 %r<2>;\n  "
                                    "ld.global.u32 %r1, [v+2];\n  ret;\n}\n"},
      {"vector of three",
       kernel("  .reg .u32 %r<4>;\n  .reg .u64 %d<2>;\n  ld.global.v3.u32 {%r1, %r2, %r3}, [%d1];\n")},
      {"vector shorter than it says",
       kernel("  .reg .u32 %r<4>;\n  .reg .u64 %d<2>;\n  ld.global.v4.u32 {%r1, %r2, %r3}, [%d1];\n")},
      {"initial values too many", kHead + ".global .u32 v[2] = {1, 2, 3};\n"},
      {"rounding that is missing", kernel("  .reg .f32 %f<4>;\n  fma.f32 %f1, %f1, %f1, %f1;\n")},
      {"rounding that cannot be", kernel("  .reg .u32 %r<4>;\n  add.rn.u32 %r1, %r1, %r1;\n")},
      {"branch to a kernel", kernel("  bra k;\n")},
      {"return value of a kernel", kHead + ".visible .entry (.param .u32 r) k()\n{\n  ret;\n}\n"},
  };
  for (const Text& one : texts) say_log_of(one);
}

RECORDED_CASE("A text may have several errors", "[modules]") {
  conformance::context();
  const Text texts[] = {
      {"two unknown instructions", kernel("  frob.u32 %r1;\n  nix.u32 %r1;\n")},
      {"undeclared in two lines", kernel("  mov.u32 %r1, 1;\n  mov.u32 %r2, 1;\n")},
      {"a type and a label", kernel("  .reg .b32 %r<3>;\n  add.b32 %r1, %r1, %r2;\n  bra X;\n")},
      {"two labels", kernel("  bra X;\n  bra Y;\n")},
      {"in two kernels", kHead + ".visible .entry a()\n{\n  bra X;\n}\n.visible .entry b()\n{\n  bra Y;\n}\n"},
      {"operands and types", kernel("  .reg .u32 %r<3>;\n  .reg .f32 %f<3>;\n  add.u32 %r1, %f1, %f2;\n")},
  };
  for (const Text& one : texts) say_log_of(one);
}

RECORDED_CASE("The sizes of logs are those of their texts", "[modules]") {
  conformance::context();
  const std::string good = kernel(""), bad = kernel("  mov.u32 %r1, 1;\n");
  for (const std::size_t room : {0, 1, 2, 16, 17, 64, 100, 200}) {
    for (const bool fails : {true, false}) {
      Logs logs;
      std::memset(logs.error.data(), '#', logs.error.size());
      std::memset(logs.info.data(), '#', logs.info.size());
      logs.error_size = logs.info_size = room;
      SAY_AS((fails ? "bad text, room " : "good text, room ") + std::to_string(room),
             logs.load((fails ? bad : good).c_str(), 1));
      const auto touched = [](const auto& buffer) {
        std::size_t n = 0;
        while (n < buffer.size() && buffer[n] != '#') ++n;
        return n;
      };
      SHOW_AS("error size, bytes written", logs.error_size << " " << touched(logs.error));
      if (fails) SHOW_AS("info size, bytes written", logs.info_size << " " << touched(logs.info));
    }
  }
}

RECORDED_CASE("Options of the compiler have values that make sense", "[modules]") {
  conformance::context();
  const std::string text = kernel("");
  CUmodule m = nullptr;
  const auto load = [&](CUjit_option name, std::size_t value) {
    void* values[] = {reinterpret_cast<void*>(value)};
    return cuModuleLoadDataEx(&m, text.c_str(), 1, &name, values);
  };
  for (int option = 0; option < 35; ++option) {
    if (option == 1 || option == 3 || option == 5 || option == 13) continue;  // buffers, and a wall clock
    for (const int value : {0, 1, 2, 5, 100, 100000}) {
      if (option == 34 && value > 2) continue;  // so many threads
      if ((option == 19 || option == 20 || option == 26) && value != 0) continue;  // addresses of arrays
      SAY_AS("option " + std::to_string(option) + " = " + std::to_string(value),
             load(static_cast<CUjit_option>(option), static_cast<std::size_t>(value)));
    }
  }
}

RECORDED_CASE("Options that there are not, or not whole", "[modules]") {
  conformance::context();
  const std::string text = kernel("");
  CUmodule m = nullptr;
  SAY(cuModuleLoadDataEx(&m, text.c_str(), 0, nullptr, nullptr));
  CUjit_option name = CU_JIT_MAX_REGISTERS;
  SAY(cuModuleLoadDataEx(&m, text.c_str(), 1, &name, nullptr));
  SAY(cuModuleLoadDataEx(nullptr, text.c_str(), 0, nullptr, nullptr));
  CUjit_option twice[] = {CU_JIT_MAX_REGISTERS, CU_JIT_MAX_REGISTERS};
  void* values[] = {reinterpret_cast<void*>(32), reinterpret_cast<void*>(64)};
  SAY(cuModuleLoadDataEx(&m, text.c_str(), 2, twice, values));
}

RECORDED_CASE("A linker's log is its own", "[modules]") {
  conformance::context();
  const auto link = [](const char* what, const std::string& text, CUjitInputType type, std::size_t size) {
    std::array<char, 4096> error{}, info{};
    CUjit_option names[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, CU_JIT_INFO_LOG_BUFFER,
                            CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES};
    void* values[] = {error.data(), reinterpret_cast<void*>(error.size()), info.data(),
                      reinterpret_cast<void*>(info.size())};
    CUlinkState state = nullptr;
    SAY_AS(std::string(what) + ", create", cuLinkCreate(4, names, values, &state));
    SAY_AS(std::string(what) + ", add",
           cuLinkAddData(state, type, const_cast<char*>(text.c_str()), size, "input", 0, nullptr, nullptr));
    SHOW_AS("log", on_one_line(error.data()));
    void* image = nullptr;
    std::size_t bytes = 0;
    SAY_AS(std::string(what) + ", complete", cuLinkComplete(state, &image, &bytes));
    SHOW_AS("log", on_one_line(error.data()));
    SHOW_AS("image", (image != nullptr) << " " << (bytes != 0));
    SAY_AS(std::string(what) + ", destroy", cuLinkDestroy(state));
  };
  const std::string good = kernel(""), bad = kernel("  mov.u32 %r1, 1;\n");
  const std::string calls = kHead + ".extern .func f();\n.visible .entry k()\n{\n  call f;\n  ret;\n}\n";
  const std::string reads = kHead +
                            ".extern .global .u32 v;\n.visible .entry k()\n{\n  .reg .u32 %r<2>;\n  "
                            "ld.volatile.global.u32 %r1, [v];\n  ret;\n}\n";
  link("good", good, CU_JIT_INPUT_PTX, good.size() + 1);
  link("without the null", good, CU_JIT_INPUT_PTX, good.size());
  link("bad", bad, CU_JIT_INPUT_PTX, bad.size() + 1);
  link("calls", calls, CU_JIT_INPUT_PTX, calls.size() + 1);
  link("reads", reads, CU_JIT_INPUT_PTX, reads.size() + 1);
  link("empty", "", CU_JIT_INPUT_PTX, 1);
  link("no bytes", good, CU_JIT_INPUT_PTX, 0);
  link("half", good, CU_JIT_INPUT_PTX, good.size() / 2);
  link("text as a cubin", good, CU_JIT_INPUT_CUBIN, good.size() + 1);
  link("text as a fat binary", good, CU_JIT_INPUT_FATBINARY, good.size() + 1);
  link("text as an object", good, CU_JIT_INPUT_OBJECT, good.size() + 1);
  link("text as a library", good, CU_JIT_INPUT_LIBRARY, good.size() + 1);
  link("unknown kind", good, static_cast<CUjitInputType>(17), good.size() + 1);
  CUlinkState state = nullptr;
  SAY(cuLinkCreate(0, nullptr, nullptr, nullptr));
  SAY(cuLinkCreate(1, nullptr, nullptr, &state));
  SAY(cuLinkCreate(0, nullptr, nullptr, &state));
  SAY(cuLinkAddData(state, CU_JIT_INPUT_PTX, nullptr, 10, "x", 0, nullptr, nullptr));
  SAY(cuLinkAddData(state, CU_JIT_INPUT_PTX, const_cast<char*>(good.c_str()), good.size() + 1, nullptr, 0, nullptr,
                    nullptr));
  SAY(cuLinkAddFile(state, CU_JIT_INPUT_PTX, "/nonexistent", 0, nullptr, nullptr));
  SAY(cuLinkAddFile(state, CU_JIT_INPUT_PTX, nullptr, 0, nullptr, nullptr));
  SAY(cuLinkAddFile(state, CU_JIT_INPUT_PTX, "/", 0, nullptr, nullptr));
  SAY(cuLinkAddFile(state, CU_JIT_INPUT_PTX, "/dev/null", 0, nullptr, nullptr));
  SAY(cuLinkComplete(state, nullptr, nullptr));
  SAY(cuLinkDestroy(state));
}
