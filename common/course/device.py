"""The device that the lessons run on: a GPU, or the simulator. The choice is a path on which the loader finds libcuda.so.1, nothing else."""

import contextlib
import os
import subprocess
import sys

from course import ROOT
from course.interpreter import for_python
from course.lessons import Lesson

SIMULATOR = ROOT / "build" / "simulator"
PROBE = [sys.executable, "-I", str(ROOT / "common" / "course" / "probe.py")]


class Device:
    """A device: its name, the reason for choosing it, the environment that makes the loader choose it, and how many devices there then are."""

    def __init__(self, kind, name, why, environment, driver_version=0, count=1):
        self.kind, self.name, self.why, self.environment = kind, name, why, environment
        self.driver_version, self.count = driver_version, count

    def headline(self):
        return f"device: {self.name} ({self.why})"

    def agrees_with(self, only):
        """Whether what a text says <!-- only: … --> of holds here: of one of gpu, simulator, and second GPU."""
        return self.kind in only or "second GPU" in only and self.kind == "gpu" and self.count > 1

    def environment_for(self, lesson: Lesson) -> dict[str, str]:
        """The environment of a lesson's programs: its lesson.env (two simulated devices, for example), overridden by what is already set.
        CUDASIM_QUIET: a library may try whether the CUDA runtime starts. The simulator does not comment on that, because the lesson does."""
        return {"CUDASIM_QUIET": "1", **lesson.settings, **self.environment, **(for_python() if lesson.is_python else {})}

    @contextlib.contextmanager
    def held(self):
        """Keeps a GPU's driver initialized inside the with block. Where no process has a context, each new one waits for the whole driver to start
        (2 to 3 times as long as creating its own context takes, on an H200)."""
        if self.kind != "gpu":
            yield
            return
        holder = subprocess.Popen([*PROBE, "hold"], env=self.environment, stdin=subprocess.PIPE, start_new_session=True)
        try:
            yield
        finally:
            holder.communicate()  # it waits for the end of its input


def probe(environment=None):
    """(cuInit's result, number of devices, driver version, first device's name); the result is 'none' without a library."""
    asked = subprocess.run(PROBE, env=environment, capture_output=True, text=True, check=False)
    words = asked.stdout.split(None, 3)
    if asked.returncode != 0 or not words:
        return "crashed", 0, 0, ""
    if words[0] == "none":
        return "none", 0, 0, ""
    return int(words[0]), int(words[1]), int(words[2]), words[3].strip() if len(words) > 3 else ""


# What cuInit returns if the GPU is missing (CUresult, driver API manual).
NO_GPU = {
    "none": "no NVIDIA driver on this machine",
    "crashed": "the NVIDIA driver crashes",
    34: "no NVIDIA driver, only the toolkit's stub library",
    100: "the NVIDIA driver sees no GPU",
    999: "the NVIDIA driver does not start: cuInit returns CUDA_ERROR_UNKNOWN",
}


def why_no_gpu(result, count):
    if result == 0 and count == 0:
        return NO_GPU[100]
    return NO_GPU.get(result, f"the NVIDIA driver does not start: cuInit returns {result}")


def wished_device():
    """auto, gpu or simulator, as DEVICE= says; anything else ends the program with a sentence."""
    wish = os.environ.get("DEVICE") or "auto"
    if wish not in ("auto", "gpu", "simulator"):
        sys.exit(f"DEVICE={wish} is not a device. Type DEVICE=auto (a GPU if there is one), DEVICE=gpu or DEVICE=simulator.")
    return wish


def choose_device():
    """The device that DEVICE names; ends the program with a sentence if there is no such device."""
    wish = wished_device()
    reason = "as asked"
    if wish != "simulator":
        result, count, version, name = probe()
        if result == 0 and count > 0:
            is_simulator = name.startswith("Simulated")
            why = "simulator, found by the loader" if is_simulator else f"driver for CUDA {version // 1000}.{version % 1000 // 10}"
            return Device("simulator" if is_simulator else "gpu", name, why, dict(os.environ), version, count)
        reason = why_no_gpu(result, count)
        if wish == "gpu":
            sys.exit(f"DEVICE=gpu, but there is no GPU to run on: {reason}. `make doctor` explains why; DEVICE=simulator runs without one.")
    environment = dict(os.environ)
    before = environment.get("LD_LIBRARY_PATH")
    environment["LD_LIBRARY_PATH"] = f"{SIMULATOR}:{before}" if before else str(SIMULATOR)
    result, count, version, name = probe(environment)
    if not (SIMULATOR / "libcuda.so.1").exists():
        name = "none: the simulated GPU is not built"
    elif result != 0 or count == 0:
        name = "the simulated GPU, which does not respond"
    return Device("simulator", name, f"simulator: {reason}", environment, version, count)
