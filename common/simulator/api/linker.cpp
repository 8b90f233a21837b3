// Linking (CUDA Driver API manual, "Module Management": cuLink*). PTX only: what comes out holds the texts that went
// in, checked together; loading it links them.
#include "common/simulator/api/guard.hpp"
#include "common/simulator/api/image.hpp"

using namespace cudasim;

namespace {

struct Linker {
  std::mutex mutex;
  JitOptions options;  // its buffers are the program's, until cuLinkDestroy
  Texts texts;
  std::string image;  // of cuLinkComplete
  bool complete = false;
};

Registry<Linker, CUlinkState>& linkers() {
  static auto& all = *new Registry<Linker, CUlinkState>;
  return all;
}

CUresult create(unsigned count, CUjit_option* options, void** values, CUlinkState* out) {
  current_context();
  require(out != nullptr);
  const auto linker = std::make_shared<Linker>();
  linker->options = JitOptions(count, options, values);
  *out = linkers().add(linker);
  return CUDA_SUCCESS;
}

std::shared_ptr<Linker> get_linker(CUlinkState handle) {
  require_calls_permitted();
  return linkers().get(handle);
}

void require_linkable(CUjitInputType type) {
  switch (static_cast<int>(type)) {
    case CU_JIT_INPUT_PTX:
    case CU_JIT_INPUT_FATBINARY:
    case CU_JIT_INPUT_LIBRARY: return;
    case CU_JIT_INPUT_CUBIN:
    case CU_JIT_INPUT_OBJECT:
      refuse("machine code", "cuLinkAddData takes PTX only");
      fail(CUDA_ERROR_NO_BINARY_FOR_GPU);
    case CU_JIT_INPUT_NVVM: fail(refuse("CU_JIT_INPUT_NVVM"));
    default: fail(CUDA_ERROR_INVALID_VALUE);
  }
}

CUresult add(CUlinkState state, CUjitInputType type, const Texts& texts, unsigned count, CUjit_option* options,
             void** values) {
  const auto linker = get_linker(state);
  JitOptions own(count, options, values);
  const std::scoped_lock lock(linker->mutex);
  require(!linker->complete);
  require_linkable(type);
  for (const std::string& text : texts) {
    check_syntax(text, linker->options);
    linker->texts.push_back(text);
  }
  if (linker->texts.size() > 1) check_defined_once(linker->texts, linker->options);
  return CUDA_SUCCESS;
}

// An archive is machine code, and a program may name one that it needs nothing of (libcudadevrt.a, mostly). It gives no
// texts: whatever would have come from it is missed by name when the link is completed.
Texts texts_of_input(CUjitInputType type, std::string_view bytes) {
  if (type != CU_JIT_INPUT_LIBRARY) return texts_of_bytes(bytes);
  require(bytes.substr(0, 8) == "!<arch>\n", CUDA_ERROR_INVALID_IMAGE);
  return {};
}

CUresult add_data(CUlinkState state, CUjitInputType type, void* data, size_t size, unsigned count,
                  CUjit_option* options, void** values) {
  get_linker(state);
  require(data != nullptr && size != 0);
  require_linkable(type);
  return add(state, type, texts_of_input(type, {static_cast<const char*>(data), size}), count, options, values);
}

CUresult add_file(CUlinkState state, CUjitInputType type, const char* path, unsigned count, CUjit_option* options,
                  void** values) {
  get_linker(state);
  require(path != nullptr);
  const std::string bytes = read_file(path);
  require_linkable(type);
  return add(state, type, texts_of_input(type, bytes), count, options, values);
}

}  // namespace

CUDASIM_API CUresult cuLinkCreate(unsigned int numOptions, CUjit_option* options, void** optionValues,
                                  CUlinkState* stateOut) {
  return CUDASIM_CALL(numOptions, options, optionValues, stateOut) {
    return create(numOptions, options, optionValues, stateOut);
  };
}

CUDASIM_API CUresult cuLinkCreate_v2(unsigned int numOptions, CUjit_option* options, void** optionValues,
                                     CUlinkState* stateOut) {
  return CUDASIM_CALL(numOptions, options, optionValues, stateOut) {
    return create(numOptions, options, optionValues, stateOut);
  };
}

CUDASIM_API CUresult cuLinkAddData(CUlinkState state, CUjitInputType type, void* data, size_t size, const char* name,
                                   unsigned int numOptions, CUjit_option* options, void** optionValues) {
  return CUDASIM_CALL(state, type, data, size, name, numOptions, options, optionValues) {
    return add_data(state, type, data, size, numOptions, options, optionValues);
  };
}

CUDASIM_API CUresult cuLinkAddData_v2(CUlinkState state, CUjitInputType type, void* data, size_t size, const char* name,
                                      unsigned int numOptions, CUjit_option* options, void** optionValues) {
  return CUDASIM_CALL(state, type, data, size, name, numOptions, options, optionValues) {
    return add_data(state, type, data, size, numOptions, options, optionValues);
  };
}

CUDASIM_API CUresult cuLinkAddFile(CUlinkState state, CUjitInputType type, const char* path, unsigned int numOptions,
                                   CUjit_option* options, void** optionValues) {
  return CUDASIM_CALL(state, type, path, numOptions, options, optionValues) {
    return add_file(state, type, path, numOptions, options, optionValues);
  };
}

CUDASIM_API CUresult cuLinkAddFile_v2(CUlinkState state, CUjitInputType type, const char* path, unsigned int numOptions,
                                      CUjit_option* options, void** optionValues) {
  return CUDASIM_CALL(state, type, path, numOptions, options, optionValues) {
    return add_file(state, type, path, numOptions, options, optionValues);
  };
}

// The image belongs to the linker and goes with it.
CUDASIM_API CUresult cuLinkComplete(CUlinkState state, void** cubinOut, size_t* sizeOut) {
  return CUDASIM_CALL(state, cubinOut, sizeOut) {
    const auto linker = get_linker(state);
    require(cubinOut != nullptr);
    const std::scoped_lock lock(linker->mutex);
    require(!linker->texts.empty());
    check_link(linker->texts, linker->options);
    linker->image = linked_image(linker->texts, linker->options.max_registers());
    linker->complete = true;
    *cubinOut = linker->image.data();
    if (sizeOut != nullptr) *sizeOut = linker->image.size() + 1;
    return CUDA_SUCCESS;
  };
}

CUDASIM_API CUresult cuLinkDestroy(CUlinkState state) {
  return CUDASIM_CALL(state) {
    require_calls_permitted();
    return linkers().remove(state) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
  };
}
