# y = x² + b in Triton: the values, the versions that the compiler makes, and what torch.compile sees of the op.
import re
import sys

import torch
import triton
from torch._dynamo.backends.common import aot_autograd

import kernels
import measure
import ops
from common.built import built
from common.triton_ptx import compiled

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


def wrong(found, wanted):
    """A result in float16 is right if it is the correctly rounded exact one, up to one unit in the last place."""
    return not torch.allclose(found.double(), wanted, rtol=2**-10, atol=2**-12)


def values(rows, columns):
    """Runs the op forward and backward, and compares with float64."""
    x, b, g = (torch.randn(shape, dtype=torch.float16, device=DEVICE) for shape in ((rows, columns), rows, (rows, columns)))
    exact = x.double(), b.double(), g.double()
    with torch.no_grad():
        y = ops.opaque(x, b)
        dx, db = ops.gradients(g, x)
    wanted = {"y": (y, exact[0] ** 2 + exact[1][:, None]), "dx": (dx, 2 * exact[0] * exact[2]), "db": (db, exact[2].sum(1))}
    return ", ".join(f"{name} {'WRONG' if wrong(*pair) else 'right'}" for name, pair in wanted.items())


def loads_of(ptx):
    """How many loads from global memory the PTX has, and the bits of the widest."""
    found = re.findall(r"ld\.global(?:\.[a-z]+)*(?:\.v(\d))?\.[a-z](\d+)", ptx)
    return len(found), max(int(count or 1) * int(bits) for count, bits in found)


def version_for(columns, **options):
    x = torch.empty(2, columns, dtype=torch.float16, device=DEVICE)
    return compiled(kernels.forward, x, x[:, 0].clone(), torch.empty_like(x), columns, **{"BLOCK": 1024, **options})


def show_versions():
    """Compiles `forward` as calls with these arguments would."""
    print(f"\n{'forward, compiled for':32} | version | threads | loads | widest")
    versions = []
    for columns, options in ((4096, {}), (2048, {}), (1000, {}), (1, {}), (4096, {"num_warps": 1}), (4096, {"BLOCK": 256})):
        found = version_for(columns, **options)
        if found.hash not in versions:
            versions.append(found.hash)
        count, widest = loads_of(found.asm["ptx"])
        name = ", ".join([f"columns = {columns}", *(f"{key} = {value}" for key, value in options.items())])
        print(f"{name:32} | {versions.index(found.hash) + 1:7} | {32 * found.metadata.num_warps:7} | {count:5} | {widest:3} bits")
    with open(built(__file__, "kernels.ptx"), encoding="utf-8") as file:
        count, widest = loads_of(file.read())
    print(f"{'any columns, by nvcc':32} | {'':7} | {'any':>7} | {count:5} | {widest:3} bits")


def show_graphs():
    """What torch.compile hands to its code generator for 2 * op(x, b)."""
    print("\nwhat torch.compile sees of 2 * op(x, b)")
    x, b = torch.ones(2, 5, dtype=torch.float16, device=DEVICE), torch.ones(2, dtype=torch.float16, device=DEVICE)
    for name, op in measure.named().items():
        seen = []

        def note(graph, inputs, seen=seen):
            seen += [str(node.target) for node in graph.graph.nodes if node.op == "call_function" and "getitem" not in str(node.target)]
            return lambda *inputs: [2 * ops.opaque(*inputs)]

        with torch.no_grad():
            torch.compile(lambda x, b, op=op: 2 * op(x, b), fullgraph=True, backend=aot_autograd(fw_compiler=note))(x, b)
        print(f"{name}: {', '.join(seen)}")


def main():
    print(f"Triton {triton.__version__} compiles for sm_{triton.runtime.driver.active.get_current_target().arch}; the tensors are on: {DEVICE}")
    torch.manual_seed(1)
    failed = False
    for shape in ((3, 4096), (2, 1000), (3, 2500), (4, 1)):
        said = values(*shape)
        failed |= "WRONG" in said
        print(f"{f'{shape[0]} x {shape[1]}':8} | {said}")
    show_versions()
    show_graphs()
    if DEVICE == "cuda":
        measure.show()
    sys.exit(failed)


if __name__ == "__main__":
    main()
