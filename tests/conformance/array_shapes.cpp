// Which arrays there are, what textures and surfaces can be made of them, and which views of them.
#include "tests/conformance/recorded.hpp"

#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

namespace {

constexpr CUarray_format kFormats[] = {
    CU_AD_FORMAT_UNSIGNED_INT8, CU_AD_FORMAT_UNSIGNED_INT16, CU_AD_FORMAT_UNSIGNED_INT32, CU_AD_FORMAT_SIGNED_INT8,
    CU_AD_FORMAT_SIGNED_INT16,  CU_AD_FORMAT_SIGNED_INT32,   CU_AD_FORMAT_HALF,           CU_AD_FORMAT_FLOAT};

CUresult make(CUarray* array, std::size_t width, std::size_t height, std::size_t depth, unsigned flags = 0,
              CUarray_format format = CU_AD_FORMAT_FLOAT, unsigned channels = 1) {
  const CUDA_ARRAY3D_DESCRIPTOR shape{width, height, depth, format, channels, flags};
  return cuArray3DCreate(array, &shape);
}

std::string described(CUarray array) {
  CUDA_ARRAY3D_DESCRIPTOR d{};
  const CUresult result = cuArray3DGetDescriptor(&d, array);
  if (result != CUDA_SUCCESS) return cu::name(result);
  std::ostringstream text;
  text << d.Width << " x " << d.Height << " x " << d.Depth << ", format " << d.Format << ", channels " << d.NumChannels
       << ", flags " << d.Flags;
  return text.str();
}

// Makes an array, says whether it could be made and what it says of itself, and ends it.
void say_array(std::size_t width, std::size_t height, std::size_t depth, unsigned flags) {
  CUarray array = nullptr;
  std::ostringstream name;
  name << width << " x " << height << " x " << depth << ", flags " << flags;
  const CUresult result = make(&array, width, height, depth, flags);
  SAY_AS(name.str(), result);
  if (result != CUDA_SUCCESS) return;
  SHOW_AS("it is", described(array));
  CU_CHECK(cuArrayDestroy(array));
}

}  // namespace

RECORDED_CASE("Arrays have sizes that the device has room for", "[arrays]") {
  conformance::context();
  say_array(0, 0, 0, 0);
  say_array(1, 0, 0, 0);
  say_array(0, 1, 0, 0);
  say_array(0, 0, 1, 0);
  say_array(4, 0, 4, 0);
  say_array(1, 1, 1, 0);
  say_array(4, 4, 1, 0);
  say_array(131072, 0, 0, 0);
  say_array(131073, 0, 0, 0);
  say_array(131072, 8, 0, 0);
  say_array(131073, 1, 0, 0);
  say_array(1, 65536, 0, 0);
  say_array(1, 65537, 0, 0);
  say_array(16384, 1, 1, 0);
  say_array(16385, 1, 1, 0);
  say_array(1, 16384, 1, 0);
  say_array(1, 16385, 1, 0);
  say_array(1, 1, 16384, 0);
  say_array(1, 1, 16385, 0);
  say_array(8192, 1, 16385, 0);
  say_array(8193, 1, 16385, 0);
  say_array(1, 8192, 16385, 0);
  say_array(1, 8193, 16385, 0);
  say_array(1, 1, 32768, 0);
  say_array(1, 1, 32769, 0);
  say_array(std::size_t{1} << 40, 0, 0, 0);
  say_array(~std::size_t{0}, 1, 0, 0);
}

RECORDED_CASE("Layers, cubes and gathers have shapes of their own", "[arrays]") {
  conformance::context();
  constexpr unsigned kLayered = CUDA_ARRAY3D_LAYERED, kCube = CUDA_ARRAY3D_CUBEMAP,
                     kSurface = CUDA_ARRAY3D_SURFACE_LDST, kGather = CUDA_ARRAY3D_TEXTURE_GATHER;
  for (const std::size_t depth : {0, 1, 5, 6, 7, 12, 2048, 2049}) {
    say_array(8, 8, depth, kLayered);
    say_array(8, 0, depth, kLayered);
    if (depth < 100) say_array(8, 8, depth, kCube);
    if (depth < 100) say_array(8, 8, depth, kCube | kLayered);
  }
  say_array(8, 4, 6, kCube);
  say_array(8, 4, 6, kCube | kLayered);
  say_array(8, 0, 6, kCube);
  say_array(8, 8, 2046, kCube | kLayered);
  say_array(8, 8, 2052, kCube | kLayered);
  say_array(32768, 0, 2, kLayered);
  say_array(32769, 0, 2, kLayered);
  say_array(32768, 4, 2, kLayered);
  say_array(32769, 4, 2, kLayered);
  say_array(4, 32769, 2, kLayered);
  for (const unsigned flags : {kSurface, kGather, kSurface | kGather}) {
    say_array(8, 0, 0, flags);
    say_array(8, 8, 0, flags);
    say_array(8, 8, 8, flags);
    say_array(8, 8, 6, flags | kCube);
    say_array(8, 8, 8, flags | kLayered);
    say_array(8, 32768, 0, flags);
    say_array(8, 32769, 0, flags);
    say_array(32768, 8, 0, flags);
    say_array(32769, 8, 0, flags);
    say_array(131072, 8, 0, flags);
  }
  for (const unsigned flag : {0x10u, 0x200u, 0x400u, 0x40000000u}) {
    say_array(8, 8, 0, flag);
    say_array(8, 0, 0, flag);
  }
}

RECORDED_CASE("Depth textures are single floats or shorts", "[arrays]") {
  conformance::context();
  for (const CUarray_format format : kFormats) {
    for (const unsigned channels : {0u, 1u, 2u, 3u, 4u, 5u}) {
      CUarray array = nullptr;
      const std::string of = "format " + std::to_string(format) + ", channels " + std::to_string(channels);
      SAY_AS(of, make(&array, 8, 8, 0, 0, format, channels));
      if (channels == 1 || channels == 4)
        SAY_AS(of + ", depth", make(&array, 8, 8, 0, CUDA_ARRAY3D_DEPTH_TEXTURE, format, channels));
      if (channels == 1 || channels == 2)
        SAY_AS(of + ", gather", make(&array, 8, 8, 0, CUDA_ARRAY3D_TEXTURE_GATHER, format, channels));
    }
  }
  for (const int format : {0, 4, 5, 6, 7, 11, 12, 17, 24, 31, 33, 34, 64, 255, -1}) {
    CUarray array = nullptr;
    SAY_AS("format " + std::to_string(format), make(&array, 8, 8, 0, 0, static_cast<CUarray_format>(format), 1));
  }
}

RECORDED_CASE("An array describes itself, in two dimensions or three", "[arrays]") {
  const auto F = conformance::context();
  CUarray line = nullptr, plane = nullptr, box = nullptr, layers = nullptr, none = nullptr;
  CU_CHECK(make(&line, 8, 0, 0));
  CU_CHECK(make(&plane, 8, 4, 0, CUDA_ARRAY3D_SURFACE_LDST, CU_AD_FORMAT_HALF, 2));
  CU_CHECK(make(&box, 8, 4, 2));
  CU_CHECK(make(&layers, 8, 4, 3, CUDA_ARRAY3D_LAYERED));
  CUDA_ARRAY_DESCRIPTOR flat{};
  CUDA_ARRAY3D_DESCRIPTOR deep{};
  CUDA_ARRAY_MEMORY_REQUIREMENTS needs{};
  struct {
    const char* name;
    CUarray array;
  } const all[] = {{"line", line}, {"plane", plane}, {"box", box}, {"layers", layers}, {"null", nullptr}};
  for (const auto& [name, array] : all) {
    flat = {};
    SAY_AS(std::string("cuArrayGetDescriptor, ") + name, cuArrayGetDescriptor(&flat, array));
    SHOW_AS("flat", flat.Width << " " << flat.Height << " " << flat.Format << " " << flat.NumChannels);
    SAY_AS(std::string("cuArray3DGetDescriptor, ") + name, cuArray3DGetDescriptor(&deep, array));
    if (array != nullptr) SHOW_AS("deep", described(array));
    SAY_AS(std::string("cuArrayGetMemoryRequirements, ") + name, cuArrayGetMemoryRequirements(&needs, array, F.dev));
    CUarray level = nullptr;
    SAY_AS(std::string("cuArrayGetPlane 0, ") + name, cuArrayGetPlane(&level, array, 0));
    SAY_AS(std::string("cuArrayGetPlane 1, ") + name, cuArrayGetPlane(&level, array, 1));
  }
  SAY(cuArrayGetDescriptor(nullptr, plane));
  SAY(cuArray3DGetDescriptor(nullptr, plane));
  SAY(cuArrayGetMemoryRequirements(nullptr, plane, F.dev));
  SAY(cuArrayGetMemoryRequirements(&needs, plane, 99));
  SAY(cuArrayCreate(&none, nullptr));
  SAY(cuArrayCreate(nullptr, &flat));
  SAY(cuArray3DCreate(&none, nullptr));
  SAY(cuArray3DCreate(nullptr, &deep));
  for (const auto& [width, height] :
       {std::pair{8, 0}, {8, 8}, {0, 8}, {131072, 8}, {131073, 1}, {131072, 0}, {131073, 0}}) {
    const CUDA_ARRAY_DESCRIPTOR d{std::size_t(width), std::size_t(height), CU_AD_FORMAT_UNSIGNED_INT8, 1};
    SAY_AS("cuArrayCreate " + std::to_string(width) + " x " + std::to_string(height), cuArrayCreate(&none, &d));
    if (none != nullptr) cuArrayDestroy(none);
    none = nullptr;
  }
  SAY(cuArrayDestroy(nullptr));
  SAY(cuArrayDestroy(line));
}

RECORDED_CASE("Mipmapped arrays have as many levels as halvings", "[arrays]") {
  conformance::context();
  const auto mip = [](std::size_t width, std::size_t height, std::size_t depth, unsigned flags, unsigned levels) {
    const CUDA_ARRAY3D_DESCRIPTOR shape{width, height, depth, CU_AD_FORMAT_FLOAT, 1, flags};
    CUmipmappedArray mipmap = nullptr;
    std::ostringstream name;
    name << width << " x " << height << " x " << depth << ", flags " << flags << ", levels " << levels;
    const CUresult result = cuMipmappedArrayCreate(&mipmap, &shape, levels);
    SAY_AS(name.str(), result);
    if (result != CUDA_SUCCESS) return;
    unsigned found = 0;
    CUarray level = nullptr;
    std::string last;
    while (found < 40 && cuMipmappedArrayGetLevel(&level, mipmap, found) == CUDA_SUCCESS)
      last = described(level), ++found;
    SHOW_AS("levels, the last one", found << ", " << last);
    CU_CHECK(cuMipmappedArrayDestroy(mipmap));
  };
  mip(16, 0, 0, 0, 3);
  mip(16, 0, 0, 0, 99);
  mip(16, 8, 0, 0, 0);
  mip(16, 8, 0, 0, 5);
  mip(16, 8, 0, 0, 6);
  mip(16, 8, 4, 0, 5);
  mip(5, 3, 2, 0, 99);
  mip(16, 8, 4, CUDA_ARRAY3D_LAYERED, 99);
  mip(16, 0, 4, CUDA_ARRAY3D_LAYERED, 99);
  mip(16, 16, 6, CUDA_ARRAY3D_CUBEMAP, 99);
  mip(16, 16, 12, CUDA_ARRAY3D_CUBEMAP | CUDA_ARRAY3D_LAYERED, 99);
  mip(16, 8, 6, CUDA_ARRAY3D_CUBEMAP, 2);
  mip(16, 8, 0, CUDA_ARRAY3D_SURFACE_LDST, 2);
  mip(16, 8, 0, CUDA_ARRAY3D_TEXTURE_GATHER, 2);
  mip(16384, 0, 0, 0, 2);
  mip(16385, 0, 0, 0, 2);
  mip(32768, 8, 0, 0, 2);
  mip(32769, 8, 0, 0, 2);
  mip(0, 8, 0, 0, 2);
  mip(8, 0, 8, 0, 2);
  CUmipmappedArray mipmap = nullptr;
  CUarray level = nullptr;
  const CUDA_ARRAY3D_DESCRIPTOR shape{16, 8, 0, CU_AD_FORMAT_FLOAT, 1, 0};
  SAY(cuMipmappedArrayCreate(nullptr, &shape, 2));
  SAY(cuMipmappedArrayCreate(&mipmap, nullptr, 2));
  SAY(cuMipmappedArrayCreate(&mipmap, &shape, 2));
  SAY(cuMipmappedArrayGetLevel(nullptr, mipmap, 0));
  SAY(cuMipmappedArrayGetLevel(&level, nullptr, 0));
  SAY(cuMipmappedArrayGetLevel(&level, mipmap, 2));
  SAY(cuMipmappedArrayDestroy(nullptr));
}

namespace {

struct Scene {
  CUarray line = nullptr, plane = nullptr, box = nullptr, layers = nullptr, cube = nullptr, surface = nullptr,
          bytes = nullptr;
  CUmipmappedArray mipmap = nullptr;
  CUdeviceptr p = 0;
  Scene() {
    conformance::context();
    CU_CHECK(make(&line, 8, 0, 0));
    CU_CHECK(make(&plane, 8, 8, 0));
    CU_CHECK(make(&box, 8, 8, 8));
    CU_CHECK(make(&layers, 8, 8, 4, CUDA_ARRAY3D_LAYERED));
    CU_CHECK(make(&cube, 8, 8, 6, CUDA_ARRAY3D_CUBEMAP));
    CU_CHECK(make(&surface, 8, 8, 0, CUDA_ARRAY3D_SURFACE_LDST));
    CU_CHECK(make(&bytes, 8, 8, 0, 0, CU_AD_FORMAT_UNSIGNED_INT8, 4));
    const CUDA_ARRAY3D_DESCRIPTOR shape{16, 16, 0, CU_AD_FORMAT_FLOAT, 1, 0};
    CU_CHECK(cuMipmappedArrayCreate(&mipmap, &shape, 5));
    CU_CHECK(cuMemAlloc(&p, 65536));
  }
};

CUDA_RESOURCE_DESC of_array(CUarray array) {
  CUDA_RESOURCE_DESC what{};
  what.resType = CU_RESOURCE_TYPE_ARRAY;
  what.res.array.hArray = array;
  return what;
}
CUDA_RESOURCE_DESC of_mipmap(CUmipmappedArray mipmap) {
  CUDA_RESOURCE_DESC what{};
  what.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
  what.res.mipmap.hMipmappedArray = mipmap;
  return what;
}
CUDA_RESOURCE_DESC of_row(CUdeviceptr p, CUarray_format format, unsigned channels, std::size_t bytes) {
  CUDA_RESOURCE_DESC what{};
  what.resType = CU_RESOURCE_TYPE_LINEAR;
  what.res.linear = {p, format, channels, bytes};
  return what;
}
CUDA_RESOURCE_DESC of_rows(CUdeviceptr p, unsigned channels, std::size_t width, std::size_t height, std::size_t pitch) {
  CUDA_RESOURCE_DESC what{};
  what.resType = CU_RESOURCE_TYPE_PITCH2D;
  what.res.pitch2D = {p, CU_AD_FORMAT_FLOAT, channels, width, height, pitch};
  return what;
}

CUresult texture(const CUDA_RESOURCE_DESC& what, const CUDA_TEXTURE_DESC& how = {},
                 const CUDA_RESOURCE_VIEW_DESC* view = nullptr) {
  CUtexObject object = 0;
  const CUresult result = cuTexObjectCreate(&object, &what, &how, view);
  if (result == CUDA_SUCCESS) CU_CHECK(cuTexObjectDestroy(object));
  return result;
}
CUresult surface(const CUDA_RESOURCE_DESC& what) {
  CUsurfObject object = 0;
  const CUresult result = cuSurfObjectCreate(&object, &what);
  if (result == CUDA_SUCCESS) CU_CHECK(cuSurfObjectDestroy(object));
  return result;
}

}  // namespace

RECORDED_CASE("Textures of linear memory begin and end where they may", "[arrays]") {
  const Scene S;
  for (const unsigned offset : {0u, 4u, 16u, 32u, 64u, 256u, 512u}) {
    const std::string at = " at " + std::to_string(offset);
    SAY_AS("row" + at, texture(of_row(S.p + offset, CU_AD_FORMAT_FLOAT, 1, 64)));
    SAY_AS("rows" + at, texture(of_rows(S.p + offset, 1, 8, 8, 64)));
  }
  for (const std::size_t bytes :
       {std::size_t{0}, std::size_t{1}, std::size_t{3}, std::size_t{65536}, std::size_t{65540}, std::size_t{1} << 29,
        (std::size_t{1} << 29) + 4, std::size_t{1} << 40})
    SAY_AS("row of " + std::to_string(bytes), texture(of_row(S.p, CU_AD_FORMAT_FLOAT, 1, bytes)));
  for (const unsigned channels : {0u, 1u, 2u, 3u, 4u, 8u}) {
    SAY_AS("row of channels " + std::to_string(channels), texture(of_row(S.p, CU_AD_FORMAT_FLOAT, channels, 64)));
    SAY_AS("rows of channels " + std::to_string(channels), texture(of_rows(S.p, channels, 8, 8, 256)));
  }
  for (const int format : {0, 1, 2, 3, 8, 9, 10, 16, 32, 64, 176, 192, 255})
    SAY_AS("row of format " + std::to_string(format), texture(of_row(S.p, static_cast<CUarray_format>(format), 1, 64)));
  for (const std::size_t pitch : {0, 16, 28, 31, 32, 33, 36, 48, 64, 96, 4096})
    SAY_AS("rows of pitch " + std::to_string(pitch), texture(of_rows(S.p, 1, 8, 8, pitch)));
  SAY(texture(of_rows(S.p, 1, 131072, 1, 131072 * 4)));
  SAY(texture(of_rows(S.p, 1, 131073, 1, 131104 * 4)));
  SAY(texture(of_rows(S.p, 1, 8, 65000, 32)));
  SAY(texture(of_rows(S.p, 1, 8, 65001, 32)));
  SAY(texture(of_rows(S.p, 1, 8, 2048, 32)));
  SAY(texture(of_rows(S.p, 1, 8, 2049, 32)));
  SAY(texture(of_row(0, CU_AD_FORMAT_FLOAT, 1, 64)));
  SAY(texture(of_rows(0, 1, 8, 8, 64)));
  SAY(texture(of_row(S.p + 65536, CU_AD_FORMAT_FLOAT, 1, 64)));
  CUDA_RESOURCE_DESC what = of_row(S.p, CU_AD_FORMAT_FLOAT, 1, 64);
  what.flags = 1;
  SAY(texture(what));
  what.resType = static_cast<CUresourcetype>(9);
  SAY(texture(what));
  SAY(surface(of_row(S.p, CU_AD_FORMAT_FLOAT, 1, 64)));
  SAY(surface(of_rows(S.p, 1, 8, 8, 64)));
}

// A table: one row after the other.
RECORDED_CASE("A texture's description is judged by what it reads", "[arrays]") {
  const Scene S;
  struct {
    const char* name;
    CUDA_RESOURCE_DESC what;
  } const all[] = {{"line", of_array(S.line)},
                   {"plane", of_array(S.plane)},
                   {"box", of_array(S.box)},
                   {"layers", of_array(S.layers)},
                   {"cube", of_array(S.cube)},
                   {"bytes", of_array(S.bytes)},
                   {"surface", of_array(S.surface)},
                   {"mipmap", of_mipmap(S.mipmap)},
                   {"row", of_row(S.p, CU_AD_FORMAT_FLOAT, 1, 64)},
                   {"rows", of_rows(S.p, 1, 8, 8, 64)},
                   {"row of ints", of_row(S.p, CU_AD_FORMAT_SIGNED_INT32, 1, 64)},
                   {"row of bytes", of_row(S.p, CU_AD_FORMAT_UNSIGNED_INT8, 1, 64)}};
  for (const auto& [name, what] : all) {
    const std::string of = std::string(", ") + name;
    CUDA_TEXTURE_DESC how{};
    SAY_AS("plain" + of, texture(what, how));
    for (const unsigned flag : {1u, 2u, 4u, 8u, 16u, 32u, 64u, 128u, 0x80000000u}) {
      how.flags = flag;
      SAY_AS("flag " + std::to_string(flag) + of, texture(what, how));
    }
    how = {};
    for (const int mode : {1, 2, 3, 4, -1}) {
      for (CUaddress_mode& one : how.addressMode) one = static_cast<CUaddress_mode>(mode);
      how.flags = 0;
      SAY_AS("address mode " + std::to_string(mode) + of, texture(what, how));
      how.flags = CU_TRSF_NORMALIZED_COORDINATES;
      SAY_AS("address mode " + std::to_string(mode) + ", normalized" + of, texture(what, how));
    }
    how = {};
    how.filterMode = CU_TR_FILTER_MODE_LINEAR;
    SAY_AS("linear" + of, texture(what, how));
    how.flags = CU_TRSF_READ_AS_INTEGER;
    SAY_AS("linear, as integers" + of, texture(what, how));
    how = {};
    how.filterMode = static_cast<CUfilter_mode>(7);
    SAY_AS("filter 7" + of, texture(what, how));
    how = {};
    how.mipmapFilterMode = CU_TR_FILTER_MODE_LINEAR;
    SAY_AS("mipmap filter" + of, texture(what, how));
    how.mipmapFilterMode = static_cast<CUfilter_mode>(7);
    SAY_AS("mipmap filter 7" + of, texture(what, how));
    how = {};
    how.maxAnisotropy = 16;
    SAY_AS("anisotropy 16" + of, texture(what, how));
    how.maxAnisotropy = 17;
    SAY_AS("anisotropy 17" + of, texture(what, how));
    how = {};
    how.mipmapLevelBias = 100;
    SAY_AS("bias 100" + of, texture(what, how));
    how = {};
    how.minMipmapLevelClamp = 3;
    how.maxMipmapLevelClamp = 1;
    SAY_AS("clamps crossed" + of, texture(what, how));
    how.minMipmapLevelClamp = -1;
    SAY_AS("clamp negative" + of, texture(what, how));
    SAY_AS("surface" + of, surface(what));
  }
}

// A table: one row after the other.
RECORDED_CASE("A view of a resource has its size, or four times it", "[arrays]") {
  const Scene S;
  const auto view_of = [](int format, std::size_t width, std::size_t height, std::size_t depth = 0) {
    CUDA_RESOURCE_VIEW_DESC view{};
    view.format = static_cast<CUresourceViewFormat>(format);
    view.width = width;
    view.height = height;
    view.depth = depth;
    return view;
  };
  const auto say = [&](const char* name, const CUDA_RESOURCE_DESC& what, const CUDA_RESOURCE_VIEW_DESC& view) {
    std::ostringstream text;
    text << name << ", view " << view.format << " of " << view.width << " x " << view.height << " x " << view.depth
         << ", levels " << view.firstMipmapLevel << "-" << view.lastMipmapLevel << ", layers " << view.firstLayer << "-"
         << view.lastLayer;
    SAY_AS(text.str(), texture(what, {}, &view));
  };
  for (int format = 0; format < 37; ++format) say("plane of floats", of_array(S.plane), view_of(format, 8, 8));
  for (int format = 0; format < 24; ++format) say("plane of byte quads", of_array(S.bytes), view_of(format, 8, 8));
  CUarray words = nullptr, quads = nullptr;
  CU_CHECK(make(&words, 8, 8, 0, 0, CU_AD_FORMAT_UNSIGNED_INT32, 2));
  CU_CHECK(make(&quads, 8, 8, 0, 0, CU_AD_FORMAT_UNSIGNED_INT32, 4));
  for (int format = 16; format < 36; ++format) {
    say("pairs of words, four times", of_array(words), view_of(format, 32, 32));
    say("quads of words, four times", of_array(quads), view_of(format, 32, 32));
    say("pairs of words, once", of_array(words), view_of(format, 8, 8));
  }
  const int plain = CU_RES_VIEW_FORMAT_FLOAT_1X32;
  say("plane", of_array(S.plane), view_of(plain, 4, 4));
  say("plane", of_array(S.plane), view_of(plain, 16, 16));
  say("plane", of_array(S.plane), view_of(plain, 0, 0));
  say("plane", of_array(S.plane), view_of(plain, 8, 0));
  say("plane", of_array(S.plane), view_of(plain, 8, 8, 1));
  say("line", of_array(S.line), view_of(plain, 8, 0));
  say("line", of_array(S.line), view_of(plain, 8, 1));
  say("box", of_array(S.box), view_of(plain, 8, 8, 8));
  say("box", of_array(S.box), view_of(plain, 8, 8, 4));
  say("cube", of_array(S.cube), view_of(plain, 8, 8, 6));
  say("cube", of_array(S.cube), view_of(plain, 8, 8, 0));
  for (const auto& [first, last, depth] :
       {std::tuple{0u, 0u, 4u}, {0u, 3u, 4u}, {1u, 2u, 4u}, {1u, 2u, 2u}, {0u, 4u, 4u}, {3u, 1u, 4u}, {4u, 4u, 4u}}) {
    CUDA_RESOURCE_VIEW_DESC view = view_of(plain, 8, 8, depth);
    view.firstLayer = first;
    view.lastLayer = last;
    say("layers", of_array(S.layers), view);
    if (depth == 4) say("plane", of_array(S.plane), view);
  }
  for (const auto& [first, last] : {std::pair{0u, 0u}, {0u, 4u}, {1u, 3u}, {0u, 5u}, {3u, 1u}, {5u, 5u}}) {
    CUDA_RESOURCE_VIEW_DESC view = view_of(plain, 16, 16);
    view.firstMipmapLevel = first;
    view.lastMipmapLevel = last;
    say("mipmap", of_mipmap(S.mipmap), view);
    view.width = view.height = 16u >> first;
    if (first != 0) say("mipmap", of_mipmap(S.mipmap), view);
    view.width = view.height = 8;
    say("plane", of_array(S.plane), view);
  }
  say("row", of_row(S.p, CU_AD_FORMAT_FLOAT, 1, 64), view_of(plain, 16, 0));
  say("rows", of_rows(S.p, 1, 8, 8, 64), view_of(plain, 8, 8));
  say("plane", of_array(S.plane), view_of(-1, 8, 8));
  say("plane", of_array(S.plane), view_of(99, 8, 8));
}

RECORDED_CASE("Objects describe what they were made of", "[arrays]") {
  const Scene S;
  const auto say = [](const char* name, const CUDA_RESOURCE_DESC& what) {
    CUtexObject object = 0;
    CUDA_RESOURCE_DESC found{};
    CUDA_TEXTURE_DESC how{}, back{};
    CUDA_RESOURCE_VIEW_DESC view{};
    how.maxAnisotropy = 3;
    how.borderColor[1] = 0.5f;
    how.flags = CU_TRSF_NORMALIZED_COORDINATES;
    SAY_AS(name, cuTexObjectCreate(&object, &what, &how, nullptr));
    SAY_AS("cuTexObjectGetResourceDesc", cuTexObjectGetResourceDesc(&found, object));
    SHOW_AS("type, flags", found.resType << " " << found.flags);
    SAY_AS("cuTexObjectGetTextureDesc", cuTexObjectGetTextureDesc(&back, object));
    SHOW_AS("back", back.maxAnisotropy << " " << back.borderColor[1] << " " << back.flags << " " << back.filterMode
                                       << " " << back.addressMode[0]);
    SAY_AS("cuTexObjectGetResourceViewDesc", cuTexObjectGetResourceViewDesc(&view, object));
    SAY_AS("as a surface", cuSurfObjectGetResourceDesc(&found, object));
    SAY_AS("null", cuTexObjectGetResourceDesc(nullptr, object));
    SAY_AS("null", cuTexObjectGetTextureDesc(nullptr, object));
    SAY_AS("null", cuTexObjectGetResourceViewDesc(nullptr, object));
  };
  say("plane", of_array(S.plane));
  say("line", of_array(S.line));
  say("mipmap", of_mipmap(S.mipmap));
  say("row", of_row(S.p, CU_AD_FORMAT_FLOAT, 1, 64));
  say("rows", of_rows(S.p, 1, 8, 8, 64));
  CUtexObject object = 0;
  CUsurfObject written = 0;
  CUDA_RESOURCE_DESC found{};
  CUDA_TEXTURE_DESC how{};
  CUDA_RESOURCE_VIEW_DESC view{}, back{};
  view.format = CU_RES_VIEW_FORMAT_UINT_1X32;
  view.width = view.height = 8;
  CUDA_RESOURCE_DESC what = of_array(S.plane);
  SAY(cuTexObjectCreate(&object, &what, &how, &view));
  SAY(cuTexObjectGetResourceViewDesc(&back, object));
  SHOW(back.format << " " << back.width << " " << back.height);
  SAY(cuTexObjectCreate(nullptr, &what, &how, nullptr));
  SAY(cuTexObjectCreate(&object, nullptr, &how, nullptr));
  SAY(cuTexObjectCreate(&object, &what, nullptr, nullptr));
  what = of_array(S.surface);
  SAY(cuSurfObjectCreate(&written, &what));
  SAY(cuSurfObjectGetResourceDesc(&found, written));
  SHOW((found.res.array.hArray == S.surface));
  SAY(cuSurfObjectCreate(&written, nullptr));
  what.flags = 1;
  SAY(cuSurfObjectCreate(&written, &what));
  what = of_array(S.plane);
  SAY(cuSurfObjectCreate(&written, &what));
  what = of_mipmap(S.mipmap);
  SAY(cuSurfObjectCreate(&written, &what));
  SAY(cuTexObjectGetResourceDesc(&found, 0));
  SAY(cuTexObjectGetResourceDesc(&found, 987654321));
  SAY(cuSurfObjectGetResourceDesc(&found, 0));
  SAY(cuTexObjectDestroy(0));
  SAY(cuSurfObjectDestroy(0));
}
