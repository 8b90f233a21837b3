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


def enter_with_cupti(name):
    """Like enter(), but on a GPU also prints the driver calls, as the log of the simulated GPU has them."""
    import cupti

    with cupti.recorded() as called:
        enter(name)
    print(*(f"{function}()" for function in called), sep="\n", file=sys.stderr)


def calls_of(log):
    """{step: the functions of the driver that a log names for it, each once}"""
    called = re.findall(r"^(?:\d+: )?(cu[A-Z]\w+)\(", log, re.MULTILINE)
    return {step: list(dict.fromkeys(name for name in called if re.fullmatch(pattern, name))) for step, pattern in STEPS.items()}


def run(name, *options):
    environment = {**os.environ, "CUDASIM_TRACE": "api"}
    return subprocess.run([sys.executable, "-W", "ignore", __file__, name, *options], env=environment, capture_output=True, text=True, check=False)


def reason(log):
    """The last exception in a program's log, or how the log ends."""
    return (re.findall(r"^[\w.]*(?:Error|Exception)\b.*", log, re.MULTILINE) or [log[-2000:]])[-1]


def show_doors():
    failed = False
    for name, title in DOORS.items():
        ended = run(name)
        failed |= ended.stdout.strip() != "right"
        print(f"{title}: y is {ended.stdout.strip() or 'missing: ' + reason(ended.stderr)}")
        calls = calls_of(ended.stderr)
        if not any(calls.values()) and ended.returncode == 0:  # only the simulated GPU writes a log
            recorded = run(name, "cupti")
            calls = calls_of(recorded.stderr)
            if recorded.returncode:
                print(f"  no log of calls: {reason(recorded.stderr)}")
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
        return (enter_with_cupti if sys.argv[2:] == ["cupti"] else enter)(sys.argv[1])
    failed = show_doors()
    show_capsules()
    return sys.exit(failed)


if __name__ == "__main__":
    main()
