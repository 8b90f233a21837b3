# Rejected with: "large integers are computed as integers"
# A double can represent every float and every int, but not every long long: 2⁶⁰ + 1 is rounded.
import torch

IN_C = {torch.float32: "float", torch.float64: "double", torch.int32: "int", torch.int64: "long long"}


def source_of(expression: str, inputs: dict[str, torch.dtype], output: torch.dtype) -> str:
    """CUDA C++ of a kernel `apply`: it takes the addresses of the inputs, in their order, that of the result, and the number of elements (unsigned).

    In the expression, "x * x + b", each input's name means the element that is this thread's turn. There may be more threads than elements, and an
    input may have any name, also i.
    """
    elements = ", ".join(f"double {name}" for name in inputs)
    addresses = "".join(f"const {IN_C[dtype]}* input{place}, " for place, dtype in enumerate(inputs.values()))
    own = ", ".join(f"input{place}[turn]" for place in range(len(inputs)))
    return f"""
__device__ double formula({elements}) {{ return {expression}; }}

extern "C" __global__ void apply({addresses}{IN_C[output]}* result, unsigned count) {{
  const unsigned turn = blockIdx.x * blockDim.x + threadIdx.x;
  if (turn < count) result[turn] = formula({own});
}}
"""
