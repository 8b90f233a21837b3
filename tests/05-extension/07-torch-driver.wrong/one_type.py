# Rejected with: "each input has its own type"
# Treats all inputs as floats.
import torch

IN_C = {torch.float32: "float", torch.float64: "double", torch.int32: "int", torch.int64: "long long"}


def source_of(expression: str, inputs: dict[str, torch.dtype], output: torch.dtype) -> str:
    """CUDA C++ of a kernel `apply`. It takes the addresses of the inputs in their order, the address of the result, and the number of elements
    (unsigned).

    In the expression, such as "x * x + b", the name of an input denotes this thread's element. There may be more threads than elements, and an
    input may have any name, including i.
    """
    # The formula becomes a function of its own, in which the inputs' names are the only names.
    elements = ", ".join(f"const {IN_C[dtype]} {name}" for name, dtype in inputs.items())
    addresses = "".join(f"const float* input{place}, " for place in range(len(inputs)))
    own = ", ".join(f"input{place}[index]" for place in range(len(inputs)))
    return f"""
__device__ {IN_C[output]} formula({elements}) {{ return {expression}; }}

extern "C" __global__ void apply({addresses}{IN_C[output]}* result, unsigned count) {{
  const unsigned index = blockIdx.x * blockDim.x + threadIdx.x;
  if (index < count) result[index] = formula({own});
}}
"""
