# What the tools of the course share: where things are, which device the lessons run on, and how a program is run.
import contextlib
import ctypes
import errno
import os
import pathlib
import re
import signal
import subprocess
import sys

signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # `make run | head` ends us quietly


def _in_a_sentence(kind, value, trace):
    """Ctrl-C is an answer, not a failure to tell about; a disk or an output that takes nothing needs no list of our functions."""
    if issubclass(kind, OSError) and value.errno in (errno.EBADF, errno.EIO, errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES):
        print(f"{value.filename or 'What is to be shown cannot be written'}: {value.strerror}", file=sys.stderr)
        os._exit(1)  # Python would try to write once more
    if not issubclass(kind, KeyboardInterrupt):
        sys.__excepthook__(kind, value, trace)


sys.excepthook = _in_a_sentence

ROOT = pathlib.Path(__file__).resolve().parent.parent
SIMULATOR = ROOT / "build" / "simulator"
TORCH_UNKNOWN = "PyTorch was not looked for"


def heading(folder):
    """The first heading of a folder's README: '02-03 The context stack'."""
    readme = ROOT / folder / "README.md"
    if readme.exists():
        for line in readme.read_text(encoding="utf-8").splitlines():
            if line.startswith("# "):
                return line[2:].strip()
    return folder


def lessons(chosen=None):
    """The lessons ('02-context/03-stack'), in order; `chosen` names one chapter, one lesson, or several."""
    found = sorted({str(path.parent.relative_to(ROOT)) for path in ROOT.glob("[0-9][0-9]-*/[0-9][0-9]-*/main.[cp]*")})
    if not chosen:
        return found
    return [lesson for lesson in found if lesson in chosen or lesson.split("/")[0] in chosen]


def git(words, folder):
    """What git prints, or None where it cannot tell: it is not here, or this is no repository, or somebody else's."""
    try:
        told = subprocess.run(["git", *words], cwd=folder, capture_output=True, check=False)
    except FileNotFoundError:
        return None
    return told.stdout if told.returncode == 0 else None


def is_python(lesson):
    """Is the lesson's program main.py, its check written for pytest?"""
    return (ROOT / lesson / "main.py").exists()


def program(lesson, folder=None):
    """The command that runs the lesson's program, or an edited copy of it that lies in `folder`."""
    if is_python(lesson):
        return [sys.executable, str(ROOT / (folder or lesson) / "main.py")]
    return [str(ROOT / (folder or f"build/{lesson}") / "main")]


def setup():
    """What common/setup.sh found, as {variable: value}; an empty value could not be had."""
    found = {}
    for line in (ROOT / "build" / "setup.mk").read_text(encoding="utf-8").splitlines():
        name, is_set, value = line.partition(" := ")
        if is_set:
            found[name] = value.replace("\\#", "#").replace("$$", "$")
    return found


def why_not(lesson, for_check=False):
    """The reason why a lesson (or the check of its exercise) cannot be built on this machine, or None."""
    found = setup()
    if not found["CUDA_INCLUDE"]:
        return found["WITHOUT_TOOLKIT"]
    if not found["NVCC"] and (any((ROOT / lesson).glob("*.cu")) or has_host_code_for_nvcc(lesson)):
        return "its kernels need nvcc, and the toolkit in " + found["CUDA_ROOT"] + " has none"
    if found.get("WITHOUT_HOST_NVCC") and has_host_code_for_nvcc(lesson):
        return found["WITHOUT_HOST_NVCC"]
    if is_python(lesson) and not found.get("TORCH"):
        return found.get("WITHOUT_TORCH") or TORCH_UNKNOWN
    if is_python(lesson) and wants_cuda_of_torch(lesson) and not (pathlib.Path(found["TORCH_ROOT"]) / "include/c10/cuda/CUDAGuard.h").exists():
        return "the PyTorch here was built without CUDA"
    if for_check and is_python(lesson):
        return None if found.get("PYTEST") else found.get("WITHOUT_PYTEST") or "pytest was not looked for"
    if for_check and not found["CATCH_VERSION"]:
        return found["WITHOUT_CATCH2"]
    return None


def has_host_code_for_nvcc(lesson):
    """Does its lesson.mk say that nvcc compiles more of it than kernels (HOST_CODE += <lesson>)?"""
    rules = ROOT / lesson / "lesson.mk"
    return rules.exists() and f"\nHOST_CODE += {lesson}\n" in "\n" + rules.read_text(encoding="utf-8")


def wants_cuda_of_torch(lesson):
    """Does the lesson's op include what only a PyTorch with CUDA has?"""
    op = ROOT / lesson / "op.cpp"
    return op.exists() and "<c10/cuda/" in op.read_text(encoding="utf-8")


def settings(lesson):
    """{variable: value} of a lesson's lesson.env: what its programs need besides the device; lines NAME=value, # for comments."""
    file = ROOT / lesson / "lesson.env"
    if not file.exists():
        return {}
    lines = [line for line in file.read_text(encoding="utf-8").splitlines() if "=" in line and not line.startswith("#")]
    return dict(line.split("=", 1) for line in lines)


def for_python():
    """What a lesson in Python finds: PyTorch, pip, pytest and matplotlib where the set-up put them, and `common`."""
    found = setup()
    pip = "" if found.get("PIP_PATH") == "none" else found.get("PIP_PATH")
    places = [found.get("TORCH_PATH"), pip, found.get("PYTEST_PATH"), found.get("MATPLOTLIB_PATH"), str(ROOT), os.environ.get("USER_PYTHONPATH")]
    # Where PyTorch's CUDA does not start, is_available() warns of it, too; the lessons say what follows.
    warnings = ",".join(filter(None, ["ignore:CUDA initialization", os.environ.get("PYTHONWARNINGS")]))
    programs = [os.environ.get("PATH"), os.path.dirname(found.get("NINJA") or "")]
    return {
        "PATH": os.pathsep.join(place for place in programs if place),
        "PYTHONPATH": os.pathsep.join(place for place in places if place),
        "PYTHONWARNINGS": warnings,
        **compiled_files(pathlib.Path(found.get("TORCH_ROOT") or ".")),
    }


def compiled_files(torch):
    """Where Python takes compiled modules from: beside their sources where PyTorch's lie there, as pip leaves them (its two thousand take longer to compile than
    all else that a lesson does). Else from build/, where they are written once. The lessons' own folders stay clean."""
    if any((torch / "__pycache__").glob(f"*.{sys.implementation.cache_tag}.pyc")):
        return {"PYTHONPYCACHEPREFIX": "", "PYTHONDONTWRITEBYTECODE": "yes"}
    return {"PYTHONPYCACHEPREFIX": str(ROOT / "build" / "pycache"), "PYTHONDONTWRITEBYTECODE": ""}


# A program that misses something which not every machine has (NVRTC, a second device) says so in a line and ends with this status.
SKIPPED = 77


def reason_given(printed):
    """What a program that ended with SKIPPED said last: 'skipped: there is no NVRTC here'."""
    lines = printed.strip().splitlines() or ["it did not say why"]
    return lines[-1].removeprefix("skipped: ")


def how_it_ended(status):
    if status >= 0:
        return f"ended with status {status}"
    return f"was killed by signal {-status} ({signal.strsignal(-status)})"  # as a shell says it: Segmentation fault


def run_limited(command, limit, **how):
    """subprocess.run of what a learner may have written: stopped after `limit` seconds, with every process that it started."""
    running = subprocess.Popen(command, stdin=subprocess.DEVNULL, text=True, errors="replace", start_new_session=True, **how)
    with running:
        try:
            printed, errors = running.communicate(timeout=limit)
        finally:
            try:
                os.killpg(running.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
    return subprocess.CompletedProcess(command, running.returncode, printed, errors)


# ---- building ------------------------------------------------------------------------------------------------------------


class Build:
    """One `make -k` of many targets: which failed, and what the compilers said. Its progress lines go to the terminal."""

    def __init__(self, targets):
        make = [os.environ.get("MAKE_COMMAND", "make"), "-k", "--no-print-directory"]
        if not os.environ.get("V"):
            make.append("--silent")
        self.failed, self.said = set(), ""
        if not targets:
            return
        # close_fds=False: the outer make's job slots come through open files. C: what they say is read below, in English.
        built = subprocess.run(
            make + list(targets), cwd=ROOT, env=dict(os.environ, LC_ALL="C.UTF-8"),
            stderr=subprocess.PIPE, text=True, errors="replace", close_fds=False,
        )  # fmt: skip
        self.said = built.stderr
        if built.returncode != 0:
            self.failed = self.given_up(targets) or set(targets)

    def given_up(self, targets):
        """The targets that make says it could not make: itself, or for want of something they need."""
        named = re.findall(r"^make(?:\[\d+\])?: (?:\*\*\* (?:\[[^\]]*?: )?(.*?)\] |Target '(.*?)' not remade)", self.said, re.MULTILINE)
        named += re.findall(r"No rule to make target '(.*?)'()", self.said)
        return set(targets) & {own or wanting for own, wanting in named}

    def complaints(self, about=""):
        """What was said before make gave up on a file whose path begins with `about`."""
        told, before = [], []
        for line in self.said.splitlines():
            gave_up = re.match(r"make(?:\[\d+\])?: \*\*\* (?:\[[^\]]*?: )?(.*?)\] Error", line)
            if gave_up:
                if gave_up.group(1).startswith(about):
                    told += before
                before = []
            elif not re.match(r"make(\[\d+\])?: ", line):
                before.append(line)
            elif "No rule to make target" in line:
                told.append(line)
        return "\n".join(told)


# ---- the device ----------------------------------------------------------------------------------------------------------


class Device:
    """What the lessons run on: its name, one line that says so, and the environment that makes the loader choose it."""

    def __init__(self, kind, name, why, environment, driver_version=0):
        self.kind, self.name, self.why, self.environment = kind, name, why, environment
        self.driver_version = driver_version

    def headline(self):
        return f"device: {self.name} ({self.why})"

    def environment_for(self, lesson):
        """The environment of a lesson's programs: its lesson.env (two simulated devices, for example), under what is set already. Libraries that
        merely look whether the runtime would start get no note of the simulator's: the lesson says what it leaves out."""
        return {"CUDASIM_QUIET": "1", **settings(lesson), **self.environment, **(for_python() if is_python(lesson) else {})}

    @contextlib.contextmanager
    def held(self):
        """While this lasts, a GPU's driver stays awake: where no process has a context, each new one waits for all of it to start (2 to 3 times as
        long as its own context takes, on an H200)."""
        if self.kind != "gpu":
            yield
            return
        command = [sys.executable, str(ROOT / "common" / "course.py"), "hold"]
        holder = subprocess.Popen(command, env=self.environment, stdin=subprocess.PIPE, start_new_session=True)
        try:
            yield
        finally:
            holder.communicate()  # the end of its input is what it waits for


def _hold():
    """Keeps the primary context of each device that lets more than one process in, until the input ends: also where who began this is no more."""
    cuda, count, mode = ctypes.CDLL("libcuda.so.1"), ctypes.c_int(0), ctypes.c_int(0)
    cuda.cuInit(0)
    cuda.cuDeviceGetCount(ctypes.byref(count))
    for device in range(count.value):
        cuda.cuDeviceGetAttribute(ctypes.byref(mode), 20, device)  # COMPUTE_MODE
        if mode.value == 0:  # DEFAULT
            cuda.cuDevicePrimaryCtxRetain(ctypes.byref(ctypes.c_void_p()), device)
    sys.stdin.read()


def _ask_driver():
    """Runs in a process of its own: what does the libcuda.so.1 that the loader finds say? Prints: result count version name."""
    try:
        cuda = ctypes.CDLL("libcuda.so.1")
    except OSError:
        print("none")
        return
    result = cuda.cuInit(0)
    count, version, name = ctypes.c_int(0), ctypes.c_int(0), ctypes.create_string_buffer(256)
    cuda.cuDriverGetVersion(ctypes.byref(version))
    if result == 0:
        result = cuda.cuDeviceGetCount(ctypes.byref(count))
        if count.value:
            cuda.cuDeviceGetName(name, 256, 0)
    print(result, count.value, version.value, name.value.decode(errors="replace"))


def probe(environment=None):
    """(what libcuda.so.1 answers, devices, driver version, first device's name); the first is 'none' without a library."""
    command = [sys.executable, str(ROOT / "common" / "course.py"), "probe"]
    asked = subprocess.run(command, env=environment, capture_output=True, text=True)
    words = asked.stdout.split(None, 3)
    if asked.returncode != 0 or not words:
        return "crashed", 0, 0, ""
    if words[0] == "none":
        return "none", 0, 0, ""
    return int(words[0]), int(words[1]), int(words[2]), words[3].strip() if len(words) > 3 else ""


# cuInit's answers that a missing GPU has (CUresult, driver API manual).
NO_GPU = {
    "none": "no NVIDIA driver here",
    "crashed": "the NVIDIA driver here crashes",
    34: "only the toolkit's stub library here, no NVIDIA driver",
    100: "the NVIDIA driver here sees no GPU",
    999: "the NVIDIA driver here does not start: cuInit answers CUDA_ERROR_UNKNOWN",
}


def why_no_gpu(answer, count):
    if answer == 0 and count == 0:
        return NO_GPU[100]
    return NO_GPU.get(answer, f"the NVIDIA driver here does not start: cuInit answers {answer}")


def wished_device():
    """auto, gpu or simulator, as DEVICE= says; anything else ends the program with a sentence."""
    wish = os.environ.get("DEVICE") or "auto"
    if wish not in ("auto", "gpu", "simulator"):
        sys.exit(f"DEVICE={wish} is none that I know. Say DEVICE=auto (a GPU if there is one), DEVICE=gpu or DEVICE=simulator.")
    return wish


def choose_device():
    """The device that DEVICE names; ends the program with a sentence where there is none."""
    wish = wished_device()
    reason = "as asked"
    if wish != "simulator":
        answer, count, version, name = probe()
        if answer == 0 and count > 0:
            is_simulator = name.startswith("Simulated")
            why = "simulator, found by the loader" if is_simulator else f"driver for CUDA {version // 1000}.{version % 1000 // 10}"
            return Device("simulator" if is_simulator else "gpu", name, why, dict(os.environ), version)
        reason = why_no_gpu(answer, count)
        if wish == "gpu":
            sys.exit(f"DEVICE=gpu, but there is none to run on: {reason}. `make doctor` says more; DEVICE=simulator runs without one.")
    environment = dict(os.environ)
    before = environment.get("LD_LIBRARY_PATH")
    environment["LD_LIBRARY_PATH"] = f"{SIMULATOR}:{before}" if before else str(SIMULATOR)
    answer, count, version, name = probe(environment)
    if not (SIMULATOR / "libcuda.so.1").exists():
        name = "none, for the simulated GPU is not built"
    elif answer != 0 or count == 0:
        name = "the simulated GPU, which does not answer"
    return Device("simulator", name, f"simulator: {reason}", environment, version)


if __name__ == "__main__" and sys.argv[1:] == ["probe"]:
    _ask_driver()
if __name__ == "__main__" and sys.argv[1:] == ["hold"]:
    _hold()
if __name__ == "__main__" and sys.argv[1:] == ["device"]:  # before anything is built: is the device that DEVICE= names here?
    if wished_device() == "gpu":
        choose_device()
