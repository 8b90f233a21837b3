# Rejected with: "an input may have any name"
# The kernel has a variable i, which conflicts with an input of this name.
import torch

IN_C = {torch.float32: "float", torch.float64: "double", torch.int32: "int", torch.int64: "long long"}


def source_of(expression: str, inputs: dict[str, torch.dtype], output: torch.dtype) -> str:
    """CUDA C++ of a kernel `apply`. It takes the addresses of the inputs in their order, the address of the result, and the number of elements
    (unsigned).

    In the expression, such as "x * x + b", the name of an input denotes this thread's element. There may be more threads than elements, and an
    input may have any name, including i.
    """
    addresses = "".join(f"const {IN_C[dtype]}* all_{name}, " for name, dtype in inputs.items())
    elements = "".join(f"  const {IN_C[dtype]} {name} = all_{name}[i];\n" for name, dtype in inputs.items())
    return f"""
extern "C" __global__ void apply({addresses}{IN_C[output]}* result, unsigned count) {{
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
{elements}  result[i] = {expression};
}}
"""
