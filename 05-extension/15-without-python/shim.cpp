// The op of lesson 05-05 with a C shim: a C function that a package can call directly, without the dispatcher. The
// package finds it by its name, aoti_torch_DEVICE_OP. In a server, this library takes the place of _C.abi3.so.
#include "05-extension/05-canonical-op/package/csrc/cpu.cpp"

#include <torch/csrc/stable/c/shim.h>

#include <exception>

// A handle that belongs to the caller, as a tensor of our own: both refer to the same elements.
static Tensor shared(AtenTensorHandle callers) {
  AtenTensorHandle own = nullptr;
  TORCH_ERROR_CODE_CHECK(aoti_torch_new_tensor_handle(callers, &own));
  return Tensor(own);
}

// The package becomes the owner of y.
extern "C" __attribute__((visibility("default"))) AOTITorchError aoti_torch_cpu_forward(AtenTensorHandle x,
                                                                                        AtenTensorHandle b,
                                                                                        AtenTensorHandle* y) {
  try {
    return aoti_torch_new_tensor_handle(on_cpu<Forward>(shared(x), shared(b)).get(), y);
  } catch (const std::exception&) {  // an exception must not leave a C function
    return AOTI_TORCH_FAILURE;
  }
}
