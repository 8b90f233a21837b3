# The same op through three front doors, each in a process of its own, and the driver calls that it makes; and what a DLPack capsule contains.
import os
import re
import subprocess
import sys

import numpy as np

DOORS = {"core": "cuda.core", "numba": "numba-cuda", "triton": "PTX of Triton, ctypes"}
STEPS = {
    "context": r"cuDevicePrimaryCtxRetain|cuCtxCreate\w*",
    "link": r"cuLink(?:Create|AddData|Complete)\w*",
    "load": r"cu(?:Module|Library)Load\w*",
    "memory": r"cuMemAlloc\w*",
    "launch": r"cuLaunch\w*",
}


def enter(name):
    """In a process of its own: runs the op, and prints the result."""
    x = np.arange(1000, dtype=np.float32)
    b = np.ones_like(x)
    if name == "core":
        import door_core as door
    elif name == "numba":
        import door_numba as door
    else:
        import door_triton as door
    y = door.run(x, b)
    print("right" if (y == x * x + b).all() else "WRONG")


def calls_of(log):
    """{step: the functions of the driver that a log names for it, each once}"""
    called = re.findall(r"^(?:\d+: )?(cu[A-Z]\w+)\(", log, re.MULTILINE)
    return {step: list(dict.fromkeys(name for name in called if re.fullmatch(pattern, name))) for step, pattern in STEPS.items()}


def show_doors():
    failed = False
    for name, title in DOORS.items():
        environment = {**os.environ, "CUDASIM_TRACE": "api"}
        ended = subprocess.run([sys.executable, "-W", "ignore", __file__, name], env=environment, capture_output=True, text=True, check=False)
        failed |= ended.stdout.strip() != "right"
        print(f"{title}: y is {ended.stdout.strip() or 'missing: ' + ended.stderr[-2000:]}")
        calls = calls_of(ended.stderr)
        if not any(calls.values()):
            print("  no log of calls: only the simulated GPU writes one")
        for step, functions in calls.items():
            if functions:
                print(f"  {step:8}{', '.join(functions)}")
    return failed


def show_capsules():
    import toolkit  # noqa: F401  # isort: skip
    from cuda.core import Device

    from common import dlpack

    device = Device()
    device.set_current()
    stream = device.create_stream()
    buffer = device.memory_resource.allocate(4000, stream=stream)
    print("\na buffer of cuda.core, exported with DLPack")
    for version in None, (1, 0):
        capsule = buffer.__dlpack__(max_version=version)
        inside = dlpack.look_into(capsule)
        tensor = inside.tensor
        said = f"version {inside.major}.{inside.minor}, flags {inside.flags}" if isinstance(inside, dlpack.Versioned) else "no version, no flags"
        same = tensor.data == int(buffer.handle)
        print(f"max_version={version!s:6} | {inside.NAME.decode():18} | {said} | {tensor.shape[0]} elements, {'not copied' if same else 'copied'}")


def main():
    if sys.argv[1:] and sys.argv[1] in DOORS:
        return enter(sys.argv[1])
    failed = show_doors()
    show_capsules()
    return sys.exit(failed)


if __name__ == "__main__":
    main()
