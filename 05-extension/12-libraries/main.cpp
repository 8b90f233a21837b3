// Calls four libraries with a context, a stream and memory from the driver API, and compares the results with the
// CPU's.
#include "cudnn.hpp"
#include "libraries.hpp"
#include "references.hpp"

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>

// Floats on the device, copied in the stream.
struct Array {
  std::size_t count;
  CUstream stream;
  cu::Memory memory{count * sizeof(float)};

  Array(CUstream s, std::size_t size) : count(size), stream(s) {}
  Array(CUstream s, const Floats& from) : Array(s, from.size()) {
    CU_THROW(cuMemcpyHtoDAsync(memory.address, from.data(), count * sizeof(float), stream));
  }
  float* data() const { return reinterpret_cast<float*>(memory.address); }  // the libraries take pointers
  Floats read() const {
    Floats back(count);
    CU_THROW(cuMemcpyDtoHAsync(back.data(), memory.address, count * sizeof(float), stream));
    CU_THROW(cuStreamSynchronize(stream));
    return back;
  }
};

// What a library computed, how many nodes this is in a graph captured from the stream, and the difference from the CPU.
struct Result {
  std::string file, version, computed;
  std::size_t nodes;
  double error;
  std::vector<std::pair<const char*, std::size_t>> set_up_otherwise;  // the nodes if the handle is set up in other ways
};

// Captures what work() enqueues in this stream, without running it, and returns the number of graph nodes. Work that
// goes into another stream is not captured.
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

Result blas(CUstream stream) {
  const Cublas lib;
  void* handle;
  start("cublasCreate", lib.cublasCreate(&handle));  // for the current context
  LIB_CHECK(lib.cublasSetStream, handle, stream);

  const int m = 96, n = 64, k = 32;  // stored row by row, as in C
  const Floats a = numbers(m * k), b = numbers(k * n);
  const Array A(stream, a), B(stream, b), C(stream, m * n);
  const float one = 1, zero = 0;
  const auto multiply = [&] {  // cuBLAS reads columns, so it computes the transposed product, b x a
    LIB_CHECK(lib.cublasSgemm, handle, 0, 0, n, m, k, &one, B.data(), n, A.data(), k, &zero, C.data(), n);
  };
  multiply();
  Result result{lib.file,
                version_of(lib.cublasGetProperty),
                "96 x 32 times 32 x 64",
                nodes(stream, multiply),
                largest_difference(C.read(), product(a, b, m, n, k)),
                {}};

  const std::size_t bytes = 32 << 20;
  const cu::Memory workspace(bytes);
  LIB_CHECK(lib.cublasSetWorkspace, handle, reinterpret_cast<void*>(workspace.address), bytes);
  result.set_up_otherwise.emplace_back("cuBLAS with a workspace", nodes(stream, multiply));
  LIB_CHECK(lib.cublasSetStream, handle, nullptr);  // the default stream, as for a new handle
  result.set_up_otherwise.emplace_back("cuBLAS without a stream", nodes(stream, multiply));
  LIB_CHECK(lib.cublasDestroy, handle);
  return result;
}

Result fft(CUstream stream) {
  const Cufft lib;
  const int count = 1000;
  int plan;
  start("cufftPlan1d", lib.cufftPlan1d(&plan, count, 0x29, 1));
  LIB_CHECK(lib.cufftSetStream, plan, stream);

  const Floats x = numbers(2 * count);
  const Array X(stream, x), Y(stream, x.size());
  const auto transform = [&] { LIB_CHECK(lib.cufftExecC2C, plan, X.data(), Y.data(), -1); };
  transform();
  const Result result{lib.file,
                      version_of(lib.cufftGetProperty),
                      "1000 complex numbers",
                      nodes(stream, transform),
                      largest_difference(Y.read(), fourier(x)),
                      {}};
  LIB_CHECK(lib.cufftDestroy, plan);
  return result;
}

Result rand(CUstream stream) {
  const Curand lib;
  void *there, *here;
  start("curandCreateGenerator", lib.curandCreateGenerator(&there, 161));
  LIB_CHECK(lib.curandCreateGeneratorHost, &here, 161);
  LIB_CHECK(lib.curandSetStream, there, stream);

  Floats same(100000);  // the library's host generator computes the same numbers on the CPU
  const Array R(stream, same.size());
  for (void* generator : {there, here}) LIB_CHECK(lib.curandSetPseudoRandomGeneratorSeed, generator, 2026);
  const auto draw = [&] { LIB_CHECK(lib.curandGenerateUniform, there, R.data(), R.count); };
  draw();
  LIB_CHECK(lib.curandGenerateUniform, here, same.data(), same.size());
  const Result result{lib.file,
                      version_of(lib.curandGetProperty),
                      "100000 random numbers",
                      nodes(stream, draw),
                      largest_difference(R.read(), same),
                      {}};
  for (void* generator : {there, here}) LIB_CHECK(lib.curandDestroyGenerator, generator);
  return result;
}

// y = max(0, convolution(x, w) + b): three operations that cuDNN computes as one graph.
struct ConvolutionGraph {
  static constexpr int kImages = 2, kChannels = 4, kFilters = 8, kSide = 16;  // filters of 3 x 3, a border of one zero
  enum Id : std::int64_t { kX = 'x', kW = 'w', kB = 'b', kY = 'y', kConvolved = 'c', kSum = 's' };

  const Cudnn& lib;
  // Every tensor is stored with the channels last, as cuDNN's newer engines prefer.
  const cudnn::Numbers image_size{kImages, kChannels, kSide, kSide}, result_size{kImages, kFilters, kSide, kSide};
  cudnn::Descriptor x{lib, cudnn::TENSOR}, w{lib, cudnn::TENSOR}, b{lib, cudnn::TENSOR}, convolved{lib, cudnn::TENSOR},
      sum{lib, cudnn::TENSOR}, y{lib, cudnn::TENSOR};
  cudnn::Descriptor how{lib, cudnn::CONVOLUTION}, add{lib, cudnn::POINTWISE}, relu{lib, cudnn::POINTWISE};
  cudnn::Descriptor convolution{lib, cudnn::OPERATION_CONVOLUTION_FORWARD}, addition{lib, cudnn::OPERATION_POINTWISE},
      activation{lib, cudnn::OPERATION_POINTWISE};
  cudnn::Descriptor graph{lib, cudnn::OPERATIONGRAPH};

  ConvolutionGraph(const Cudnn& library, void* handle) : lib(library) {
    describe(x, kX, image_size);
    describe(w, kW, {kFilters, kChannels, 3, 3});
    describe(b, kB, {1, kFilters, 1, 1});
    describe(convolved, kConvolved, result_size, true);
    describe(sum, kSum, result_size, true);
    describe(y, kY, result_size);

    const cudnn::Numbers ones{1, 1};
    how.set(cudnn::CONVOLUTION_COMP_TYPE, cudnn::DATA_TYPE, cudnn::kFloat)
        .set(cudnn::CONVOLUTION_CONV_MODE, cudnn::CONVOLUTION_MODE, cudnn::kCrossCorrelation)
        .set(cudnn::CONVOLUTION_SPATIAL_DIMS, cudnn::INT64, std::int64_t{2});
    for (auto name : {cudnn::CONVOLUTION_DILATIONS, cudnn::CONVOLUTION_FILTER_STRIDES, cudnn::CONVOLUTION_PRE_PADDINGS,
                      cudnn::CONVOLUTION_POST_PADDINGS}) {
      how.set_all(name, cudnn::INT64, ones);
    }
    how.finalize();
    convolution.set(cudnn::OPERATION_CONVOLUTION_FORWARD_CONV_DESC, how)
        .set(cudnn::OPERATION_CONVOLUTION_FORWARD_X, x)
        .set(cudnn::OPERATION_CONVOLUTION_FORWARD_W, w)
        .set(cudnn::OPERATION_CONVOLUTION_FORWARD_Y, convolved)
        .set(cudnn::OPERATION_CONVOLUTION_FORWARD_ALPHA, cudnn::FLOAT, 1.0f)
        .set(cudnn::OPERATION_CONVOLUTION_FORWARD_BETA, cudnn::FLOAT, 0.0f)
        .finalize();
    pointwise(add, cudnn::kAdd);
    addition.set(cudnn::OPERATION_POINTWISE_PW_DESCRIPTOR, add)
        .set(cudnn::OPERATION_POINTWISE_XDESC, convolved)
        .set(cudnn::OPERATION_POINTWISE_BDESC, b)
        .set(cudnn::OPERATION_POINTWISE_YDESC, sum)
        .finalize();
    pointwise(relu, cudnn::kRelu);
    activation.set(cudnn::OPERATION_POINTWISE_PW_DESCRIPTOR, relu)
        .set(cudnn::OPERATION_POINTWISE_XDESC, sum)
        .set(cudnn::OPERATION_POINTWISE_YDESC, y)
        .finalize();
    const std::vector<void*> operations{convolution.handle(), addition.handle(), activation.handle()};
    graph.set(cudnn::OPERATIONGRAPH_HANDLE, cudnn::HANDLE, handle)
        .set_all(cudnn::OPERATIONGRAPH_OPS, cudnn::BACKEND_DESCRIPTOR, operations)
        .finalize();
  }

  // A virtual tensor exists only between two operations. If one kernel computes both, the tensor needs no memory.
  static void describe(cudnn::Descriptor& tensor, Id id, const cudnn::Numbers& size, bool is_virtual = false) {
    const std::int64_t channels = size[1], row = size[3] * channels;
    tensor.set(cudnn::TENSOR_UNIQUE_ID, cudnn::INT64, std::int64_t{id})
        .set(cudnn::TENSOR_DATA_TYPE, cudnn::DATA_TYPE, cudnn::kFloat)
        .set(cudnn::TENSOR_BYTE_ALIGNMENT, cudnn::INT64, std::int64_t{16})
        .set(cudnn::TENSOR_IS_VIRTUAL, cudnn::BOOLEAN, is_virtual)
        .set_all(cudnn::TENSOR_DIMENSIONS, cudnn::INT64, size)
        .set_all(cudnn::TENSOR_STRIDES, cudnn::INT64, cudnn::Numbers{size[2] * row, 1, row, channels})
        .finalize();
  }

  static void pointwise(cudnn::Descriptor& descriptor, int mode) {
    descriptor.set(cudnn::POINTWISE_MODE_OF, cudnn::POINTWISE_MODE, mode)
        .set(cudnn::POINTWISE_MATH_PREC, cudnn::DATA_TYPE, cudnn::kFloat)
        .finalize();
  }
};

// The engine configurations that cuDNN's heuristics propose for a graph, best first.
struct Proposals {
  std::vector<std::unique_ptr<cudnn::Descriptor>> configurations;

  Proposals(const Cudnn& lib, const cudnn::Descriptor& graph) {
    for (const int mode : {cudnn::kModeA, cudnn::kFallback}) {
      cudnn::Descriptor heuristics(lib, cudnn::ENGINEHEUR);
      heuristics.set(cudnn::ENGINEHEUR_OPERATION_GRAPH, graph).set(cudnn::ENGINEHEUR_MODE, cudnn::HEUR_MODE, mode);
      if (!heuristics.try_finalize()) continue;
      const auto count = heuristics.count(cudnn::ENGINEHEUR_RESULTS, cudnn::BACKEND_DESCRIPTOR);
      std::vector<void*> handles;
      const std::size_t before = configurations.size();
      for (std::int64_t i = 0; i < count; ++i) {
        configurations.push_back(std::make_unique<cudnn::Descriptor>(lib, cudnn::ENGINECFG));
        handles.push_back(configurations.back()->handle());
      }
      const auto filled = heuristics.get(cudnn::ENGINEHEUR_RESULTS, cudnn::BACKEND_DESCRIPTOR, handles);
      configurations.resize(before + filled.size());
    }
  }

  // Whether an engine uses tensor cores. For floats, these round the inputs to TF32, which has 10 bits after the point.
  static bool rounds(const Cudnn& lib, const cudnn::Descriptor& configuration) {
    const cudnn::Descriptor engine(lib, cudnn::ENGINE);
    configuration.get(cudnn::ENGINECFG_ENGINE, cudnn::BACKEND_DESCRIPTOR, std::vector<void*>{engine.handle()});
    const auto notes = engine.get(cudnn::ENGINE_NUMERICAL_NOTE, cudnn::NUMERICAL_NOTE, std::vector<int>(16));
    return std::find(notes.begin(), notes.end(), cudnn::kTensorCore) != notes.end();
  }
};

Result dnn(CUstream stream) {
  const Cudnn lib;
  void* handle;
  start("cudnnCreate", lib.cudnnCreate(&handle));
  LIB_CHECK(lib.cudnnSetStream, handle, stream);

  using G = ConvolutionGraph;
  const G graph(lib, handle);
  const Proposals proposals(lib, graph.graph);
  std::unique_ptr<cudnn::Descriptor> plan;
  for (const auto& configuration : proposals.configurations) {
    if (Proposals::rounds(lib, *configuration)) continue;
    auto candidate = std::make_unique<cudnn::Descriptor>(lib, cudnn::EXECUTION_PLAN);
    candidate->set(cudnn::EXECUTION_PLAN_HANDLE, cudnn::HANDLE, handle)
        .set(cudnn::EXECUTION_PLAN_ENGINE_CONFIG, *configuration);
    if (!candidate->try_finalize()) continue;
    plan = std::move(candidate);
    break;
  }
  if (!plan) throw Unusable("cuDNN has no engine for this graph without tensor cores");

  const Floats x = numbers(G::kImages * G::kChannels * G::kSide * G::kSide),
               w = numbers(G::kFilters * G::kChannels * 9), b = numbers(G::kFilters);
  const int area = G::kSide * G::kSide;
  const std::size_t results = G::kImages * G::kFilters * area;
  const Array X(stream, channels_last(x, G::kChannels, area)), W(stream, channels_last(w, G::kChannels, 9)),
      B(stream, b), Y(stream, results);
  const auto bytes = plan->get(cudnn::EXECUTION_PLAN_WORKSPACE_SIZE, cudnn::INT64, cudnn::Numbers{0}).front();
  const cu::Memory workspace(std::max<std::int64_t>(bytes, 1));
  cudnn::Descriptor pack(lib, cudnn::VARIANT_PACK);  // which memory belongs to which tensor
  pack.set_all(cudnn::VARIANT_PACK_UNIQUE_IDS, cudnn::INT64, cudnn::Numbers{G::kX, G::kW, G::kB, G::kY})
      .set_all(cudnn::VARIANT_PACK_DATA_POINTERS, cudnn::VOID_PTR,
               std::vector<float*>{X.data(), W.data(), B.data(), Y.data()})
      .set(cudnn::VARIANT_PACK_WORKSPACE, cudnn::VOID_PTR, reinterpret_cast<void*>(workspace.address))
      .finalize();
  const auto convolve = [&] { LIB_CHECK(lib.cudnnBackendExecute, handle, plan->handle(), pack.handle()); };
  convolve();
  const Floats expected =
      channels_last(convolution_bias_relu(x, w, b, G::kChannels, G::kFilters, G::kSide), G::kFilters, area);
  const Result result{lib.file,
                      version_of(lib.cudnnGetProperty),
                      "convolution, bias, ReLU",
                      nodes(stream, convolve),
                      largest_difference(Y.read(), expected),
                      {}};
  plan.reset();
  LIB_CHECK(lib.cudnnDestroy, handle);
  return result;
}

int main() try {
  cu::Primary context;
  cu::Stream stream;
  struct {
    const char* name;
    Result (*compute)(CUstream);
    double at_most;  // the tolerated difference depends on how many floats are added up, and on their size
  } const libraries[] = {{"cuBLAS", blas, 1e-5}, {"cuFFT", fft, 1e-4}, {"cuRAND", rand, 0}, {"cuDNN", dnn, 1e-5}};

  bool right = true;
  std::string reason_of_last;
  decltype(Result::set_up_otherwise) set_up_otherwise;
  int used = 0;
  std::printf("library | file            | version | computed                | nodes | difference\n");
  for (const auto& library : libraries) {
    try {
      const Result a = library.compute(stream.handle);
      std::printf("%-7s | %-15s | %-7s | %-23s | %5zu | %.1e\n", library.name, a.file.c_str(), a.version.c_str(),
                  a.computed.c_str(), a.nodes, a.error);
      set_up_otherwise.insert(set_up_otherwise.end(), a.set_up_otherwise.begin(), a.set_up_otherwise.end());
      right &= a.nodes > 0 && a.error <= library.at_most;
      ++used;
    } catch (const Unusable& reason) {
      std::printf("%-7s | skipped: %s\n", library.name, reason.what());
      reason_of_last = reason.what();
    }
  }
  for (const auto& [how, count] : set_up_otherwise) std::printf("%s: %zu nodes\n", how, count);
  if (used == 0) std::printf("skipped: none of the libraries works on this machine: %s\n", reason_of_last.c_str());
  return used == 0 ? 77 : right ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
