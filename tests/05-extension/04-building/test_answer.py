"""The learner's choice of a toolkit."""

from types import ModuleType


def report(version: str) -> str:
    """What nvcc prints, with numbers that are not its version before and after it."""
    lines = ["Copyright (c) 2005-2025 NVIDIA Corporation", f"Cuda compilation tools, release {version}, V{version}.93", "Build cuda_r99.9/compiler"]
    return "\n".join(lines)


def choice(answer: ModuleType, torch_cuda: str | None, *versions: str) -> str | None:
    """The version of the chosen toolkit. The order of the toolkits must not matter."""
    chosen = {answer.choose(torch_cuda, {f"/opt/{version}": report(version) for version in order}) for order in (versions, versions[::-1])}
    assert len(chosen) == 1, "the choice depends on the order of the toolkits"
    (folder,) = chosen
    return folder and folder.removeprefix("/opt/")


def test_a_toolkit_with_another_major_version_does_not_fit(answer: ModuleType) -> None:
    assert choice(answer, "12.8", "13.0", "11.8") is None
    assert choice(answer, "12.8", "13.0", "12.8", "11.8") == "12.8"
    assert choice(answer, "12.1", "1.12") is None


def test_a_toolkit_with_another_minor_version_fits(answer: ModuleType) -> None:
    assert choice(answer, "12.8", "12.4") == "12.4"
    assert choice(answer, "12.8", "12.9", "13.0") == "12.9"


def test_the_version_of_pytorch_is_preferred(answer: ModuleType) -> None:
    assert choice(answer, "12.8", "12.9", "12.8", "12.4") == "12.8"


def test_the_newest_that_is_not_newer_is_preferred(answer: ModuleType) -> None:
    assert choice(answer, "12.8", "12.9", "12.4", "12.6") == "12.6"


def test_if_all_are_newer_the_oldest_is_chosen(answer: ModuleType) -> None:
    assert choice(answer, "12.1", "12.9", "12.4", "12.6") == "12.4"


def test_versions_are_compared_as_numbers(answer: ModuleType) -> None:
    assert choice(answer, "12.11", "12.9", "12.10") == "12.10"
    assert choice(answer, "12.8", "12.10", "12.9") == "12.9"


def test_a_toolkit_without_a_version_is_ignored(answer: ModuleType) -> None:
    reports = {"/broken": "nvcc: error while loading shared libraries", "/empty": "", "/good": report("12.4")}
    assert answer.choose("12.8", reports) == "/good"
    assert answer.choose("12.8", {"/broken": "12.8"}) is None


def test_no_toolkit_fits_a_pytorch_without_cuda(answer: ModuleType) -> None:
    assert choice(answer, None, "12.8", "13.0") is None


def test_without_toolkits_the_result_is_none(answer: ModuleType) -> None:
    assert answer.choose("12.8", {}) is None
