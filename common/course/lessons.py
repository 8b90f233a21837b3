"""The lessons: which exist, what they are called, which program each runs and with what environment."""

import os
import sys

from course import ROOT

# Former names, as they were after the number. A lesson with a new name has kept its exercise; one that became part of another has not.
RENAMED = {"stack": "current", "host-register": "pinning", "hopper": "hopper-schedule", "torch-cpp": "dispatcher", "real-ops": "nms"}
PART_OF = {"before-init": "checking", "no-context": "current", "memset-and-types": "alloc-copy-free", "pinned-kinds": "pinning"}
# Numbers that no lesson has any more, and who had them.
LEFT = {"01-10": "doctor", "03-16": "pitched"}


def lessons(chosen=None):
    """The lessons ('02-context/03-current') in order; `chosen` names chapters and lessons, none means all."""
    found = sorted({str(path.parent.relative_to(ROOT)) for path in ROOT.glob("[0-9][0-9]-*/[0-9][0-9]-*/main.[cp]*")})
    if not chosen:
        return found
    return [lesson for lesson in found if lesson in chosen or lesson.split("/")[0] in chosen]


def chapters():
    """The folders that contain lessons."""
    return sorted({lesson.split("/")[0] for lesson in lessons()})


def beside(lesson, step):
    """The lesson `step` places after this one, or before it; None at the ends."""
    every = lessons()
    place = every.index(lesson) + step
    return every[place] if 0 <= place < len(every) else None


def heading(folder):
    """The first heading of a folder's README: '02-03 The context stack'."""
    readme = ROOT / folder / "README.md"
    if readme.exists():
        for line in readme.read_text(encoding="utf-8").splitlines():
            if line.startswith("# "):
                return line[2:].strip()
    return folder


def own_name(lesson):
    """'02-context/03-current', or '03-current', without chapter and number: 'current'."""
    return lesson.split("/")[-1][3:]


def named(own):
    """The lesson with this name after the number, in whatever place it is now; None if there is none."""
    return next((lesson for lesson in lessons() if own_name(lesson) == own), None)


def number(lesson):
    """'03-memory/04-pageable-vs-pinned' is 03-04."""
    return "-".join(part[:2] for part in lesson.split("/"))


def is_python(lesson):
    """Is the lesson's program main.py, and its check written for pytest?"""
    return (ROOT / lesson / "main.py").exists()


def has_kernels(lesson):
    return any((ROOT / lesson).glob("*.cu"))


def plots(lesson):
    return (ROOT / lesson / "plot.py").exists()


def program(lesson, folder=None):
    """The command that runs the lesson's program, or an edited copy of it in `folder`."""
    if is_python(lesson):
        return [python(), str(ROOT / (folder or lesson) / "main.py")]
    return [str(ROOT / (folder or f"build/{lesson}") / "main")]


def python():
    """The Python that has PyTorch and pytest: set-up's environment, or the one that runs now, without that environment."""
    environment = ROOT / "build" / "python" / "bin" / "python3"
    return str(environment) if environment.exists() else sys.executable


def settings(lesson):
    """{variable: value} from a lesson's lesson.env: NAME=value lines that its programs need besides the device, and # comments."""
    file = ROOT / lesson / "lesson.env"
    if not file.exists():
        return {}
    lines = [line for line in file.read_text(encoding="utf-8").splitlines() if "=" in line and not line.startswith("#")]
    return dict(line.split("=", 1) for line in lines)


def for_python():
    """The environment of a lesson in Python: it can import from `common`, and it finds ninja beside its Python."""
    torch = ROOT / "build" / "torch"
    # PyTorch warns if its CUDA does not start; the lessons say what follows from that.
    warnings = ",".join(filter(None, ["ignore:CUDA initialization", os.environ.get("PYTHONWARNINGS")]))
    return {
        "PATH": os.pathsep.join([str(ROOT / "build" / "python" / "bin"), os.environ.get("PATH", os.defpath)]),
        "PYTHONPATH": os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")])),
        "PYTHONWARNINGS": warnings,
        **compiled_files(torch),
    }


def compiled_files(torch):
    """Where Python keeps compiled modules. PyTorch's two thousand take longer to compile than everything else that a lesson does, so they are
    read beside their sources if pip has compiled them. Otherwise they are written to build/, once. The lessons' folders stay clean."""
    if any((torch / "__pycache__").glob(f"*.{sys.implementation.cache_tag}.pyc")):
        return {"PYTHONPYCACHEPREFIX": "", "PYTHONDONTWRITEBYTECODE": "yes"}
    return {"PYTHONPYCACHEPREFIX": str(ROOT / "build" / "pycache"), "PYTHONDONTWRITEBYTECODE": ""}
