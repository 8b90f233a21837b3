"""make test: proves every program, exercise, text and tool; with QUICK=1, what takes little time. With SANITIZE, looks for mistakes with a sanitizer
or another tool."""

import os


def is_quick():
    """Is only to be proven what takes little time?"""
    return os.environ.get("QUICK", "0") not in ("", "0")


def main(words):
    from course.test import everything, sanitize

    # Which of a program's launches would be compiled depends on the machine; what tests the compiler sets it.
    os.environ.setdefault("CUDASIM_COMPILE", "off")
    # A model that has learned little is enough to compare the tokens of 05-17.
    os.environ.setdefault("DECODE_STEPS", "10")
    if os.environ.get("SANITIZE"):
        return sanitize.main([os.environ["SANITIZE"], *words])
    return everything.Test(words).everything()
