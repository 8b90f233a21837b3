// Asks four libraries to work on a context, a stream and memory that the driver API made, and does the same on the CPU.
#include "libraries.hpp"
#include "references.hpp"

#include <functional>

// Floats on the device, filled and read by our stream.
struct Array {
  std::size_t count;
  CUstream stream;
  cu::Memory memory{count * sizeof(float)};

  Array(CUstream s, std::size_t size) : count(size), stream(s) {}
  Array(CUstream s, const Floats& from) : Array(s, from.size()) {
    CU_THROW(cuMemcpyHtoDAsync(memory.address, from.data(), count * sizeof(float), stream));
  }
  float* data() const { return reinterpret_cast<float*>(memory.address); }  // a CUdeviceptr as the libraries take it
  Floats read() const {
    Floats back(count);
    CU_THROW(cuMemcpyDtoHAsync(back.data(), memory.address, count * sizeof(float), stream));
    CU_THROW(cuStreamSynchronize(stream));
    return back;
  }
};

// What one library was asked for, how many nodes of a graph that is in our stream, and how far from the CPU it ended.
struct Answer {
  std::string file, version, asked;
  std::size_t nodes;
  double error;
};

// What `work` puts into the stream: it is recorded there and not run. What goes elsewhere is not in the record.
std::size_t nodes(CUstream stream, const std::function<void()>& work) {
  CUgraph graph;
  std::size_t count = 0;
  CU_THROW(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
  work();
  CU_THROW(cuStreamEndCapture(stream, &graph));
  CU_THROW(cuGraphGetNodes(graph, nullptr, &count));
  CU_THROW(cuGraphDestroy(graph));
  return count;
}

Answer blas(CUstream stream) {
  const Cublas lib;
  void* handle;
  start("cublasCreate", lib.cublasCreate(&handle));  // takes the context that is current
  LIB_CHECK(lib.cublasSetStream, handle, stream);

  const int m = 96, n = 64, k = 32;  // rows of numbers, as in C
  const Floats a = numbers(m * k), b = numbers(k * n);
  const Array A(stream, a), B(stream, b), C(stream, m * n);
  const float one = 1, zero = 0;
  const auto multiply = [&] {  // columns for rows: cuBLAS is asked for the transposed product, b x a
    LIB_CHECK(lib.cublasSgemm, handle, 0, 0, n, m, k, &one, B.data(), n, A.data(), k, &zero, C.data(), n);
  };
  multiply();
  const Answer answer{lib.file, version_of(lib.cublasGetProperty), "96 x 32 times 32 x 64", nodes(stream, multiply),
                      largest_difference(C.read(), product(a, b, m, n, k))};
  LIB_CHECK(lib.cublasDestroy, handle);
  return answer;
}

Answer fft(CUstream stream) {
  const Cufft lib;
  const int count = 1000;
  int plan;
  start("cufftPlan1d", lib.cufftPlan1d(&plan, count, 0x29, 1));
  LIB_CHECK(lib.cufftSetStream, plan, stream);

  const Floats x = numbers(2 * count);
  const Array X(stream, x), Y(stream, x.size());
  const auto transform = [&] { LIB_CHECK(lib.cufftExecC2C, plan, X.data(), Y.data(), -1); };
  transform();
  const Answer answer{lib.file, version_of(lib.cufftGetProperty), "1000 complex numbers", nodes(stream, transform),
                      largest_difference(Y.read(), fourier(x))};
  LIB_CHECK(lib.cufftDestroy, plan);
  return answer;
}

Answer rand(CUstream stream) {
  const Curand lib;
  void *there, *here;
  start("curandCreateGenerator", lib.curandCreateGenerator(&there, 161));
  LIB_CHECK(lib.curandCreateGeneratorHost, &here, 161);
  LIB_CHECK(lib.curandSetStream, there, stream);

  Floats same(100000);  // the library can draw them with the CPU, too
  const Array R(stream, same.size());
  for (void* generator : {there, here}) LIB_CHECK(lib.curandSetPseudoRandomGeneratorSeed, generator, 2026);
  const auto draw = [&] { LIB_CHECK(lib.curandGenerateUniform, there, R.data(), R.count); };
  draw();
  LIB_CHECK(lib.curandGenerateUniform, here, same.data(), same.size());
  const Answer answer{lib.file, version_of(lib.curandGetProperty), "100000 random numbers", nodes(stream, draw),
                      largest_difference(R.read(), same)};
  for (void* generator : {there, here}) LIB_CHECK(lib.curandDestroyGenerator, generator);
  return answer;
}

Answer dnn(CUstream stream) {
  const Cudnn lib;
  void *handle, *tensors[2], *filter, *convolution;
  start("cudnnCreate", lib.cudnnCreate(&handle));
  LIB_CHECK(lib.cudnnSetStream, handle, stream);

  const int images = 2, channels = 3, filters = 4, side = 16;  // filters of 3 x 3, and a border of one zero
  for (void*& tensor : tensors) LIB_CHECK(lib.cudnnCreateTensorDescriptor, &tensor);
  LIB_CHECK(lib.cudnnSetTensor4dDescriptor, tensors[0], 0, 0, images, channels, side, side);
  LIB_CHECK(lib.cudnnSetTensor4dDescriptor, tensors[1], 0, 0, images, filters, side, side);
  LIB_CHECK(lib.cudnnCreateFilterDescriptor, &filter);
  LIB_CHECK(lib.cudnnSetFilter4dDescriptor, filter, 0, 0, filters, channels, 3, 3);
  LIB_CHECK(lib.cudnnCreateConvolutionDescriptor, &convolution);
  LIB_CHECK(lib.cudnnSetConvolution2dDescriptor, convolution, 1, 1, 1, 1, 1, 1, 1, 0);
  LIB_CHECK(lib.cudnnSetConvolutionMathType, convolution, 3);  // 3: floats stay floats

  const Floats x = numbers(images * channels * side * side), w = numbers(filters * channels * 9);
  const Array X(stream, x), W(stream, w), Y(stream, images * filters * side * side);
  const float one = 1, zero = 0;
  const auto convolve = [&] {  // algorithm 0 needs no workspace
    LIB_CHECK(lib.cudnnConvolutionForward, handle, &one, tensors[0], X.data(), filter, W.data(), convolution, 0,
              nullptr, 0, &zero, tensors[1], Y.data());
  };
  convolve();
  const Answer answer{lib.file, version_of(lib.cudnnGetProperty), "4 filters over 2 images", nodes(stream, convolve),
                      largest_difference(Y.read(), convolution_3x3(x, w, channels, filters, side))};
  LIB_CHECK(lib.cudnnDestroyConvolutionDescriptor, convolution);
  LIB_CHECK(lib.cudnnDestroyFilterDescriptor, filter);
  for (void* tensor : tensors) LIB_CHECK(lib.cudnnDestroyTensorDescriptor, tensor);
  LIB_CHECK(lib.cudnnDestroy, handle);
  return answer;
}

int main() try {
  cu::Context context;
  cu::Stream stream;
  struct {
    const char* name;
    Answer (*ask)(CUstream);
    double at_most;  // of a difference: how many floats it adds up, and how large
  } const libraries[] = {{"cuBLAS", blas, 1e-5}, {"cuFFT", fft, 1e-4}, {"cuRAND", rand, 0}, {"cuDNN", dnn, 1e-5}};

  bool right = true;
  std::string why_not;
  int used = 0;
  std::printf("library | file            | version | asked for               | nodes | from the CPU\n");
  for (const auto& library : libraries) {
    try {
      const Answer a = library.ask(stream.handle);
      std::printf("%-7s | %-15s | %-7s | %-23s | %5zu | %.1e\n", library.name, a.file.c_str(), a.version.c_str(),
                  a.asked.c_str(), a.nodes, a.error);
      right &= a.nodes > 0 && a.error <= library.at_most;
      ++used;
    } catch (const Unusable& reason) {
      std::printf("%-7s | skipped: %s\n", library.name, reason.what());
      why_not = reason.what();
    }
  }
  if (used == 0) std::printf("skipped: none of the libraries works here: %s\n", why_not.c_str());
  return used == 0 ? 77 : right ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
