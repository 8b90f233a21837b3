// The device runtime: printf, malloc, free, assert.
#include "tests/simulator/exec_kernel.hpp"

#include <unistd.h>

#include <cstdio>
#include <functional>

using namespace cudasim;
using namespace cudasim::testing;

namespace {

// What `f` writes to `stream`.
std::string captured(std::FILE* stream, const std::function<void()>& f) {
  std::fflush(stream);
  std::FILE* file = std::tmpfile();
  REQUIRE(file != nullptr);
  const int kept = dup(fileno(stream));
  dup2(fileno(file), fileno(stream));
  f();
  std::fflush(stream);
  dup2(kept, fileno(stream));
  close(kept);
  std::rewind(file);
  std::string text;
  char part[256];
  for (std::size_t n = 0; (n = std::fread(part, 1, sizeof part, file)) > 0;) text.append(part, n);
  std::fclose(file);
  return text;
}

std::string bytes_of(const std::string& text) {
  std::string list;
  for (const char c : text) list += std::to_string(static_cast<unsigned char>(c)) + ", ";
  return list + "0";
}

const char kRuntime[] = R"(
.extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 v);
.extern .func (.param .b64 r) malloc(.param .b64 n);
.extern .func free(.param .b64 p);
.extern .func __assertfail(.param .b64 m, .param .b64 f, .param .b32 l, .param .b64 n, .param .b64 s);
)";

// Prints with the values that `stores` puts into %buffer.
std::string printed(const std::string& format, const std::string& stores, u32 threads = 1, u32* result = nullptr) {
  Module module(kernel(R"(
    .local .align 8 .b8 values[256];
    .reg .u64 %buffer;
    mov.u64 %buffer, values;
    cvta.local.u64 %buffer, %buffer;
    )" + stores + R"(
    mov.u64 %a1, format;
    cvta.global.u64 %a1, %a1;
    { .param .b64 f; .param .b64 v; .param .b32 r;
      st.param.b64 [f], %a1;
      st.param.b64 [v], %buffer;
      call (r), vprintf, (f, v);
      ld.param.b32 %r1, [r]; }
    st.global.u32 [%slot], %r1;)",
                       kRuntime + std::string(".global .align 1 .b8 format[] = {") + bytes_of(format) + "};\n" +
                           ".global .align 1 .b8 word[] = {" + bytes_of("word") + "};\n"));
  Buffer<u32> out(threads);
  const std::string text = captured(stdout, [&] {
    const auto fault = module.run("k", {1, 1, 1}, {threads, 1, 1}, out.address());
    if (fault) UNSCOPED_INFO(fault->report);
    CHECK(!fault.has_value());
  });
  if (result != nullptr) *result = out[0];
  return text;
}

}  // namespace

TEST_CASE("printf formats integers, floats, characters, strings and pointers as C does") {
  u32 result = 0;
  const std::string text = printed("%d|%5u|%-4x|%lld|%c|%s|%.3f|%g|%%|%p|%*d\n", R"(
    st.u32 [%buffer], -7;
    st.u32 [%buffer+4], 42;
    st.u32 [%buffer+8], 255;
    st.u64 [%buffer+16], -5000000000;
    st.u32 [%buffer+24], 65;
    mov.u64 %a2, word;
    cvta.global.u64 %a2, %a2;
    st.u64 [%buffer+32], %a2;
    st.u64 [%buffer+40], 0x3ff4000000000000;
    st.u64 [%buffer+48], 0x4059000000000000;
    st.u64 [%buffer+56], 0x1234;
    st.u32 [%buffer+64], 6;
    st.u32 [%buffer+68], 99;)",
                                   1, &result);
  CHECK(text == "-7|   42|ff  |-5000000000|A|word|1.250|100|%|0x1234|    99\n");
  CHECK(result == 11);
}

TEST_CASE("printf prints a line for each thread, in order within a warp") {
  CHECK(printed("thread %d\n", "st.u32 [%buffer], %t;", 3) == "thread 0\nthread 1\nthread 2\n");
}

TEST_CASE("printf takes 32 arguments and prints the conversions beyond as they are") {
  std::string format, expected, stores;
  for (u32 i = 0; i < 34; ++i) {
    format += "%d,";
    expected += i < 32 ? std::to_string(i) + "," : "%d,";
    stores += "st.u32 [%buffer+" + std::to_string(4 * i) + "], " + std::to_string(i) + ";\n";
  }
  CHECK(printed(format, stores) == expected);
}

// As an H200 (driver 580) does, if it is alone in its format: what follows depends on registers then.
TEST_CASE("printf prints what is no conversion of a device's as it is written") {
  for (const char* format : {"%y %", "%zu", "%td", "%jd", "%Lf", "%qd", "%.*f", "%*.*d", "%.*s", "%", "%-5"}) {
    CAPTURE(format);
    CHECK(printed(format, "st.u64 [%buffer], 77;") == format);
  }
  CHECK(printed("%zu, then %d", "st.u32 [%buffer], 5;") == "%zu, then 5");
}

TEST_CASE("printf knows the sizes h, l and ll, and a percent sign with a width") {
  CHECK(printed("%hd|%5%|%lf|%hx",
                "st.u32 [%buffer], 0x12345678; st.u64 [%buffer+8], 0x3ff8000000000000; st.u32 "
                "[%buffer+16], -7;") == "22136|%|1.500000|fff9");
}

TEST_CASE("A printf whose string is in freed memory is a fault") {
  Module module(kernel(R"({ .param .b64 f; .param .b64 v; .param .b32 r;
      st.param.b64 [f], 64; st.param.b64 [v], 0; call (r), vprintf, (f, v); })",
                       kRuntime));
  Buffer<u32> out(1);
  const auto fault = module.run("k", {1, 1, 1}, {1, 1, 1}, out.address());
  REQUIRE(fault.has_value());
  CHECK(fault->kind == FaultKind::illegal_address);
}

TEST_CASE("A failed assertion prints the driver's line for each thread of the block, also if a text lacks its end") {
  const std::string message = GENERATE(bytes_of("x==0"), std::string("120, 61, 61, 48"));
  Module module(kernel(R"(
    and.b32 %r1, %t, 31;
    setp.ne.u32 %p1, %r1, 2;
    @%p1 bra FINE;
    mov.u64 %a1, message; cvta.global.u64 %a1, %a1;
    mov.u64 %a2, file; cvta.global.u64 %a2, %a2;
    mov.u64 %a3, function; cvta.global.u64 %a3, %a3;
    { .param .b64 m; .param .b64 f; .param .b32 l; .param .b64 n; .param .b64 s;
      st.param.b64 [m], %a1; st.param.b64 [f], %a2; st.param.b32 [l], 10; st.param.b64 [n], %a3; st.param.b64 [s], 1;
      call __assertfail, (m, f, l, n, s); }
  FINE:)",
                       kRuntime + std::string(".global .align 1 .b8 message[] = {") + message +
                           "};\n.global .align 1 .b8 file[] = {" + bytes_of("k.cu") +
                           "};\n.global .align 1 .b8 function[] = {" + bytes_of("void assert_k(int)") + "};\n"));
  Buffer<u32> out(1);
  std::optional<Fault> fault;
  captured(stderr, [&] { fault = module.run("k", {1, 1, 1}, {40, 1, 1}, out.address()); });
  REQUIRE(fault.has_value());
  CHECK(fault->kind == FaultKind::assertion);
  CHECK(fault->report ==
        "k.cu:10: void assert_k(int): block: [0,0,0], thread: [2,0,0] Assertion `x==0` failed.\n"
        "k.cu:10: void assert_k(int): block: [0,0,0], thread: [34,0,0] Assertion `x==0` failed.\n");
}

namespace {
const char kMalloc[] = R"(
    { .param .b64 n; .param .b64 r; st.param.b64 [n], %a1; call (r), malloc, (n); ld.param.b64 %a2, [r]; })";
const char kFree[] = "{ .param .b64 p; st.param.b64 [p], %a2; call free, (p); }\n";
}  // namespace

TEST_CASE("malloc in a kernel gives each thread memory of its own, free takes it back") {
  Module module(kernel(std::string("mov.u64 %a1, 400;") + kMalloc + "st.u32 [%a2+396], %t; ld.u32 %r1, [%a2+396];" +
                           "st.global.u32 [%slot], %r1;" + kFree,
                       kRuntime));
  Buffer<u32> out(64);
  REQUIRE(!module.run("k", {200, 1, 1}, {64, 1, 1}, out.address()));
  for (u32 i = 0; i < 64; ++i) CHECK(out[i] == i);
}

TEST_CASE("malloc returns null when the heap's limit is reached") {
  Module module(kernel(std::string("mov.u64 %a1, 60000;") + kMalloc +
                           "setp.eq.u64 %p1, %a2, 0; selp.u32 %r1, 1, 0, %p1; st.global.u32 [%slot], %r1;" + kFree,
                       kRuntime));
  Buffer<u32> out(4);
  Launch launch = module.launch("k", {1, 1, 1}, {4, 1, 1}, out.address());
  launch.heap_bytes = 200000;
  REQUIRE(!run(launch));
  CHECK(out.all() == std::vector<u32>{0, 0, 0, 1});
}

TEST_CASE("Memory that a kernel has freed is out of its reach at once") {
  Module module(
      kernel(std::string("mov.u64 %a1, 40;") + kMalloc + "st.u32 [%a2], %t;" + kFree + "st.u32 [%a2], %t;", kRuntime));
  Buffer<u32> out(1);
  const auto fault = module.run("k", {1, 1, 1}, {1, 1, 1}, out.address());
  REQUIRE(fault.has_value());
  CHECK(fault->where.find("(malloc in a kernel, freed by free)") != std::string::npos);
}

TEST_CASE("free of an address that malloc did not return is a fault") {
  Module module(kernel(std::string("mov.u64 %a2, %out;") + kFree, kRuntime));
  Buffer<u32> out(1);
  const auto fault = module.run("k", {1, 1, 1}, {1, 1, 1}, out.address());
  REQUIRE(fault.has_value());
  CHECK(fault->what.find("free of an address that malloc did not return: ") == 0);
}
