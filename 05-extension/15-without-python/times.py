"""How long one call of the model takes, from Python and from C++, in one run and with one thread."""

import json
import os
import pathlib
import subprocess
import sys
import time
from collections.abc import Callable

import torch

from main import HERE, LIBRARY, Server

RUNS, REPEATS = 50, 200
sys.path.insert(0, str(LIBRARY.parents[1]))


def microseconds(call: Callable[[], object]) -> float:
    """The fastest of several means, because other programs disturb the others."""
    times = []
    for _ in range(REPEATS):
        for _ in range(10):
            call()
        start = time.perf_counter()
        for _ in range(RUNS):
            call()
        if torch.cuda.is_available():
            torch.cuda.synchronize()
        times.append((time.perf_counter() - start) / RUNS * 1e6)
    return min(times)


def from_cpp(rows: int, **where: str) -> float:
    with Server(**where) as server:
        return min(float(server.ask(f"time {rows} 4 {RUNS}")) for _ in range(REPEATS))


@torch.inference_mode()
def from_python(rows: int, device: str) -> float:
    package = torch._inductor.aoti_load_package(str(HERE / f"model.{device}.pt2"), run_single_threaded=True)
    x = torch.zeros(rows, 4, device=device)
    return microseconds(lambda: package(x))


def with_shim(export: object) -> dict[str, str]:
    """A library with a C shim, and a package that calls it."""
    root, library, name = pathlib.Path(torch.__file__).parent, HERE / "shim.so", "cpu-shim"
    flags = ["-std=c++20", "-O2", "-shared", "-fPIC", "-I.", f"-isystem{root}/include", "-DTORCH_TARGET_VERSION=0x020a000000000000"]
    source = str(pathlib.Path(__file__).with_name("shim.cpp"))
    subprocess.run([os.environ.get("CXX", "g++"), *flags, source, f"-L{root}/lib", "-ltorch_cpu", "-lc10", "-o", str(library)], check=True)
    declared = "AOTITorchError aoti_torch_cpu_forward(AtenTensorHandle x, AtenTensorHandle b, AtenTensorHandle* y)"
    shims = {torch.ops.square_plus.forward.default: [declared]}
    model = export.Model(export.OPS["square_plus"]).eval().requires_grad_(False)
    export.package(model, "cpu", HERE / f"model.{name}.pt2", **{"aot_inductor.custom_ops_to_c_shims": shims})
    return {"library": str(library), "package": name}


def main() -> None:
    torch.set_num_threads(1)
    os.environ["OMP_NUM_THREADS"] = "1"
    os.environ["TORCHINDUCTOR_CACHE_DIR"] = str(HERE / "inductor")
    import export

    devices = ["cpu"] + (["cuda"] if (HERE / "model.cuda.pt2").exists() else [])
    for device in devices:
        model = export.Model(export.OPS["square_plus"]).eval().requires_grad_(False).to(device)
        inputs = [torch.zeros(rows, 4, device=device) for rows in (1, export.LARGEST)]
        shim = with_shim(export) if device == "cpu" else None
        print(f"{'µs per call, ' + device:33} | {'1 row':>7} | {'64 rows':>7}")
        rows: dict[str, Callable[[torch.Tensor], float]] = {
            "the model, called from Python": lambda x: microseconds(lambda: model(x)),
            "the package, called from C++": lambda x: from_cpp(len(x), device=device),
        }
        if shim:
            rows["with a C shim, called from C++"] = lambda x: from_cpp(len(x), **shim)
        with torch.inference_mode():
            for name, measure in rows.items():
                print(f"{name:33} | {measure(inputs[0]):7.1f} | {measure(inputs[1]):7.1f}", flush=True)
    print("the package, called from Python")
    for device in devices:
        print(f"{device:33} | {from_python(1, device):7.1f} | {from_python(export.LARGEST, device):7.1f}", flush=True)
    print(json.dumps({"torch": torch.__version__, "threads": torch.get_num_threads()}))
