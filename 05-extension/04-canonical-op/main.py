# y = x² + b as a CUDA kernel for PyTorch: for four types, wherever the tensors are; and then with one thing left out, seven times.
import subprocess
import sys

import torch

import square

TYPES = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
SEEN = torch.cuda.is_available()
BEST = "cuda" if SEEN else "cpu"


def numbers(tensor: torch.Tensor) -> str:
    return " ".join(f"{number:g}" for number in tensor.tolist())


def shown(device: str, dtype: torch.dtype) -> bool:
    """Prints a row: y, and the gradient of x where that of y is 1."""
    x = torch.arange(1.0, 7, device=device, dtype=dtype, requires_grad=True)
    b = torch.ones((), device=device, dtype=dtype, requires_grad=True)
    y = square.op()(x, b)
    y.sum().backward()
    print(f"{str(dtype).removeprefix('torch.'):8} | {device:4} | {numbers(y):17} | {numbers(x.grad):14} | {b.grad:g}")
    return y.tolist() == [2, 5, 10, 17, 26, 37] and x.grad.tolist() == [2, 4, 6, 8, 10, 12] and b.grad == 6


def how_many(y: torch.Tensor, x: torch.Tensor, b: torch.Tensor) -> str:
    right = (y - (x * x + b)).abs() < 1e-5
    return f"{int(right.sum())} of {y.numel()} elements right, no error"


def contiguous() -> str:
    x, b = torch.arange(9.0, device=BEST).reshape(3, 3), torch.zeros(3, 3, device=BEST)
    return how_many(square.mistaken("contiguous")(x.t(), b), x.t(), b)


def index() -> str:
    x, b = torch.rand(2, 1000, device=BEST)
    return how_many(square.mistaken("index")(x, b), x, b)


def check() -> str:
    x, b = torch.rand(2, 2000, device=BEST)
    return how_many(square.mistaken("check")(x, b), x, b)


def comma() -> str:
    x, b = torch.arange(1.0, 4, device=BEST, requires_grad=True), torch.ones(3, device=BEST)
    square.mistaken("comma")(x, b).sum().backward()
    return f"the gradient of x is {numbers(x.grad)}, not {numbers(2 * x)}"


def bound() -> str:
    x, b, before = torch.rand(1000, device=BEST), torch.ones(1000, device=BEST), torch.ops.square.launches()
    y = square.mistaken("bound")(x, b)
    return f"{how_many(y, x, b)}, and {torch.ops.square.launches() - before} kernels"


def stream() -> str:
    if not SEEN:
        return "skipped: PyTorch sees no GPU here"
    busy, x, b = torch.rand(4096, 4096, device="cuda"), torch.zeros(4, device="cuda"), torch.ones(4, device="cuda")
    torch.cuda.synchronize()
    with torch.cuda.stream(torch.cuda.Stream()):
        for _ in range(50):
            busy = busy @ busy
        x.fill_(3)
        return f"x was 3 by then, y is {numbers(square.mistaken('stream')(x, b))}"


def guard() -> str:
    if torch.cuda.device_count() < 2:
        return "skipped: it takes two GPUs"
    # A failed kernel ends all GPU work of its process, so it is tried in a process of its own.
    ended = subprocess.run([sys.executable, __file__, "guard"], capture_output=True, text=True)
    return ended.stdout.strip() or ended.stderr.strip().splitlines()[-1]


def without_guard() -> None:
    """The tensors are on the second GPU, the current device is the first."""
    x, b = torch.rand(1000, device="cuda:1"), torch.ones(1000, device="cuda:1")
    try:
        y = square.mistaken("guard")(x, b)
        torch.cuda.synchronize("cuda:0")
        print(how_many(y, x, b))
    except RuntimeError as error:
        print(str(error).splitlines()[0])


def main() -> int:
    square.load()
    if sys.argv[1:] == ["guard"]:
        without_guard()
        return 0
    print("type     | on   | y                 | gradient of x  | of b")
    right = all([shown("cpu", dtype) for dtype in TYPES])
    if SEEN:
        right &= all([shown("cuda", dtype) for dtype in TYPES])
    else:
        print("         | cuda | skipped: PyTorch sees no GPU here")

    print("\nleft out or mistaken  | what happens")
    for what, happens in {
        "contiguous()": contiguous,
        "threadIdx": index,
        "the check": check,
        "return (dx, db)": comma,
        "the kernel's name": bound,
        "the stream": stream,
        "the guard": guard,
    }.items():
        print(f"{what:21} | {happens()}")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
