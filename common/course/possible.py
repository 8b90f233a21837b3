"""What can be built on this machine, and why the rest cannot."""

from __future__ import annotations

from course.facts import facts
from course.lessons import Lesson

TORCH_UNKNOWN = "PyTorch was not looked for"


def why_not(lesson: Lesson, for_check: bool = False) -> str | None:
    """The reason why a lesson (or the check of its exercise) cannot be built on this machine, or None."""
    found = facts()
    if not found.get("CUDA_INCLUDE"):
        return found.get("WITHOUT_TOOLKIT") or "no CUDA toolkit was looked for"
    if not found["NVCC"] and (lesson.has_kernels or lesson.needs_host_nvcc):
        return f"its kernels need nvcc, but the toolkit in {found['TOOLKIT']} has none"
    if found["WITHOUT_HOST_NVCC"] and lesson.needs_host_nvcc:
        return found["WITHOUT_HOST_NVCC"]
    if lesson.is_python and not found.get("TORCH"):
        return found.get("WITHOUT_TORCH") or TORCH_UNKNOWN
    if lesson.is_python and lesson.needs_cuda_of_torch and not found["TORCH_CUDA"]:
        return "this PyTorch was built without CUDA"
    for package in lesson.packages if lesson.is_python else []:
        if not found.get(package.upper()):
            return found.get(f"WITHOUT_{package.upper()}") or f"{package} was not looked for"
        if package == "numba" and int(found["CUDA_VERSION"]) < 13000:
            return "the pinned numba-cuda is for CUDA 13, and the toolkit is older"
    if not for_check:
        return None
    return why_no_pytest() if lesson.is_python else why_no_catch2()


def why_no_pytest() -> str | None:
    """Why tests in Python cannot be run, or None."""
    found = facts()
    return None if found.get("PYTEST") else found.get("WITHOUT_PYTEST") or "pytest was not looked for"


def why_no_catch2() -> str | None:
    """Why checks in C++ cannot be built, or None."""
    found = facts()
    return None if found.get("CATCH_VERSION") else found.get("WITHOUT_CATCH2") or "Catch2 was not looked for"


def why_no_suites() -> str | None:
    """Why the suites of tests/ that are C++ cannot be built, or None."""
    found = facts()
    return why_no_catch2() if found.get("CUDA_INCLUDE") else found.get("WITHOUT_TOOLKIT") or "no CUDA toolkit was looked for"
