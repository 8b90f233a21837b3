"""What can be built on this machine, and why the rest cannot. Set-up has written down in build/setup.mk what it found."""

from course import ROOT
from course.lessons import has_kernels, is_python

TORCH_UNKNOWN = "PyTorch was not looked for"


def setup():
    """{name: value} as set-up found them; a missing value is empty. Without the file, nothing is known."""
    file = ROOT / "build" / "setup.mk"
    if not file.exists():
        return {}
    lines = file.read_text(encoding="utf-8").splitlines()
    return dict(line.split(" = ", 1) for line in lines if " = " in line)  # a file from before the second edition has no such line


def why_not(lesson, for_check=False):
    """The reason why a lesson (or the check of its exercise) cannot be built on this machine, or None."""
    found = setup()
    if not found.get("CUDA_INCLUDE"):
        return found.get("WITHOUT_TOOLKIT") or "no CUDA toolkit was looked for"
    if not found["NVCC"] and (has_kernels(lesson) or nvcc_compiles_host_code(lesson)):
        return f"its kernels need nvcc, but the toolkit in {found['TOOLKIT']} has none"
    if found["WITHOUT_HOST_NVCC"] and nvcc_compiles_host_code(lesson):
        return found["WITHOUT_HOST_NVCC"]
    if is_python(lesson) and not found.get("TORCH"):
        return found.get("WITHOUT_TORCH") or TORCH_UNKNOWN
    if is_python(lesson) and includes_cuda_of_torch(lesson) and not found["TORCH_CUDA"]:
        return "this PyTorch was built without CUDA"
    return why_not_judged(lesson) if for_check else None


def why_not_judged(lesson, needs_pytest=False):
    """The reason why a lesson's exercise, or without a lesson the suites of tests/, cannot be judged: Catch2 or pytest is missing."""
    found = setup()
    if needs_pytest or lesson and is_python(lesson):
        return None if found.get("PYTEST") else found.get("WITHOUT_PYTEST") or "pytest was not looked for"
    return None if found.get("CATCH_VERSION") else found.get("WITHOUT_CATCH2") or "Catch2 was not looked for"


def nvcc_compiles_host_code(lesson):
    """Does nvcc compile more of the lesson than PTX? Its lesson.mk then says HOST_CODE."""
    rules = ROOT / lesson / "lesson.mk"
    return rules.exists() and "HOST_CODE" in rules.read_text(encoding="utf-8")


def includes_cuda_of_torch(lesson):
    op = ROOT / lesson / "op.cpp"
    return op.exists() and "<c10/cuda/" in op.read_text(encoding="utf-8")
