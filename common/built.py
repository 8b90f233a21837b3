"""Where what a lesson's lesson.mk, kernels.cu or op.cpp became lies, for lessons in Python and their tests."""

import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parent.parent


def built(file: str, name: str) -> str:
    """The path of `name`, built for the lesson that `file` (your __file__: program, answer or test) belongs to.

    An edited copy of a lesson, which `make test` makes of its texts, may have its own beside it.
    """
    here = pathlib.Path(file).resolve()
    beside = here.parent / name
    if beside.exists():
        return str(beside)
    lesson = re.search(r"\d\d-[\w-]+/\d\d-[\w-]+", str(here.relative_to(ROOT)))
    if not lesson:
        raise ValueError(f"{file} belongs to no lesson")
    return str(ROOT / "build" / lesson.group() / name)
