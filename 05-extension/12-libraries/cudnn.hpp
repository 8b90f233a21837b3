// cuDNN's graph API, "backend": a program describes operations and tensors, and cuDNN looks for engines, kernels that
// compute the whole graph at once. Every object is a descriptor with attributes: create it, set them, finalize it.
// Sources: cuDNN API reference, "cudnn_graph Library"; its names are kept. cuDNN 9 moved the older API with one
// function for each operation (cudnnConvolutionForward) to the chapter "legacy".
#pragma once
#include "libraries.hpp"

#include <cstdint>
#include <vector>

struct Cudnn : Library {
  int (*cudnnCreate)(void** handle);
  int (*cudnnDestroy)(void* handle);
  int (*cudnnSetStream)(void* handle, CUstream stream);
  int (*cudnnGetProperty)(int which, int* value);
  int (*cudnnBackendCreateDescriptor)(int kind, void** descriptor);
  int (*cudnnBackendDestroyDescriptor)(void* descriptor);
  int (*cudnnBackendFinalize)(void* descriptor);
  int (*cudnnBackendSetAttribute)(void* descriptor, int name, int type, std::int64_t count, const void* values);
  int (*cudnnBackendGetAttribute)(const void* descriptor, int name, int type, std::int64_t asked, std::int64_t* count,
                                  void* values);
  int (*cudnnBackendExecute)(void* handle, void* plan, void* pack);

  Cudnn() : Library({"libcudnn.so.9", "libcudnn.so.8"}) {
    find("cudnnCreate", cudnnCreate);
    find("cudnnDestroy", cudnnDestroy);
    find("cudnnSetStream", cudnnSetStream);
    find("cudnnGetProperty", cudnnGetProperty);
    find("cudnnBackendCreateDescriptor", cudnnBackendCreateDescriptor);
    find("cudnnBackendDestroyDescriptor", cudnnBackendDestroyDescriptor);
    find("cudnnBackendFinalize", cudnnBackendFinalize);
    find("cudnnBackendSetAttribute", cudnnBackendSetAttribute);
    find("cudnnBackendGetAttribute", cudnnBackendGetAttribute);
    find("cudnnBackendExecute", cudnnBackendExecute);
  }
};

namespace cudnn {

// The parts of cuDNN's enumerations that this lesson uses.
enum Kind {  // cudnnBackendDescriptorType_t, CUDNN_BACKEND_…_DESCRIPTOR
  POINTWISE = 0,
  CONVOLUTION = 1,
  ENGINE = 2,
  ENGINECFG = 3,
  ENGINEHEUR = 4,
  EXECUTION_PLAN = 5,
  OPERATION_CONVOLUTION_FORWARD = 10,
  OPERATION_POINTWISE = 13,
  OPERATIONGRAPH = 15,
  VARIANT_PACK = 16,
  TENSOR = 17,
};
enum Type {  // cudnnBackendAttributeType_t, CUDNN_TYPE_…
  HANDLE = 0,
  DATA_TYPE = 1,
  BOOLEAN = 2,
  INT64 = 3,
  FLOAT = 4,
  VOID_PTR = 6,
  CONVOLUTION_MODE = 7,
  HEUR_MODE = 8,
  NUMERICAL_NOTE = 11,
  POINTWISE_MODE = 14,
  BACKEND_DESCRIPTOR = 15,
};
enum Name {  // cudnnBackendAttributeName_t, CUDNN_ATTR_…
  POINTWISE_MODE_OF = 0,
  POINTWISE_MATH_PREC = 1,
  CONVOLUTION_COMP_TYPE = 100,
  CONVOLUTION_CONV_MODE = 101,
  CONVOLUTION_DILATIONS = 102,
  CONVOLUTION_FILTER_STRIDES = 103,
  CONVOLUTION_POST_PADDINGS = 104,
  CONVOLUTION_PRE_PADDINGS = 105,
  CONVOLUTION_SPATIAL_DIMS = 106,
  ENGINEHEUR_MODE = 200,
  ENGINEHEUR_OPERATION_GRAPH = 201,
  ENGINEHEUR_RESULTS = 202,
  ENGINECFG_ENGINE = 300,
  EXECUTION_PLAN_HANDLE = 400,
  EXECUTION_PLAN_ENGINE_CONFIG = 401,
  EXECUTION_PLAN_WORKSPACE_SIZE = 402,
  OPERATION_CONVOLUTION_FORWARD_ALPHA = 700,
  OPERATION_CONVOLUTION_FORWARD_BETA = 701,
  OPERATION_CONVOLUTION_FORWARD_CONV_DESC = 702,
  OPERATION_CONVOLUTION_FORWARD_W = 703,
  OPERATION_CONVOLUTION_FORWARD_X = 704,
  OPERATION_CONVOLUTION_FORWARD_Y = 705,
  OPERATION_POINTWISE_PW_DESCRIPTOR = 750,
  OPERATION_POINTWISE_XDESC = 751,
  OPERATION_POINTWISE_BDESC = 752,
  OPERATION_POINTWISE_YDESC = 753,
  OPERATIONGRAPH_HANDLE = 800,
  OPERATIONGRAPH_OPS = 801,
  TENSOR_BYTE_ALIGNMENT = 900,
  TENSOR_DATA_TYPE = 901,
  TENSOR_DIMENSIONS = 902,
  TENSOR_STRIDES = 903,
  TENSOR_UNIQUE_ID = 906,
  TENSOR_IS_VIRTUAL = 907,
  VARIANT_PACK_UNIQUE_IDS = 1000,
  VARIANT_PACK_DATA_POINTERS = 1001,
  VARIANT_PACK_WORKSPACE = 1003,
  ENGINE_NUMERICAL_NOTE = 1303,
};
constexpr int kFloat = 0;             // CUDNN_DATA_FLOAT
constexpr int kCrossCorrelation = 1;  // CUDNN_CROSS_CORRELATION: what networks call a convolution
constexpr int kAdd = 0;               // CUDNN_POINTWISE_ADD
constexpr int kRelu = 100;            // CUDNN_POINTWISE_RELU_FWD
constexpr int kFallback = 2;          // CUDNN_HEUR_MODE_FALLBACK
constexpr int kModeA = 3;             // CUDNN_HEUR_MODE_A
constexpr int kTensorCore = 0;        // CUDNN_NUMERICAL_NOTE_TENSOR_CORE: of floats, the inputs are rounded to TF32

using Numbers = std::vector<std::int64_t>;

// A descriptor, destroyed at the end of its scope. It must outlive no descriptor that refers to it, so keep them all.
class Descriptor {
 public:
  Descriptor(const Cudnn& lib, Kind kind) : lib_(&lib) { LIB_CHECK(lib.cudnnBackendCreateDescriptor, kind, &handle_); }
  ~Descriptor() { lib_->cudnnBackendDestroyDescriptor(handle_); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  // Attributes of one value: enumerations, numbers, pointers.
  template <class Value>
  Descriptor& set(Name name, Type type, const Value& value) {
    LIB_CHECK(lib_->cudnnBackendSetAttribute, handle_, name, type, 1, &value);
    return *this;
  }
  Descriptor& set(Name name, const Descriptor& other) { return set(name, BACKEND_DESCRIPTOR, other.handle_); }
  // Attributes of several values.
  template <class Value>
  Descriptor& set_all(Name name, Type type, const std::vector<Value>& values) {
    LIB_CHECK(lib_->cudnnBackendSetAttribute, handle_, name, type, static_cast<std::int64_t>(values.size()),
              values.data());
    return *this;
  }
  Descriptor& finalize() {
    LIB_CHECK(lib_->cudnnBackendFinalize, handle_);
    return *this;
  }
  // Whether it could be finalized. An engine may be unable to compute a graph.
  bool try_finalize() { return lib_->cudnnBackendFinalize(handle_) == 0; }

  // How many values an attribute has.
  std::int64_t count(Name name, Type type) const {
    std::int64_t found = 0;
    LIB_CHECK(lib_->cudnnBackendGetAttribute, handle_, name, type, 0, &found, nullptr);
    return found;
  }
  template <class Value>
  std::vector<Value> get(Name name, Type type, std::vector<Value> values) const {
    std::int64_t found = 0;
    LIB_CHECK(lib_->cudnnBackendGetAttribute, handle_, name, type, static_cast<std::int64_t>(values.size()), &found,
              values.data());
    values.resize(found);
    return values;
  }
  void* handle() const { return handle_; }

 private:
  const Cudnn* lib_;
  void* handle_ = nullptr;
};

}  // namespace cudnn
