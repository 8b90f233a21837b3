// A model: its shape, the file that holds it, and its weights on the device.
//
// The file, which train.py writes (all numbers are little-endian):
//   8 bytes "CUDALM1\n"
//   the eight integers of Shape, of 4 bytes each
//   `vocabulary` integers of 4 bytes: the character of each token, or 0 for a token that is not used
//   the matrices in bfloat16, row after row: the embeddings; for each layer qkv, out, gate_up and down; the head
#pragma once
#include "common/cu.hpp"
#include "common/image.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace engine {

// The weights have as many columns as x has: a multiple of 256. A head has 64 or 128 elements.
struct Shape {
  int layers, width, hidden, heads, kv_heads, head, vocabulary, rotation;  // rotation: theta of RoPE

  int rows_of_qkv() const { return (heads + 2 * kv_heads) * head; }
};

// A message for the user: what failed, why, and what to do.
struct Problem : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct File {
  Shape shape;
  std::vector<int> characters;
  std::vector<std::uint16_t> weights;

  static std::size_t elements(const Shape& s) {
    const std::size_t of_layer = std::size_t(s.width) * (s.rows_of_qkv() + s.heads * s.head + 3 * s.hidden);
    return 2 * std::size_t(s.vocabulary) * s.width + s.layers * of_layer;
  }
};

inline bool is_usable(const Shape& s) {
  const int smallest = std::min({s.layers, s.width, s.hidden, s.heads, s.kv_heads, s.vocabulary, s.rotation});
  return smallest > 0 && (s.head == 64 || s.head == 128) && s.width % 256 == 0 && s.hidden % 256 == 0 &&
         s.heads * s.head % 256 == 0 && s.heads % s.kv_heads == 0 && s.heads / s.kv_heads <= 16 &&
         s.vocabulary % 16 == 0 && s.layers <= 1000 && s.width <= 65536 && s.hidden <= 1 << 20 && s.heads <= 1024 &&
         s.vocabulary <= 1 << 20;
}

inline File read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw Problem("cannot open " + path + ". Type `make 05-17`, which trains the model and writes the file.");
  File file;
  char magic[8];
  in.read(magic, sizeof magic).read(reinterpret_cast<char*>(&file.shape), sizeof file.shape);
  if (!in || std::memcmp(magic, "CUDALM1\n", sizeof magic) != 0 || !is_usable(file.shape)) {
    throw Problem(path + " is not a model of this lesson: its header is wrong. Delete it, and type `make 05-17`.");
  }
  file.characters.resize(file.shape.vocabulary);
  file.weights.resize(File::elements(file.shape));
  in.read(reinterpret_cast<char*>(file.characters.data()), 4 * file.characters.size());
  in.read(reinterpret_cast<char*>(file.weights.data()), 2 * file.weights.size());
  if (!in || in.peek() != std::ifstream::traits_type::eof()) {
    throw Problem(path + " does not have as many bytes as its header says. Delete it, and type `make 05-17`.");
  }
  return file;
}

// The images of the lesson's kernels.
struct Kernels {
  const cu::Module steps, attention, norm, loop;
  const bool overlap;

  // The folder of the images, relative to the program's.
  explicit Kernels(const std::string& folder = "") : Kernels(folder, newest()) {}
  // `suffix`: of the files. Those for compute capability 9.0 start a kernel while the one before is running.
  Kernels(const std::string& folder, const std::string& suffix)
      : steps(cu::image(folder + "kernels" + suffix)),
        attention(cu::image(folder + "attention" + suffix)),
        norm(cu::image(folder + "norm.ptx")),
        loop(cu::image(folder + "loop.ptx")),
        overlap(suffix != ".ptx") {}

 private:
  static std::string newest() {
    CUdevice device;
    int major;
    CU_THROW(cuCtxGetDevice(&device));
    CU_THROW(cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device));
    return major >= 9 ? "90.ptx" : ".ptx";
  }
};

// A matrix on the device, in the order of the tiles.
struct Matrix {
  cu::Memory weights, scales;
  int rows, columns, segment;
  std::size_t bytes;
};

class Weights {
 public:
  // `fill(address, elements)` stores the next matrix at the address, in bfloat16.
  using Fill = std::function<void(CUdeviceptr, std::size_t)>;

  Weights(const Kernels& kernels, const Shape& shape, bool four_bit, const Fill& fill)
      : kernels_(kernels), four_bit_(four_bit), embeddings(2 * std::size_t(shape.vocabulary) * shape.width) {
    fill(embeddings.address, std::size_t(shape.vocabulary) * shape.width);
    for (int i = 0; i < shape.layers; ++i) {
      qkv.push_back(loaded(fill, shape.rows_of_qkv(), shape.width, shape.head));
      out.push_back(loaded(fill, shape.width, shape.heads * shape.head, 16));
      gate_up.push_back(loaded(fill, 2 * shape.hidden, shape.width, 2 * shape.hidden));
      down.push_back(loaded(fill, shape.width, shape.hidden, 16));
    }
    head.push_back(loaded(fill, shape.vocabulary, shape.width, 16));
  }
  bool four_bit() const { return four_bit_; }
  // Of the matrices that every step loads.
  std::size_t bytes() const {
    std::size_t sum = 0;
    for (const auto* of_layers : {&qkv, &out, &gate_up, &down, &head}) {
      for (const Matrix& matrix : *of_layers) sum += matrix.bytes;
    }
    return sum;
  }

 private:
  Matrix loaded(const Fill& fill, int rows, int columns, int segment) const {
    const std::size_t count = std::size_t(rows) * columns;
    const cu::Memory raw(2 * count), arranged(2 * count);
    fill(raw.address, count);
    CUdeviceptr from = raw.address, to = arranged.address;
    void* of_arrange[] = {&from, &to, &columns, &segment};
    launch("arrange", rows, of_arrange);
    Matrix matrix{{}, {}, rows, columns, segment, 2 * count};
    if (four_bit_) {
      const cu::Memory plain(count / 2);
      matrix.weights = cu::Memory(count / 2), matrix.scales = cu::Memory(count / 64);
      matrix.bytes = count / 2 + count / 64;
      CUdeviceptr unused = plain.address;
      void* arguments[] = {&to, &unused, &matrix.weights.address, &matrix.scales.address, &rows, &columns};
      launch("quantize", static_cast<unsigned>((count / 8 + 255) / 256), arguments);
    } else {
      matrix.weights = cu::Memory(2 * count);
      void* arguments[] = {&to, &matrix.weights.address, &columns};
      launch("pack", rows / 16, arguments);
    }
    CU_THROW(cuCtxSynchronize());
    return matrix;
  }
  void launch(const char* kernel, unsigned blocks, void** arguments) const {
    CU_THROW(cuLaunchKernel(kernels_.steps.function(kernel), blocks, 1, 1, 256, 1, 1, 0, nullptr, arguments, nullptr));
  }

  const Kernels& kernels_;
  const bool four_bit_;

 public:
  cu::Memory embeddings;
  std::vector<Matrix> qkv, out, gate_up, down, head;
};

inline Weights from_file(const Kernels& kernels, const File& file, bool four_bit) {
  std::size_t at = 0;
  return Weights(kernels, file.shape, four_bit, [&](CUdeviceptr to, std::size_t count) {
    CU_THROW(cuMemcpyHtoD(to, file.weights.data() + at, 2 * count));
    at += count;
  });
}

// Random normals, for measurements. Rows of the embeddings are as long as rows that a norm returns.
inline Weights random(const Kernels& kernels, const Shape& shape, bool four_bit, unsigned seed = 1) {
  return Weights(kernels, shape, four_bit, [&](CUdeviceptr to, std::size_t count) {
    float factor = seed == 1 ? 1 : 0.02f;
    void* arguments[] = {&to, &count, &seed, &factor};
    CU_THROW(
        cuLaunchKernel(kernels.steps.function("fill_weights"), 1024, 1, 1, 256, 1, 1, 0, nullptr, arguments, nullptr));
    ++seed;
  });
}

}  // namespace engine
