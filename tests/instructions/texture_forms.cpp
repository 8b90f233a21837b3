// Each form of the instructions on textures and surfaces, in each geometry and type, on the device at hand.
#include "tests/catch.hpp"
#include "tests/instructions/texture.hpp"

namespace {

using namespace instructions;

// A whole number as a half.
u32 code_of_half(u32 x) {
  u32 exponent = 0;
  while (x >> (exponent + 1) != 0) ++exponent;
  return (exponent + 15) << 10 | ((x << 10) >> exponent & 0x3ff);
}

// All geometries, small: what is asked for says which texel it comes from, and which channel.
struct Small {
  const char* name;
  const char* coordinates;
  Size size;
  unsigned flags;
  bool is_cube() const { return (flags & CUDA_ARRAY3D_CUBEMAP) != 0; }
  std::string place() const { return std::string("[%t, ") + coordinates + "]"; }
};
constexpr Small kSmall[] = {{"1d", "{%x}", {4}, 0},
                            {"2d", "{%x, %y}", {4, 4}, 0},
                            {"3d", "{%x, %y, %z, %z}", {4, 4, 2}, 0},
                            {"a1d", "{%l, %x}", {4, 1, 3}, CUDA_ARRAY3D_LAYERED},
                            {"a2d", "{%l, %x, %y, %y}", {4, 4, 3}, CUDA_ARRAY3D_LAYERED},
                            {"cube", "{%x, %y, %z, %z}", {4, 4, 6}, CUDA_ARRAY3D_CUBEMAP},
                            {"acube", "{%l, %x, %y, %z}", {4, 4, 12}, CUDA_ARRAY3D_CUBEMAP | CUDA_ARRAY3D_LAYERED}};

// Word w of texel t is 4 t + w + 1: a float, or a whole number.
u32 number(u32 texel, u32 w) { return 4 * texel + w + 1; }
Array numbered(const Small& g, CUarray_format format, u32 channels, unsigned more = 0) {
  std::vector<u32> words;
  for (u32 t = 0; t < g.size.texels(); ++t) {
    for (u32 w = 0; w < channels; ++w)
      words.push_back(format == CU_AD_FORMAT_FLOAT ? word(float(number(t, w))) : number(t, w));
  }
  return {g.size, format, channels, g.flags | more, words};
}

// One input a texel: its coordinates, in texels or (cubes) as a direction.
Words each_texel(const Small& g, bool whole) {
  Words in;
  const auto at = [whole](u32 i) { return whole ? i : word(float(i) + 0.5f); };
  for (u32 z = 0; z < g.size.depth; ++z) {
    for (u32 y = 0; y < g.size.height; ++y) {
      for (u32 x = 0; x < g.size.width; ++x) {
        if (g.is_cube())
          in.push_back(direction(z % 6, (float(x) + 0.5f) / 2 - 1, (float(y) + 0.5f) / 2 - 1, z / 6));
        else
          in.push_back({z, at(x), at(y), at(z)});
      }
    }
  }
  return in;
}

// ---- tex and tld4 ---------------------------------------------------------------------------------------------------

// Reads texels of one type from a texture of numbered texels.
struct Reader {
  const Small& g;
  const Texture& texture;
  std::string type;
  bool half = type == "f16" || type == "f16x2";
  std::string name = g.name;

  Words read(const std::string& instruction, const std::string& vector, const std::string& coordinates,
             const std::string& more, const Words& in) const {
    const std::string to = vector == ".v2" ? "{%d0, %d1}"
                           : type == "f16" ? "{%h0, %h1, %h2, %h3}"
                                           : "{%d0, %d1, %d2, %d3}";
    return run(".reg .b16 %h<4>; .reg .f32 %none; mov.f32 %none, 0f00000000;\n" + instruction + "." + name + vector +
                   "." + type + coordinates + " " + to + ", " + g.place() + more + ";" +
                   (type == "f16" ? "\nmov.b32 %d0, {%h0, %h1}; mov.b32 %d1, {%h2, %h3};" : ""),
               texture, in);
  }
  // Are these the numbers of four words, counted through all texels?
  bool good(const std::array<u32, 4>& got, const std::array<u32, 4>& words) const {
    for (u32 w = 0; w < 4; ++w) {
      const u32 want = number(words[w] / 4, words[w] % 4);
      const u32 has = half ? got[w / 2] >> 16 * (w % 2) & 0xffff : got[w];
      if (has != (half ? code_of_half(want) : type == "f32" ? word(float(want)) : want)) return false;
    }
    return true;
  }
  void tex(const std::string& mode, bool whole) const {
    const std::string zeros = name == "1d" || name == "a1d"   ? "{%none}"
                              : name == "2d" || name == "a2d" ? "{%none, %none}"
                                                              : "{%none, %none, %none, %none}";
    const std::string more = mode == ".level"  ? (whole ? ", 0" : ", %none")
                             : mode == ".grad" ? ", " + zeros + ", " + zeros
                                               : "";
    const Words in = each_texel(g, whole);
    const Words out = read("tex" + mode, type == "f16x2" ? ".v2" : ".v4", whole ? ".s32" : ".f32", more, in);
    CAPTURE(name, mode, type, whole);
    // Not judged: for whole numbers an H200 reads nothing from a 1-D array, and with gradients the first texel.
    if (whole && (name == "1d" || mode == ".grad")) return;
    for (u32 k = 0; k < in.size(); ++k) {
      CAPTURE(k);
      CHECK(good(out[k], {4 * k, 4 * k + 1, 4 * k + 2, 4 * k + 3}));
    }
  }
  // Between the four in the middle: of lower left, lower right, upper right, upper left, one channel.
  void tld4(u32 channel) const {
    const float middle[6][3] = {{1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}, {0, 0, 1}, {0, 0, -1}};
    Words in;
    for (u32 z = 0; z < g.size.depth; ++z) {
      const float* d = middle[z % 6];
      if (g.is_cube())
        in.push_back({z / 6, word(d[0]), word(d[1]), word(d[2])});
      else
        in.push_back({z, word(2.0f), word(2.0f), 0});
    }
    const Words out = read(std::string("tld4.") + "rgba"[channel], ".v4", ".f32", "", in);
    CAPTURE(name, type, channel);
    for (u32 z = 0; z < g.size.depth; ++z) {
      const u32 first = 4 * 16 * z + channel;
      CHECK(good(out[z], {first + 4 * 9, first + 4 * 10, first + 4 * 6, first + 4 * 5}));
    }
  }
};

}  // namespace

TEST_CASE("each form of tex and tld4 reads the texels that it names, in each geometry and type") {
  const Device device;
  for (const Small& g : kSmall) {
    const std::string name = g.name;
    const bool gathers = name == "2d" || name == "a2d" || g.is_cube();
    for (const std::string type : {"f32", "f16", "f16x2", "s32", "u32"}) {
      const bool floats = type[0] == 'f';
      const Array texels = numbered(g, floats ? CU_AD_FORMAT_FLOAT : CU_AD_FORMAT_SIGNED_INT32, 4,
                                    name == "2d" ? CUDA_ARRAY3D_TEXTURE_GATHER : 0u);
      CUDA_TEXTURE_DESC d = sampling(2, {CU_TR_ADDRESS_MODE_CLAMP, false, g.is_cube()});
      if (!floats) d.flags |= CU_TRSF_READ_AS_INTEGER;
      const Texture texture(texels.resource(), d);
      const Reader reader{g, texture, type};
      for (const std::string mode : {"", ".base", ".level", ".grad"}) {
        reader.tex(mode, false);
        if (!g.is_cube()) reader.tex(mode, true);
      }
      for (u32 channel = 0; gathers && !reader.half && channel < 4; ++channel) reader.tld4(channel);
    }
  }
}

TEST_CASE("txq and suq return each property") {
  const Device device;
  const Small& g = kSmall[4];
  const Array texels = numbered(g, CU_AD_FORMAT_FLOAT, 2, CUDA_ARRAY3D_SURFACE_LDST);
  const Texture texture(texels.resource(), sampling(2, {CU_TR_ADDRESS_MODE_BORDER, true, true}));
  const Surface surface(texels.resource());
  const auto ask = [&](const std::string& what, u64 object) { return run(what, object, {{0, 0, 0, 0}})[0][0]; };
  CHECK(ask("txq.width.b32 %d0, [%t];", texture) == g.size.width);
  CHECK(ask("txq.height.b32 %d0, [%t];", texture) == g.size.height);
  CHECK(ask("txq.level.width.b32 %d0, [%t], 0;", texture) == g.size.width);
  CHECK(ask("txq.level.height.b32 %d0, [%t], 0;", texture) == g.size.height);
  CHECK(ask("suq.width.b32 %d0, [%t];", surface) == g.size.width);
  CHECK(ask("suq.height.b32 %d0, [%t];", surface) == g.size.height);
  if (!device.simulated()) return;  // the rest has not been asked of a GPU
  const struct {
    const char* question;
    u32 answer;
  } of_texture[] = {{"array_size", 3},
                    {"num_samples", 1},
                    {"num_mipmap_levels", 1},
                    {"normalized_coords", 1},
                    {"force_unnormalized_coords", 0},
                    {"filter_mode", 1},
                    {"channel_data_type", 0x10de},
                    {"channel_order", 0x10b2},
                    {"addr_mode_0", 3},
                    {"addr_mode_1", 3},
                    {"addr_mode_2", 1},
                    {"depth", 3},
                    {"level.depth", 3}},
    of_surface[] = {{"array_size", 3},
                    {"depth", 3},
                    {"channel_data_type", 0x10de},
                    {"channel_order", 0x10b2},
                    {"memory_layout", 0}};
  for (const auto& q : of_texture) {
    CAPTURE(q.question);
    const bool level = q.question[0] == 'l';
    CHECK(ask(std::string("txq.") + q.question + ".b32 %d0, [%t]" + (level ? ", 0;" : ";"), texture) == q.answer);
  }
  for (const auto& q : of_surface) {
    CAPTURE(q.question);
    CHECK(ask(std::string("suq.") + q.question + ".b32 %d0, [%t];", surface) == q.answer);
  }
}

// ---- suld, sust and sured -------------------------------------------------------------------------------------------

namespace {

constexpr const char* kOutside[] = {".trap", ".clamp", ".zero"};  // what there is to do beyond a surface's end

// A surface of numbered texels, and what is in it now.
struct Target {
  const Array texels;
  const Surface surface{texels.resource()};
  Target(const Small& g, u32 channels)
      : texels(numbered(g, CU_AD_FORMAT_UNSIGNED_INT32, channels, CUDA_ARRAY3D_SURFACE_LDST)) {}
  std::vector<u32> words() const {
    std::vector<u32> all(texels.size.texels() * texels.texel_bytes / 4);
    texels.read(all.data());
    return all;
  }
};

// suld.b and sust.b: x is in bytes. `offset`: where in a texel of 16 bytes the elements are.
struct ByByte {
  std::string vector, type;
  u32 elements = vector.empty() ? 1 : u32(vector[2] - '0'), bytes = u32(std::stoul(type.substr(1))) / 8;
  bool wide = type == "b64";

  void reach(const Small& g, const char* load, const char* store, const char* mode, u32 offset) const {
    const Target target(g, 4);
    Words in = each_texel(g, true);
    for (auto& i : in) i[1] = i[1] * 16 + offset;
    const std::string reg = wide ? "%w" : "%d", before = ".reg .b64 %w<4>;\n", form = vector + "." + type + mode + " ";
    std::string names = reg + "0";
    for (u32 e = 1; e < elements; ++e) names += ", " + reg + std::to_string(e);
    if (elements > 1) names = "{" + names + "}";
    const std::string after = !wide           ? ""
                              : elements == 1 ? "\nmov.b64 {%d0, %d1}, %w0;"
                                              : "\nmov.b64 {%d0, %d1}, %w0; mov.b64 {%d2, %d3}, %w1;";
    const Words out =
        run(before + "suld.b." + g.name + load + form + names + ", " + g.place() + ";" + after, target.surface, in);
    const std::string values = wide ? "mov.b64 %w0, 0x1817161514131211; mov.b64 %w1, 0x2827262524232221;\n"
                                    : "mov.b32 %d0, 0x14131211; mov.b32 %d1, 0x24232221; mov.b32 %d2, 0x34333231; "
                                      "mov.b32 %d3, 0x44434241;\n";
    run(before + values + "sust.b." + g.name + store + form + g.place() + ", " + names + ";", target.surface, in);
    CAPTURE(g.name, vector, type, load, store, mode);
    compare(out, target.words(), offset);
  }
  void compare(const Words& out, const std::vector<u32>& now, u32 offset) const {
    bool loaded = true, stored = true;
    for (u32 t = 0; t < out.size(); ++t) {
      const u32 words[] = {number(t, 0), number(t, 1), number(t, 2), number(t, 3)};
      u8 raw[16];
      std::memcpy(raw, words, 16);
      for (u32 e = 0; e < elements; ++e) {
        u64 want = 0, got = 0;
        std::memcpy(&want, raw + offset + e * bytes, bytes);
        std::memcpy(&got, wide ? &out[t][2 * e] : &out[t][e], wide ? 8 : 4);
        loaded = loaded && got == want;
        for (u32 b = 0; b < bytes; ++b) raw[offset + e * bytes + b] = u8((e + 1) * 16 + b + 1);
      }
      stored = stored && std::memcmp(raw, &now[4 * t], 16) == 0;
    }
    CHECK(loaded);
    CHECK(stored);
  }
};

// sust.p: x is in texels, of which each channel gets its word.
void store_formatted(const Small& g, u32 channels, const char* mode) {
  const Target target(g, channels);
  const std::string data = channels == 1   ? "%d0"
                           : channels == 2 ? "{%d0, %d1}"
                                           : "{%d0, %d1, %d2, %d3}",
                    vector = channels == 1 ? "" : ".v" + std::to_string(channels);
  run("mad.lo.u32 %d0, %thread, 8, 5; add.u32 %d1, %d0, 1; add.u32 %d2, %d0, 2; add.u32 %d3, %d0, 3;\nsust.p." +
          std::string(g.name) + vector + ".b32" + mode + " " + g.place() + ", " + data + ";",
      target.surface, each_texel(g, true));
  const std::vector<u32> now = target.words();
  CAPTURE(g.name, channels, mode);
  bool stored = true;
  for (u32 w = 0; w < now.size(); ++w) stored = stored && now[w] == w / channels * 8 + 5 + w % channels;
  CHECK(stored);
}

// sured: each thread has a texel of its own.
void reduce(const Small& g, bool formatted, const std::string& op, const std::string& type, const char* mode) {
  const bool wide = type.substr(1) == "64";
  const Target target(g, wide ? 2 : 1);
  Words in = each_texel(g, true);
  if (!formatted) {
    for (auto& i : in) i[1] *= wide ? 8 : 4;
  }
  const std::string value = wide ? "mov.b64 %w, 0xffffffff00000012;\n" : "mov.b32 %d0, 0xfffffff2;\n";
  run(".reg .b64 %w;\n" + value + "sured." + (formatted ? "p." : "b.") + op + "." + g.name + "." + type + mode + " " +
          g.place() + ", " + (wide ? "%w;" : "%d0;"),
      target.surface, in);
  const std::vector<u32> now = target.words();
  CAPTURE(g.name, formatted, op, type, mode);
  bool good = true;
  for (u32 t = 0; t < in.size(); ++t) {
    const u64 old = wide ? number(t, 0) | u64{number(t, 1)} << 32 : number(t, 0);
    const u64 x = wide ? 0xffffffff00000012u : 0xfffffff2u;
    const bool negative = type[0] == 's';  // the operand is less than all that is there
    const u64 want = op == "add"                 ? old + x
                     : op == "and"               ? old & x
                     : op == "or"                ? old | x
                     : (op == "min") == negative ? x
                                                 : old;
    u64 got = now[wide ? 2 * t : t];
    if (wide) got |= u64{now[2 * t + 1]} << 32;
    good = good && got == (wide ? want : u32(want));
  }
  CHECK(good);
}
// Does PTX have this form?
bool reduces(bool formatted, const std::string& op, const std::string& type) {
  const bool ordered = op == "min" || op == "max", logic = op == "and" || op == "or";
  if (formatted) return type == "b32" || (ordered && type == "b64");
  return logic == (type == "b32") && type != "b64" && !(op == "add" && type == "s64");
}

}  // namespace

TEST_CASE("each form of suld and sust reaches the bytes that it names, in each geometry and type") {
  const Device device;
  const char *loads[] = {"", ".ca", ".cg", ".cs", ".cv"}, *stores[] = {"", ".wb", ".cg", ".cs", ".wt"};
  for (const Small& g : kSmall) {
    if (g.is_cube()) continue;
    u32 k = 0;  // each mode and each place in a texel has its turn
    for (const char* vector : {"", ".v2", ".v4"}) {
      for (const char* type : {"b8", "b16", "b32", "b64"}) {
        const ByByte form{vector, type};
        const u32 size = form.elements * form.bytes;
        for (u32 turn = 0; size <= 16 && turn < 5; ++turn, ++k) {
          form.reach(g, loads[turn], stores[turn], kOutside[k % 3], k * size % 16);
        }
      }
    }
    for (const u32 channels : {1u, 2u, 4u}) {
      for (const char* mode : kOutside) store_formatted(g, channels, mode);
    }
  }
}

TEST_CASE("each form of sured changes the bytes that it names, in each geometry and type") {
  const Device device;
  for (const Small& g : {kSmall[0], kSmall[1], kSmall[2]}) {
    for (const bool formatted : {false, true}) {
      for (const char* op : {"add", "min", "max", "and", "or"}) {
        for (const char* type : {"u32", "s32", "u64", "s64", "b32", "b64"}) {
          for (const char* mode : kOutside) {
            if (reduces(formatted, op, type)) reduce(g, formatted, op, type, mode);
          }
        }
      }
    }
  }
}
