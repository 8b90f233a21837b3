// The older ways to name a texture in PTX: samplers of their own, and references that the host gives their arrays.
#include "tests/catch.hpp"
#include "tests/instructions/texture.hpp"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"  // of references; objects took their place

namespace {

using namespace instructions;

// A module with one kernel, k.
struct Program {
  cu::Module module;
  CUfunction function = nullptr;
  explicit Program(const std::string& text) {
    std::string log;
    module.handle = load(text, log);
    REQUIRE(log == "");
    CU_CHECK(cuModuleGetFunction(&function, module.handle, "k"));
  }
  template <class... Parameters>
  void run(Parameters... values) const {
    void* parameters[] = {&values...};
    CU_CHECK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, parameters, nullptr));
  }
};

}  // namespace

TEST_CASE("in independent mode a sampler of its own says how a texture is read") {
  const Device device;
  if (!device.simulated()) SKIP_TEST("a GPU's driver does not load what has a .samplerref");
  const Filled f(kGeometries[0], 1);
  const Texture texture(f.array.resource(), sampling(1, {CU_TR_ADDRESS_MODE_CLAMP, false, false}));
  std::string text = header(63, 75);
  text.replace(text.find("sm_75"), 5, "sm_75, texmode_independent");
  const Program program(
      text +
      ".global .samplerref between = {addr_mode_0 = clamp_to_border, filter_mode = linear, "
      "force_unnormalized_coords = 1};\n"
      ".visible .entry k(.param .u64 object, .param .u64 out) {\n.reg .b64 %t, %out;\n.reg .f32 %d<4>;\n"
      "ld.param.u64 %t, [object];\nld.param.u64 %out, [out];\n"
      "tex.1d.v4.f32.f32 {%d0, %d1, %d2, %d3}, [%t, between, {0f40000000}];\nst.global.f32 [%out], %d0;\n"
      "tex.1d.v4.f32.f32 {%d0, %d1, %d2, %d3}, [%t, between, {0f00000000}];\nst.global.f32 [%out+4], %d0;\n"
      ".reg .b32 %r<4>;\ntxq.filter_mode.b32 %r0, [between];\ntxq.addr_mode_0.b32 %r1, [between];\n"
      "txq.force_unnormalized_coords.b32 %r2, [between];\ntxq.addr_mode_0.b32 %r3, [%t];\n"
      "st.global.v4.b32 [%out+16], {%r0, %r1, %r2, %r3};\nret;\n}\n");
  const cu::Memory out(32);
  program.run(texture.handle, out.address);
  float got[2] = {};
  u32 told[4] = {};
  CU_CHECK(cuMemcpyDtoH(got, out.address, 8));
  CU_CHECK(cuMemcpyDtoH(told, out.address + 16, 16));
  CHECK(told[0] == 1);
  CHECK(told[1] == CU_TR_ADDRESS_MODE_BORDER);
  CHECK(told[2] == 1);
  CHECK(told[3] == CU_TR_ADDRESS_MODE_CLAMP);
  CHECK(got[0] == (f.at(1) + f.at(2)) / 2);
  CHECK(got[1] == f.at(0) / 2);
}

TEST_CASE("how a texture reference samples, the host says and not its initialiser") {
  const Device device;
  const Program program(header(63, 75) +
                        ".global .texref plain;\n.global .surfref target = {width = 7, memory_layout = 0};\n"
                        ".global .texref image = {width = 7, channel_order = 0, addr_mode_0 = mirror, addr_mode_1 = "
                        "clamp_to_border,\n  filter_mode = linear, normalized_coords = 1};\n"
                        ".visible .entry k(.param .f32 at, .param .u64 out) {\n.reg .f32 %x, %d<4>;\n.reg .b32 %w;\n"
                        ".reg .b64 %out;\nld.param.f32 %x, [at];\nld.param.u64 %out, [out];\n"
                        "tex.1d.v4.f32.f32 {%d0, %d1, %d2, %d3}, [image, {%x}];\nst.global.f32 [%out], %d0;\n"
                        "txq.width.b32 %w, [image];\nst.global.b32 [%out+4], %w;\nret;\n}\n");
  CUtexref plain = nullptr, image = nullptr;
  CU_CHECK(cuModuleGetTexRef(&plain, program.module.handle, "plain"));
  CU_CHECK(cuModuleGetTexRef(&image, program.module.handle, "image"));
  const auto mode = [](CUtexref reference, int direction) {
    CUaddress_mode found = CU_TR_ADDRESS_MODE_WRAP;
    CU_CHECK(cuTexRefGetAddressMode(&found, reference, direction));
    return found;
  };
  for (int direction = 0; direction < 3; ++direction) CHECK(mode(image, direction) == mode(plain, direction));
  CHECK(mode(plain, 0) == CU_TR_ADDRESS_MODE_CLAMP);
  CUfilter_mode filter = CU_TR_FILTER_MODE_LINEAR;
  CU_CHECK(cuTexRefGetFilterMode(&filter, image));
  CHECK(filter == CU_TR_FILTER_MODE_POINT);
  unsigned flags = 0;
  CU_CHECK(cuTexRefGetFlags(&flags, image));
  CHECK((flags & CU_TRSF_NORMALIZED_COORDINATES) == 0);
  const Filled texels(kGeometries[0], 1);
  CU_CHECK(cuTexRefSetArray(image, texels.array, CU_TRSA_OVERRIDE_FORMAT));
  const cu::Memory out(8);
  const auto read = [&](float at) {
    program.run(at, out.address);
    float got = 0;
    CU_CHECK(cuMemcpyDtoH(&got, out.address, 4));
    return got;
  };
  CHECK(read(4.0f / kWidth) == texels.at(0));
  CHECK(read(1 + 1.5f / kWidth) == texels.at(1));
  u32 width = 0;
  CU_CHECK(cuMemcpyDtoH(&width, out.address + 4, 4));
  CHECK(width == kWidth);
}

TEST_CASE("texture and surface references are given their arrays by the host, launch by launch") {
  const Device device;
  const Program program(
      header(63, 75) +
      ".global .texref image;\n.global .surfref target;\n"
      ".visible .entry k(.param .f32 at) {\n.reg .f32 %x, %d<4>;\n.reg .b32 %s;\nld.param.f32 %x, [at];\n"
      "mov.u32 %s, 4;\ntex.1d.v4.f32.f32 {%d0, %d1, %d2, %d3}, [image, {%x}];\n"
      "sust.b.1d.b32.trap [target, {%s}], %d0;\nret;\n}\n");
  CUtexref image = nullptr, again = nullptr;
  CUsurfref target = nullptr;
  REQUIRE(cuModuleGetTexRef(&image, program.module.handle, "image") == CUDA_SUCCESS);
  REQUIRE(cuModuleGetSurfRef(&target, program.module.handle, "target") == CUDA_SUCCESS);
  CHECK(cuModuleGetTexRef(&again, program.module.handle, "target") == CUDA_ERROR_NOT_FOUND);
  CHECK(cuModuleGetTexRef(&again, program.module.handle, "image") == CUDA_SUCCESS);
  CHECK(again == image);
  const Filled one(kGeometries[0], 1), two(kGeometries[0], 1, CUDA_ARRAY3D_SURFACE_LDST);
  std::vector<float> halves(kWidth);
  for (u32 k = 0; k < kWidth; ++k) halves[k] = one.at(k) / 2;
  CU_CHECK(cuMemcpyHtoA(two.array, 0, halves.data(), kWidth * 4));
  CHECK(cuTexRefSetArray(image, one.array, CU_TRSA_OVERRIDE_FORMAT) == CUDA_SUCCESS);
  CHECK(cuSurfRefSetArray(target, two.array, 0) == CUDA_SUCCESS);
  CUarray_format format = CU_AD_FORMAT_HALF;
  int channels = 0;
  CHECK(cuTexRefGetFormat(&format, &channels, image) == CUDA_SUCCESS);
  CHECK(format == CU_AD_FORMAT_FLOAT);
  CHECK(channels == 1);
  const auto written = [&](float at) {
    program.run(at);
    float got[2] = {};
    CU_CHECK(cuMemcpyAtoH(got, two.array, 0, 8));
    return got[1];
  };
  CHECK(written(3.5f) == one.at(3));
  CHECK(cuTexRefSetFilterMode(image, CU_TR_FILTER_MODE_LINEAR) == CUDA_SUCCESS);
  CHECK(cuTexRefSetAddressMode(image, 0, CU_TR_ADDRESS_MODE_CLAMP) == CUDA_SUCCESS);
  CHECK(written(4.0f) == (one.at(3) + one.at(4)) / 2);
  CHECK(cuTexRefSetArray(image, two.array, CU_TRSA_OVERRIDE_FORMAT) == CUDA_SUCCESS);
  CHECK(written(5.5f) == one.at(5) / 2);
  CUarray bound = nullptr;
  CHECK(cuTexRefGetArray(&bound, image) == CUDA_SUCCESS);
  CHECK(bound == two.array);
  const cu::Memory memory(4096);
  std::size_t offset = 1;
  CHECK(cuTexRefSetAddress(&offset, image, memory.address + 16, 256) == CUDA_SUCCESS);
  CHECK(offset == 16);
  CHECK(cuTexRefSetAddress(nullptr, image, memory.address + 16, 256) == CUDA_ERROR_INVALID_VALUE);
}
