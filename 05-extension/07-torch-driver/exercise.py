# A compiler for formulas: write the source of a kernel for a formula that is known only at run time.
import torch

IN_C = {torch.float32: "float", torch.float64: "double", torch.int32: "int", torch.int64: "long long"}


def source_of(expression: str, inputs: dict[str, torch.dtype], output: torch.dtype) -> str:
    """CUDA C++ of a kernel `apply`. It takes the addresses of the inputs in their order, the address of the result, and the number of elements
    (unsigned).

    In the expression, such as "x * x + b", the name of an input denotes this thread's element. There may be more threads than elements, and an
    input may have any name, including i.
    """
    # Your code here.
    return ""
