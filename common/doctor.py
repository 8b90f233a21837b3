# make doctor: what this machine has, what follows from it, and what to type. Installs nothing, changes nothing.
import importlib.util
import os
import platform
import shutil
import subprocess
import sys

import course


def first_line(*command):
    """The first line a command prints, or None if it cannot be run."""
    try:
        said = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    except OSError:
        return None
    lines = (said.stdout or said.stderr).strip().splitlines()
    return lines[0] if said.returncode == 0 and lines else None


def as_version(number):
    return f"{number // 1000}.{number % 1000 // 10}"


def row(what, found):
    print(f"{what:<12} {found}")


def loaded_library(environment):
    """Where the loader finds libcuda.so.1."""
    code = "import ctypes; ctypes.CDLL('libcuda.so.1'); print([l.split()[-1] for l in open('/proc/self/maps') if 'libcuda.so' in l][0])"
    return first_line_env(environment, sys.executable, "-c", code)


def first_line_env(environment, *command):
    said = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    return said.stdout.strip().splitlines()[0] if said.stdout.strip() else None


def toolkit(found):
    if not found.get("CUDA_INCLUDE"):
        row("toolkit", "none: " + (found.get("WITHOUT_TOOLKIT") or "not looked for yet; make run fetches a private one"))
        return
    row("toolkit", f"CUDA {as_version(int(found['CUDA_VERSION']))} in {found['CUDA_ROOT']}")
    nvcc = found.get("NVCC")
    lines = subprocess.run([nvcc, "--version"], capture_output=True, text=True, check=False).stdout.splitlines() if nvcc else []
    release = [line for line in lines if "release" in line]
    row("nvcc", f"{release[0].split('release ')[1]}, kernels as PTX for {found['PTX_ARCH']}" if release else "none: lessons with kernels are skipped")


def driver(found):
    """Prints the driver and the device that DEVICE= chooses, in the words of a run; returns the verdict's sentences."""
    answer, count, version, name = course.probe()
    module = "/proc/driver/nvidia/version"
    kernel = open(module, encoding="utf-8").readline().split(":", 1)[1].strip() if os.path.exists(module) else "none"
    row("kernel side", kernel)
    library = loaded_library(dict(os.environ))
    row("libcuda", library or "none on the loader's path")
    is_gpu = answer == 0 and count and not name.startswith("Simulated")
    if answer != 0 or not count:
        row("driver", course.why_no_gpu(answer, count))
    elif not is_gpu:
        row("driver", "the simulator's, found by the loader")
    else:
        row("driver", f"loads programs up to CUDA {as_version(version)}")
        row("GPU", name + (f" and {count - 1} more" if count > 1 else ""))
    try:
        device = course.choose_device()
    except SystemExit as refused:
        row("device", "none")
        verdict = [str(refused.code).replace("`make doctor` says more; ", "")]
    else:
        built = device.kind == "gpu" or (course.SIMULATOR / "libcuda.so.1").exists()
        row("device", f"{device.name if built else 'Simulated H200, not built yet'} ({device.why})")
        on = "GPU (DEVICE=simulator runs them without)" if device.kind == "gpu" else "simulated GPU" + ("" if built else ", which `make run` builds first")
        verdict = [f"The lessons run on the {on}."]
    toolkit_version = int(found.get("CUDA_VERSION") or 0)
    if is_gpu and toolkit_version > version:
        verdict.append(
            f"But the toolkit is newer (CUDA {as_version(toolkit_version)}) than the driver: kernels answer CUDA_ERROR_UNSUPPORTED_PTX_VERSION. "
            "Update the driver, or name an older toolkit: make run CUDA_HOME=/path"
        )
    if kernel != "none" and answer != 0:
        verdict.append("The kernel has a driver, but its library does not work here. In a container: start it with --gpus all. Else reinstall the driver.")
    return verdict


def catch2(found):
    version = found.get("CATCH_VERSION")
    missing = found.get("WITHOUT_CATCH2") or "not looked for yet: `make check` or `make test` sees to it"
    row("Catch2", f"{version}.x {found.get('CATCH_FLAGS', '').replace('-isystem ', 'in ')}".strip() if version else missing)


def main():
    course.wished_device()
    try:
        found = course.setup()
    except OSError:
        found = {}
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2**30
    free = shutil.disk_usage(course.ROOT).free // 2**30
    system = platform.freedesktop_os_release()["PRETTY_NAME"] if hasattr(platform, "freedesktop_os_release") else platform.platform()
    row("system", f"{system}, {platform.machine()}, {os.cpu_count()} cores, {memory} GiB memory, {free} GiB free on disk")
    compiler = os.environ.get("CXX") or "g++"
    row("compiler", first_line(*compiler.split(), "--version") or f"no {compiler}: sudo apt-get install g++")
    row("python", f"{platform.python_version()} ({sys.executable})")
    toolkit(found)
    catch2(found)
    row("PyTorch", "found" if importlib.util.find_spec("torch") else "none (no lesson so far needs it)")
    verdict = driver(found)
    if not found:
        verdict.append("Nothing was set up yet: make run sees to what is missing, and says what it fetches.")
    skipped = [lesson for lesson in course.lessons() if found and course.why_not(lesson)]
    if skipped:
        verdict.append("Skipped here: " + ", ".join(skipped) + ".")
    print("\n" + "\n".join(verdict))
    return 0


if __name__ == "__main__":
    sys.exit(main())
