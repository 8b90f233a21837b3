"""Tests whether the learner's function chooses the wheel that pip chooses."""

from types import ModuleType

import pytest

LINUX = ["manylinux_2_28_x86_64", "manylinux_2_17_x86_64", "linux_x86_64"]


def wheel(tags: str) -> str:
    return f"square_plus-1.0-{tags}.whl"


def choice(answer: ModuleType, *tags: str, python: tuple[int, int] = (3, 11), platforms: list[str] = LINUX, free_threaded: bool = False) -> str | None:
    """The tags of the wheel that is chosen."""
    chosen = answer.best([wheel(each) for each in tags], python, platforms, free_threaded)
    return chosen and chosen.removeprefix("square_plus-1.0-").removesuffix(".whl")


def test_a_wheel_for_another_python_is_rejected(answer: ModuleType) -> None:
    assert choice(answer, "cp310-cp310-linux_x86_64", "cp312-cp312-linux_x86_64") is None
    assert choice(answer, "cp310-cp310-linux_x86_64", "cp311-cp311-linux_x86_64") == "cp311-cp311-linux_x86_64"
    assert choice(answer, "cp27-cp27-linux_x86_64", python=(3, 7)) is None


def test_an_abi3_wheel_fits_its_python_and_all_later_ones(answer: ModuleType) -> None:
    assert choice(answer, "cp39-abi3-linux_x86_64") == "cp39-abi3-linux_x86_64"
    assert choice(answer, "cp311-abi3-linux_x86_64") == "cp311-abi3-linux_x86_64"
    assert choice(answer, "cp312-abi3-linux_x86_64") is None
    assert choice(answer, "cp310-abi3-linux_x86_64", python=(3, 9)) is None


def test_a_wheel_without_compiled_code_fits_every_python_3(answer: ModuleType) -> None:
    for python in (3, 8), (3, 14):
        assert choice(answer, "py3-none-any", python=python, platforms=["win_amd64"]) == "py3-none-any"


def test_a_wheel_for_python_2_is_rejected(answer: ModuleType) -> None:
    assert choice(answer, "py2-none-any") is None
    assert choice(answer, "py2-none-any", "py3-none-any") == "py3-none-any"


def test_a_wheel_for_another_platform_is_rejected(answer: ModuleType) -> None:
    assert choice(answer, "cp39-abi3-manylinux_2_28_aarch64", "cp311-cp311-win_amd64") is None
    assert choice(answer, "cp39-abi3-manylinux_2_39_x86_64") is None


def test_the_platform_any_comes_last(answer: ModuleType) -> None:
    for platform in LINUX:
        assert choice(answer, "py3-none-any", f"py3-none-{platform}") == f"py3-none-{platform}"
        assert choice(answer, f"py3-none-{platform}", "py3-none-any") == f"py3-none-{platform}"


def test_the_most_specific_wheel_wins(answer: ModuleType) -> None:
    everything = ["py3-none-any", "cp39-abi3-linux_x86_64", "cp310-abi3-linux_x86_64", "cp311-cp311-linux_x86_64"]
    while everything:
        best = everything[-1]
        assert choice(answer, *everything) == best
        assert choice(answer, *reversed(everything)) == best
        everything.pop()
    assert choice(answer, "cp39-abi3-linux_x86_64", "cp39-abi3-manylinux_2_17_x86_64") == "cp39-abi3-manylinux_2_17_x86_64"


def test_a_free_threaded_python_rejects_abi3_wheels(answer: ModuleType) -> None:
    assert choice(answer, "cp310-abi3-linux_x86_64", python=(3, 13), free_threaded=True) is None
    assert choice(answer, "cp313-cp313-linux_x86_64", python=(3, 13), free_threaded=True) is None
    assert choice(answer, "cp310-abi3-linux_x86_64", "cp313-cp313t-linux_x86_64", python=(3, 13), free_threaded=True) == "cp313-cp313t-linux_x86_64"
    assert choice(answer, "cp313-cp313t-linux_x86_64", "cp310-abi3-linux_x86_64", python=(3, 13)) == "cp310-abi3-linux_x86_64"
    assert choice(answer, "py3-none-any", python=(3, 13), free_threaded=True) == "py3-none-any"


def test_none_is_returned_if_there_are_no_wheels(answer: ModuleType) -> None:
    assert answer.best([], (3, 11), LINUX) is None


def test_the_choice_is_the_same_as_that_of_pip(answer: ModuleType) -> None:
    tags = pytest.importorskip("packaging.tags", reason="the package packaging, which pip uses, is missing")
    utils = pytest.importorskip("packaging.utils")
    kinds = ("cp39-abi3", "cp310-abi3", "cp311-cp311", "cp313-cp313t", "cp38-cp38", "py3-none")
    names = [wheel(f"{kind}-{platform}") for kind in kinds for platform in LINUX] + [wheel("py3-none-any")]
    for python, free_threaded in ((3, 10), False), ((3, 11), False), ((3, 13), False), ((3, 13), True):
        abis = [f"cp{python[0]}{python[1]}{'t' if free_threaded else ''}"]
        order = [*tags.cpython_tags(python, abis=abis, platforms=LINUX), *tags.compatible_tags(python, platforms=LINUX)]
        rest = list(names)
        while rest:
            fitting = {name: order.index(tag) for name in rest for tag in utils.parse_wheel_filename(name)[3] if tag in order}
            expected = min(fitting, key=lambda name: fitting[name], default=None)
            assert answer.best(rest, python, LINUX, free_threaded) == expected
            if expected is None:
                break
            rest.remove(expected)
