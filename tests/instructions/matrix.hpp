// Matrix instructions: fragments as the manual's figures show them, and products of matrices of small whole numbers,
// which every order of summation gives exactly.
#pragma once
#include "tests/instructions/float.hpp"
#include "tests/instructions/integer.hpp"

#include <algorithm>
#include <functional>
#include <map>

namespace instructions {

// One warp runs `text`, which finds its inputs at %in and leaves its results at %out (both 64 bits; %lane: the lane).
struct MatrixCase {
  std::string text;
  std::vector<u8> in, out;  // out: what must be there
};

struct At {
  u32 row, column;
};

// A matrix's elements, as bits of their type.
struct MatrixType {
  std::string name;
  u32 bits, storage;        // storage: bits in a register or in memory
  std::vector<u64> values;  // elements to choose from
  std::function<double(u64)> number;
};
inline MatrixType matrix_type(const std::string& name) {
  std::vector<u64> codes;
  const auto real = [&codes](std::function<u64(double)> encode) {
    for (int v = -4; v <= 4; ++v) codes.push_back(encode(v));
    codes.push_back(encode(0.5));
  };
  const auto small = [&](const Small& f, u32 bits) {
    real([&f](double x) { return u64{code_of(x, f, Round::nearest, false)}; });
    return MatrixType{name, bits, bits, codes, [&f](u64 x) { return double(value_of(u32(x), f)); }};
  };
  const auto whole = [&](u32 bits, bool is_signed) {
    for (u64 x : {0, 1, 2, 3, 7, 8, 15, 100, 127, 128, 200, 255}) codes.push_back(x & mask(bits));
    return MatrixType{name, bits, bits, codes, [bits, is_signed](u64 x) {
                        return is_signed && x >> (bits - 1) ? double(x) - double(u64{1} << bits) : double(x);
                      }};
  };
  if (name == "f16") return small(kHalf, 16);
  if (name == "bf16") return small(kBrain, 16);
  if (name == "e4m3") return small(kE4m3, 8);
  if (name == "e5m2") return small(kE5m2, 8);
  if (name == "f64") {
    real([](double x) { return to_bits(x); });
    return {name, 64, 64, codes, [](u64 x) { return from_bits<double>(x); }};
  }
  if (name == "f32" || name == "tf32") {
    real([](double x) { return to_bits(float(x)); });
    return {name, 32, 32, codes, [](u64 x) { return double(from_bits<float>(x)); }};
  }
  if (name == "s32") {
    for (int v : {0, 1, -1, 1000, -100000, 0x7ffffff0}) codes.push_back(u32(v));
    return {name, 32, 32, codes, [](u64 x) { return double(i32(x)); }};
  }
  return whole(u32(std::stoul(name.substr(1))), name[0] == 's');
}

// Layouts, shape by shape. i: the element of the lane's fragment.
using Layout = std::function<At(u32 lane, u32 i)>;
inline Layout layout_c() {
  return [](u32 lane, u32 i) { return At{lane / 4 + (i < 2 ? 0 : 8), lane % 4 * 2 + (i & 1)}; };
}
struct Layouts {
  Layout a, b;
};
inline Layouts layouts(const std::string& shape, u32 bits) {
  const u32 per = bits >= 32 ? 1 : 32 / bits;  // elements of a register
  // The manual's row and column for A are written with the first elements in row `group`, the next in group + 8, and so
  // on; for B with the first in the upper part of the matrix, the next below.
  const auto g = [](u32 lane) { return lane / 4; };
  const auto t = [](u32 lane) { return lane % 4; };
  const Layout b = [=](u32 lane, u32 i) { return At{t(lane) * per + i % per + i / per * 4 * per, g(lane)}; };
  if (shape.rfind("m8", 0) == 0) return {[=](u32 lane, u32 i) { return At{g(lane), t(lane) * per + i}; }, b};
  if (bits == 64) {
    return {[=](u32 lane, u32 i) { return At{i % 2 == 0 ? g(lane) : g(lane) + 8, i / 2 * 4 + t(lane)}; }, b};
  }
  return {[=](u32 lane, u32 i) {
            const bool upper = i < per || (i >= 2 * per && i < 3 * per);
            return At{upper ? g(lane) : g(lane) + 8, t(lane) * per + i % per + (i < 2 * per ? 0 : 4 * per)};
          },
          b};
}

struct Fragment {  // registers of every lane
  u32 registers, bits;
  std::vector<u64> words;  // register by register, lane by lane
};
using Values = std::vector<std::vector<u64>>;
inline Values any_matrix(u32 rows, u32 columns, const MatrixType& type, std::mt19937& random) {
  Values m(rows, std::vector<u64>(columns));
  for (auto& row : m) {
    for (u64& x : row) x = type.values[random() % type.values.size()];
  }
  return m;
}
inline Fragment fragment(const Values& m, const MatrixType& type, const Layout& at) {
  const u32 elements = u32(m.size() * m[0].size()) / 32, width = type.storage == 64 ? 64 : 32,
            per = width / type.storage;
  Fragment f{elements / per, width, {}};
  for (u32 r = 0; r < f.registers; ++r) {
    for (u32 lane = 0; lane < 32; ++lane) {
      u64 word = 0;
      for (u32 k = 0; k < per; ++k) {
        const At p = at(lane, r * per + k);
        word |= m[p.row][p.column] << k * type.storage;
      }
      f.words.push_back(word);
    }
  }
  return f;
}

template <class T>
void append(std::vector<u8>& bytes, T value) {
  const u8* from = reinterpret_cast<const u8*>(&value);
  bytes.insert(bytes.end(), from, from + sizeof value);
}
inline void append_bits(std::vector<u8>& bytes, u64 value, u32 bits) {
  for (u32 k = 0; k < bits; k += 8) bytes.push_back(u8(value >> k));
}

// "{%a0, %a1}", and the loads that fill them.
inline std::string braces(const std::string& name, u32 count) {
  std::string s = "{";
  for (u32 k = 0; k < count; ++k) s += (k ? ", %" : "%") + name + std::to_string(k);
  return s + "}";
}
inline std::string declared(const std::string& name, const Fragment& f) {
  return ".reg .b" + std::to_string(f.bits) + " %" + name + "<" + std::to_string(f.registers) + ">;\n";
}
inline std::string loaded(const std::string& name, const Fragment& f, MatrixCase& c) {
  std::string s = declared(name, f);
  for (u32 r = 0; r < f.registers; ++r) {
    s += "mul.wide.u32 %at, %lane, " + std::to_string(f.bits / 8) + "; add.u64 %at, %at, %in; ld.global.b" +
         std::to_string(f.bits) + " %" + name + std::to_string(r) + ", [%at+" + std::to_string(c.in.size()) + "];\n";
    for (u32 lane = 0; lane < 32; ++lane) append_bits(c.in, f.words[r * 32 + lane], f.bits);
  }
  return s;
}
inline std::string stored(const std::string& name, const Fragment& f, MatrixCase& c) {
  std::string s;
  for (u32 r = 0; r < f.registers; ++r) {
    s += "mul.wide.u32 %at, %lane, " + std::to_string(f.bits / 8) + "; add.u64 %at, %at, %out; st.global.b" +
         std::to_string(f.bits) + " [%at+" + std::to_string(c.out.size()) + "], %" + name + std::to_string(r) + ";\n";
    for (u32 lane = 0; lane < 32; ++lane) append_bits(c.out, f.words[r * 32 + lane], f.bits);
  }
  return s;
}

struct Product {
  std::string shape, d, a, b, c, op, suffix;  // op: "", "xor", "and"; suffix: ".satfinite"
};
inline void read_shape(const std::string& shape, u32& m, u32& n, u32& k) {
  const std::size_t at_n = shape.find('n'), at_k = shape.find('k');
  m = u32(std::stoul(shape.substr(1)));
  n = u32(std::stoul(shape.substr(at_n + 1)));
  k = u32(std::stoul(shape.substr(at_k + 1)));
}
inline Values product(const Product& p, const Values& a, const Values& b, const Values& c) {
  const MatrixType ta = matrix_type(p.a), tb = matrix_type(p.b), tc = matrix_type(p.c);
  const auto numbers = [&p](const Values& m, const MatrixType& type) {
    std::vector<std::vector<double>> all;
    for (const auto& line : m) {
      auto& to = all.emplace_back();
      for (const u64 x : line) to.push_back(p.op.empty() ? type.number(x) : 0);
    }
    return all;
  };
  const auto na = numbers(a, ta), nb = numbers(b, tb);
  const bool odd = p.op == "xor", both = p.op == "and";
  const int rounding = p.suffix == ".rz"   ? FE_TOWARDZERO
                       : p.suffix == ".rm" ? FE_DOWNWARD
                       : p.suffix == ".rp" ? FE_UPWARD
                                           : FE_TONEAREST;
  Values d(c.size(), std::vector<u64>(c[0].size()));
  for (std::size_t row = 0; row < d.size(); ++row) {
    for (std::size_t column = 0; column < d[0].size(); ++column) {
      // The mode matters to the sign of sums that cancel.
      volatile double sum = tc.number(c[row][column]);
      std::fesetround(rounding);
      for (std::size_t k = 0; k < b.size(); ++k) {
        const u64 x = a[row][k], y = b[k][column];
        sum = sum + (odd ? double(x ^ y) : both ? double(x & y) : na[row][k] * nb[k][column]);
      }
      std::fesetround(FE_TONEAREST);
      if (p.suffix == ".satfinite") sum = std::clamp(double(sum), -2147483648.0, 2147483647.0);
      d[row][column] = p.d == "f64"   ? to_bits(double(sum))
                       : p.d == "f32" ? to_bits(float(sum))
                       : p.d == "f16" ? u64{code_of(sum, kHalf, Round::nearest, false)}
                                      : u64{u32(i64(sum))};
    }
  }
  return d;
}

inline std::vector<Product> mma_products() {
  std::vector<Product> all = {{"m16n8k8", "f32", "bf16", "bf16", "f32", "", ""},
                              {"m16n8k16", "f32", "bf16", "bf16", "f32", "", ""},
                              {"m16n8k4", "f32", "tf32", "tf32", "f32", "", ""},
                              {"m16n8k8", "f32", "tf32", "tf32", "f32", "", ""}};
  for (const char* shape : {"m16n8k8", "m16n8k16"}) {
    all.push_back({shape, "f16", "f16", "f16", "f16", "", ""});
    all.push_back({shape, "f32", "f16", "f16", "f32", "", ""});
  }
  for (const char* shape : {"m16n8k16", "m16n8k32"}) {
    for (const char* a : {"e4m3", "e5m2"}) {
      for (const char* b : {"e4m3", "e5m2"}) {
        all.push_back({shape, "f16", a, b, "f16", "", ""});
        all.push_back({shape, "f32", a, b, "f32", "", ""});
      }
    }
  }
  for (const char* shape : {"m8n8k4", "m16n8k4", "m16n8k8", "m16n8k16"}) {
    for (const char* rounding : {"", ".rn", ".rz", ".rm", ".rp"}) {
      all.push_back({shape, "f64", "f64", "f64", "f64", "", rounding});
    }
  }
  for (const char* suffix : {"", ".satfinite"}) {
    for (const char* a : {"u", "s"}) {
      for (const char* b : {"u", "s"}) {
        for (const char* shape : {"m8n8k16", "m16n8k16", "m16n8k32"}) {
          all.push_back({shape, "s32", a + std::string("8"), b + std::string("8"), "s32", "", suffix});
        }
        for (const char* shape : {"m8n8k32", "m16n8k32", "m16n8k64"}) {
          all.push_back({shape, "s32", a + std::string("4"), b + std::string("4"), "s32", "", suffix});
        }
      }
    }
  }
  for (const char* shape : {"m8n8k128", "m16n8k128", "m16n8k256"}) {
    for (const char* op : {"xor", "and"}) all.push_back({shape, "s32", "b1", "b1", "s32", op, ""});
  }
  return all;
}
inline std::string types(const Product& p) { return "." + p.d + "." + p.a + "." + p.b + "." + p.c; }

inline std::vector<MatrixCase> mma_cases() {
  std::vector<MatrixCase> cases;
  std::mt19937 random(3);
  for (const Product& p : mma_products()) {
    u32 m, n, k;
    read_shape(p.shape, m, n, k);
    const MatrixType ta = matrix_type(p.a), tb = matrix_type(p.b), tc = matrix_type(p.c), td = matrix_type(p.d);
    const Values a = any_matrix(m, k, ta, random), b = any_matrix(k, n, tb, random), c = any_matrix(m, n, tc, random);
    const Layouts at = layouts(p.shape, ta.storage);
    const Fragment fa = fragment(a, ta, at.a), fb = fragment(b, tb, at.b), fc = fragment(c, tc, layout_c()),
                   fd = fragment(product(p, a, b, c), td, layout_c());
    MatrixCase made;
    made.text = loaded("a", fa, made) + loaded("b", fb, made) + loaded("c", fc, made) + declared("d", fd);
    made.text += "mma.sync.aligned." + p.shape + ".row.col" + p.suffix + types(p) +
                 (p.op.empty() ? "" : "." + p.op + ".popc") + " " + braces("d", fd.registers) + ", " +
                 braces("a", fa.registers) + ", " + braces("b", fb.registers) + ", " + braces("c", fc.registers) +
                 ";\n";
    made.text += stored("d", fd, made);
    cases.push_back(made);
  }
  // The oldest one: four products of 8 x 8 x 4, each by eight lanes.
  for (const bool a_column : {false, true}) {
    for (const bool b_column : {false, true}) {
      for (const auto& [td, tc] : {std::pair<std::string, std::string>{"f16", "f16"}, {"f32", "f16"}, {"f32", "f32"}}) {
        const Product p{"m8n8k4", td, "f16", "f16", tc, "", ""};
        const MatrixType half = matrix_type("f16"), sums = matrix_type(tc), results = matrix_type(td);
        std::vector<Values> a, b, c, d;
        for (u32 q = 0; q < 4; ++q) {
          a.push_back(any_matrix(8, 4, half, random));
          b.push_back(any_matrix(4, 8, half, random));
          c.push_back(any_matrix(8, 8, sums, random));
          d.push_back(product(p, a[q], b[q], c[q]));
        }
        const auto of_c = [](const std::string& type, u32 lane, u32 i) -> At {
          const u32 down = lane < 16 ? 0 : 4;
          if (type == "f16") return {lane % 4 + down, i};
          return {(lane & 1) + (i & 2) + down, (i & 4) + (lane & 2) + (i & 1)};
        };
        const auto collect = [&](const std::vector<Values>& matrices, const MatrixType& type, u32 elements, auto at) {
          const u32 per = 32 / type.storage;
          Fragment f{elements / per, 32, {}};
          for (u32 r = 0; r < f.registers; ++r) {
            for (u32 lane = 0; lane < 32; ++lane) {
              u64 word = 0;
              for (u32 k = 0; k < per; ++k) {
                const At x = at(lane, r * per + k);
                word |= matrices[lane % 16 / 4][x.row][x.column] << k * type.storage;
              }
              f.words.push_back(word);
            }
          }
          return f;
        };
        const Fragment fa = collect(a, half, 4, [&](u32 lane, u32 i) {
          return a_column ? At{i + (lane < 16 ? 0 : 4), lane % 4} : At{lane % 4 + (lane < 16 ? 0 : 4), i};
        });
        const Fragment fb = collect(b, half, 4, [&](u32 lane, u32 i) {
          return b_column ? At{i, lane % 4 + (lane < 16 ? 0 : 4)} : At{lane % 4, i + (lane < 16 ? 0 : 4)};
        });
        const Fragment fc = collect(c, sums, 8, [&, type = tc](u32 lane, u32 i) { return of_c(type, lane, i); });
        const Fragment fd = collect(d, results, 8, [&, type = td](u32 lane, u32 i) { return of_c(type, lane, i); });
        MatrixCase made;
        made.text = loaded("a", fa, made) + loaded("b", fb, made) + loaded("c", fc, made) + declared("d", fd);
        made.text += std::string("mma.sync.aligned.m8n8k4.") + (a_column ? "col." : "row.") +
                     (b_column ? "col" : "row") + types(p) + " " + braces("d", fd.registers) + ", " + braces("a", 2) +
                     ", " + braces("b", 2) + ", " + braces("c", fc.registers) + ";\n";
        made.text += stored("d", fd, made);
        cases.push_back(made);
      }
    }
  }
  return cases;
}

// mma.sp: of A only every second element is there. Metadata: four bits a chunk, where an H200 looks for them: of 16
// and 32-bit elements, four chunks of a row in the lower half of a lane, of the row eight below in the upper half; of
// narrower ones, eight chunks of a row in one lane, of the row eight below in the next.
struct SparseProduct {
  Product product;
  u32 selectors;
};
inline std::vector<SparseProduct> sparse_products() {
  std::vector<SparseProduct> all;
  for (const char* type : {"f16", "bf16"}) {
    all.push_back({{"m16n8k16", "f32", type, type, "f32", "", ""}, 4});
    all.push_back({{"m16n8k32", "f32", type, type, "f32", "", ""}, 2});
  }
  all.push_back({{"m16n8k16", "f16", "f16", "f16", "f16", "", ""}, 4});
  all.push_back({{"m16n8k32", "f16", "f16", "f16", "f16", "", ""}, 2});
  all.push_back({{"m16n8k8", "f32", "tf32", "tf32", "f32", "", ""}, 4});
  all.push_back({{"m16n8k16", "f32", "tf32", "tf32", "f32", "", ""}, 2});
  for (const char* a : {"e4m3", "e5m2"}) {
    for (const char* b : {"e4m3", "e5m2"}) {
      all.push_back({{"m16n8k64", "f32", a, b, "f32", "", ""}, 1});
    }
  }
  for (const char* suffix : {"", ".satfinite"}) {
    for (const char* a : {"u", "s"}) {
      for (const char* b : {"u", "s"}) {
        const std::string a8 = a + std::string("8"), b8 = b + std::string("8");
        const std::string a4 = a + std::string("4"), b4 = b + std::string("4");
        all.push_back({{"m16n8k32", "s32", a8, b8, "s32", "", suffix}, 2});
        all.push_back({{"m16n8k64", "s32", a8, b8, "s32", "", suffix}, 1});
        all.push_back({{"m16n8k64", "s32", a4, b4, "s32", "", suffix}, 2});
        all.push_back({{"m16n8k128", "s32", a4, b4, "s32", "", suffix}, 1});
      }
    }
  }
  return all;
}
inline std::vector<MatrixCase> sparse_cases() {
  std::vector<MatrixCase> cases;
  std::mt19937 random(5);
  for (const auto& [p, selectors] : sparse_products()) {
    u32 m, n, k;
    read_shape(p.shape, m, n, k);
    const MatrixType ta = matrix_type(p.a), tb = matrix_type(p.b), tc = matrix_type(p.c), td = matrix_type(p.d);
    const u32 chunk = ta.storage == 4 ? 8 : ta.storage == 32 ? 2 : 4, lanes = 4 / selectors;
    for (u32 selector = 0; selector < selectors; ++selector) {
      const Values half = any_matrix(m, k / 2, ta, random), b = any_matrix(k, n, tb, random),
                   c = any_matrix(m, n, tc, random);
      Values a(m, std::vector<u64>(k));
      std::vector<u64> metadata(32);
      for (u64& word : metadata) word = random();
      for (u32 row = 0; row < m; ++row) {
        for (u32 ch = 0; ch < k / chunk; ++ch) {
          // Two places of four, in order; of tf32, both halves of one element.
          u32 first = random() % 3, second = first + 1 + random() % (3 - first);
          if (chunk == 2) first = random() % 2 * 2, second = first + 1;
          const bool upper = row < 8;
          u32 lane = row % 8 * 4 + selector * lanes, shift = 0;
          if (ta.storage >= 16) {
            lane += ch / 4, shift = ch % 4 * 4 + (upper ? 0 : 16);
          } else {
            lane += ch / 8 * 2 + (upper ? 0 : 1), shift = ch % 8 * 4;
          }
          u64& word = metadata[lane];
          word = (word & ~(u64{15} << shift)) | u64(first | second << 2) << shift;
          for (u32 e = 0; e < chunk / 2; ++e) {
            const u32 place = chunk == 8   ? (e < 2 ? first : second) * 2 + e % 2
                              : chunk == 2 ? first / 2
                                           : (e == 0 ? first : second);
            a[row][ch * chunk + place] = half[row][ch * chunk / 2 + e];
          }
        }
      }
      const std::string stored_shape = "m16n8k" + std::to_string(k / 2);
      const Fragment fa = fragment(half, ta, layouts(stored_shape, ta.storage).a),
                     fb = fragment(b, tb, layouts(p.shape, tb.storage).b), fc = fragment(c, tc, layout_c()),
                     fd = fragment(product(p, a, b, c), td, layout_c()), fm{1, 32, metadata};
      MatrixCase made;
      made.text = loaded("a", fa, made) + loaded("b", fb, made) + loaded("c", fc, made) + loaded("m", fm, made) +
                  declared("d", fd);
      made.text += "mma.sp::ordered_metadata.sync.aligned." + p.shape + ".row.col" + p.suffix + types(p) + " " +
                   braces("d", fd.registers) + ", " + braces("a", fa.registers) + ", " + braces("b", fb.registers) +
                   ", " + braces("c", fc.registers) + ", %m0, " + std::to_string(selector) + ";\n";
      made.text += stored("d", fd, made);
      cases.push_back(made);
      // What orders its indices is what the form without that promise means, too.
      if (selector != 0) continue;
      made.text.replace(made.text.find("sp::ordered_metadata"), 20, "sp");
      cases.push_back(made);
    }
  }
  return cases;
}

// The same with another state space than .global: no name of one, or shared memory, where the bytes are brought and
// fetched from.
inline MatrixCase elsewhere(MatrixCase made, const std::string& space) {
  const auto exchange = [&made](const std::string& was, const std::string& is) {
    for (std::size_t at = 0; (at = made.text.find(was, at)) != std::string::npos; at += is.size())
      made.text.replace(at, was.size(), is);
  };
  if (space == ".global") return made;
  exchange(".global", space);
  if (space.empty()) return made;
  exchange("[%in+", "[%s_in+");
  exchange("[%out]", "[%s_out]");
  const auto copy = [](const std::string& name, std::size_t bytes, const std::string& from, const std::string& to,
                       const std::string& move) {
    return "mov.u32 %k, %lane;\n" + name + ":\nsetp.ge.u32 %done, %k, " + std::to_string(bytes) + ";\n@%done bra " +
           name + "_DONE;\ncvt.u64.u32 %far, %k; add.u64 %far, %far, " + from + "; add.u32 %near, %k, " + to + ";\n" +
           move + "add.u32 %k, %k, 32; bra " + name + ";\n" + name + "_DONE:\nbar.sync 0;\n";
  };
  made.text =
      ".shared .align 32 .b8 stage_in[" + std::to_string(made.in.size()) + "];\n.shared .align 32 .b8 stage_out[" +
      std::to_string(made.out.size()) +
      "];\n.reg .b32 %k, %near, %byte, %s_in, %s_out; .reg .b64 %far; .reg .pred %done;\nmov.u32 %s_in, stage_in; "
      "mov.u32 %s_out, stage_out;\n" +
      copy("BRING", made.in.size(), "%in", "%s_in", "ld.global.u8 %byte, [%far]; st.shared.u8 [%near], %byte;\n") +
      copy("CLEAR", made.out.size(), "%in", "%s_out", "mov.u32 %byte, 0; st.shared.u8 [%near], %byte;\n") + made.text +
      "bar.sync 0;\n" +
      copy("FETCH", made.out.size(), "%out", "%s_out", "ld.shared.u8 %byte, [%near]; st.global.u8 [%far], %byte;\n");
  return made;
}

// wmma: fragments are closed, so matrices go from memory to memory.
inline std::vector<MatrixCase> wmma_cases() {
  struct Form {
    std::string shape, d, a, c;
    u32 a_registers, b_registers, c_registers, d_registers;
    std::string op, suffix;
    bool any_layout;
  };
  std::vector<Form> forms;
  const char* large[] = {"m16n16k16", "m8n32k16", "m32n8k16"};
  const u32 a_of[] = {4, 2, 8}, b_of[] = {4, 8, 2};
  for (u32 s = 0; s < 3; ++s) {
    for (const char* d : {"f16", "f32"}) {
      for (const char* c : {"f16", "f32"}) {
        forms.push_back({large[s], d, "f16", c, 8, 8, c[1] == '1' ? 4u : 8u, d[1] == '1' ? 4u : 8u, "", "", true});
      }
    }
    forms.push_back({large[s], "f32", "bf16", "f32", a_of[s], b_of[s], 8, 8, "", "", true});
    for (const char* a : {"u8", "s8"}) {
      for (const char* suffix : {"", ".satfinite"}) {
        forms.push_back({large[s], "s32", a, "s32", a_of[s] / 2, b_of[s] / 2, 8, 8, "", suffix, true});
      }
    }
  }
  forms.push_back({"m16n16k8", "f32", "tf32", "f32", 4, 4, 8, 8, "", "", true});
  for (const char* rounding : {"", ".rn", ".rz", ".rm", ".rp"}) {
    forms.push_back({"m8n8k4", "f64", "f64", "f64", 1, 1, 2, 2, "", rounding, true});
  }
  for (const char* a : {"u4", "s4"}) {
    for (const char* suffix : {"", ".satfinite"})
      forms.push_back({"m8n8k32", "s32", a, "s32", 1, 1, 2, 2, "", suffix, false});
  }
  for (const char* op : {"xor", "and"}) forms.push_back({"m8n8k128", "s32", "b1", "s32", 1, 1, 2, 2, op, "", false});

  std::vector<MatrixCase> cases;
  std::mt19937 random(4);
  for (const Form& f : forms) {
    for (u32 layout = f.any_layout ? 0 : 2; layout < (f.any_layout ? 4u : 3u); ++layout) {
      const bool a_column = layout & 1, b_column = layout & 2, c_column = random() % 2, d_column = random() % 2;
      u32 m, n, k;
      read_shape(f.shape, m, n, k);
      const Product p{f.shape, f.d, f.a, f.a, f.c, f.op, f.suffix};
      const MatrixType ta = matrix_type(f.a), tc = matrix_type(f.c), td = matrix_type(f.d);
      const Values a = any_matrix(m, k, ta, random), b = any_matrix(k, n, ta, random), c = any_matrix(m, n, tc, random);
      MatrixCase made;
      // Lines of the matrix, 16 elements apart (128 bits of small ones) more than they are long.
      const auto put = [](std::vector<u8>& bytes, const Values& v, const MatrixType& type, bool by_column,
                          u32& stride) {
        while (bytes.size() % 32) bytes.push_back(0);
        const u32 start = u32(bytes.size()), lines = u32(by_column ? v[0].size() : v.size()),
                  length = u32(by_column ? v.size() : v[0].size());
        stride = length + (type.storage < 8 ? 128 / type.storage : 16);
        for (u32 line = 0; line < lines; ++line) {
          u8 byte = 0;
          for (u32 e = 0; e < stride; ++e) {
            const u64 x = e < length ? (by_column ? v[e][line] : v[line][e]) : 0;
            if (type.storage >= 8) {
              append_bits(bytes, x, type.storage);
            } else {
              byte |= u8(x << e * type.storage % 8);
              if ((e + 1) * type.storage % 8 == 0) bytes.push_back(byte), byte = 0;
            }
          }
        }
        return start;
      };
      const auto order = [](bool by_column) { return std::string(by_column ? ".col" : ".row"); };
      const auto load = [&](const char* name, const Values& v, const MatrixType& type, bool by_column, u32 registers) {
        u32 stride;
        const u32 start = put(made.in, v, type, by_column, stride);
        const Fragment shape{registers, type.storage == 64 ? 64u : 32u, {}};
        return declared(name, shape) + "wmma.load." + name + ".sync.aligned" + order(by_column) + "." + f.shape +
               ".global." + type.name + " " + braces(name, registers) + ", [%in+" + std::to_string(start) + "], " +
               std::to_string(stride) + ";\n";
      };
      made.text = load("a", a, ta, a_column, f.a_registers) + load("b", b, ta, b_column, f.b_registers) +
                  load("c", c, tc, c_column, f.c_registers);
      const std::string all = f.a == "f16" ? "." + f.d + "." + f.c : types(p);
      made.text += declared("d", {f.d_registers, td.storage == 64 ? 64u : 32u, {}}) + "wmma.mma" +
                   (f.op.empty() ? "" : "." + f.op + ".popc") + ".sync.aligned" + order(a_column) + order(b_column) +
                   "." + f.shape + f.suffix + all + " " + braces("d", f.d_registers) + ", " +
                   braces("a", f.a_registers) + ", " + braces("b", f.b_registers) + ", " + braces("c", f.c_registers) +
                   ";\n";
      u32 stride;
      put(made.out, product(p, a, b, c), td, d_column, stride);
      made.text += "wmma.store.d.sync.aligned" + order(d_column) + "." + f.shape + ".global." + f.d + " [%out], " +
                   braces("d", f.d_registers) + ", " + std::to_string(stride) + ";\n";
      const char* spaces[] = {".global", "", ".shared", ".shared::cta"};
      for (u32 k = 0; k < 4; ++k) {
        if (!f.any_layout || k == layout) cases.push_back(elsewhere(made, spaces[k]));
      }
    }
  }
  return cases;
}

// ldmatrix, stmatrix, movmatrix: 8 x 8 elements of 16 bits each.
inline std::vector<MatrixCase> move_cases() {
  std::vector<MatrixCase> cases;
  const auto element = [](u32 matrix, u32 row, u32 column) { return u16(matrix << 8 | row << 4 | column); };
  const std::string setup =
      ".shared .align 16 .b8 tile[512];\n.reg .b32 %row, %spot;\n.reg .b64 %wide;\nmul.lo.u32 %row, %lane, 16;\n"
      "mov.u32 %spot, tile;\nadd.u32 %row, %row, %spot;\n";
  for (const u32 count : {1u, 2u, 4u}) {
    for (const bool transposed : {false, true}) {
      for (const std::string where : {"", ".shared", ".shared::cta"}) {
        const Layout at = [transposed](u32 lane, u32 i) {
          return transposed ? At{lane % 4 * 2 + i, lane / 4} : At{lane / 4, lane % 4 * 2 + i};
        };
        Fragment f{count, 32, {}};
        for (u32 r = 0; r < count; ++r) {
          for (u32 lane = 0; lane < 32; ++lane) {
            const At low = at(lane, 0), high = at(lane, 1);
            f.words.push_back(u64{element(r, low.row, low.column)} | u64{element(r, high.row, high.column)} << 16);
          }
        }
        std::vector<u8> rows;
        for (u32 r = 0; r < count; ++r) {
          for (u32 k = 0; k < 64; ++k) append(rows, element(r, k / 8, k % 8));
        }
        const std::string address = where.empty() ? "%wide" : "%row";
        const std::string widen = "cvt.u64.u32 %wide, %row; cvta.shared.u64 %wide, %wide;\n";
        const std::string tail = std::string(transposed ? ".trans" : "") + where + ".b16 ";
        const std::string x = ".sync.aligned.m8n8.x" + std::to_string(count) + tail;
        // Each lane copies 16 bytes to (from) shared memory; the tile is 512 bytes.
        MatrixCase load;
        load.in = rows;
        load.in.resize(512);
        load.text = setup + widen + declared("d", f) + ".reg .b64 %x, %y;\n" +
                    "mul.wide.u32 %at, %lane, 16; add.u64 %at, %at, %in; ld.global.v2.b64 {%x, %y}, [%at];\n"
                    "st.shared.v2.b64 [%row], {%x, %y};\nbar.sync 0;\nldmatrix" +
                    x + braces("d", count) + ", [" + address + "];\n" + stored("d", f, load);
        cases.push_back(load);
        MatrixCase store;
        store.text = setup + widen + loaded("a", f, store) + ".reg .b64 %x, %y;\nmov.u64 %x, 0;\n" +
                     "st.shared.v2.b64 [%row], {%x, %x};\nbar.sync 0;\nstmatrix" + x + "[" + address + "], " +
                     braces("a", count) + ";\nbar.sync 0;\n" +
                     "mul.wide.u32 %at, %lane, 16; add.u64 %at, %at, %out; ld.shared.v2.b64 {%x, %y}, [%row];\n"
                     "st.global.v2.b64 [%at], {%x, %y};\n";
        store.out = rows;
        store.out.resize(512);
        cases.push_back(store);
      }
    }
  }
  MatrixCase move;
  Fragment before{1, 32, {}}, after{1, 32, {}};
  for (u32 lane = 0; lane < 32; ++lane) {
    const u32 row = lane / 4, column = lane % 4 * 2;
    before.words.push_back(element(0, row, column) | u64{element(0, row, column + 1)} << 16);
    after.words.push_back(element(0, column, row) | u64{element(0, column + 1, row)} << 16);
  }
  move.text = loaded("a", before, move) + declared("d", after) + "movmatrix.sync.aligned.m8n8.trans.b16 %d0, %a0;\n" +
              stored("d", after, move);
  cases.push_back(move);
  return cases;
}

}  // namespace instructions
