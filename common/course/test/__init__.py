"""make test: proves every program, exercise, text and tool. With SANITIZE, looks for mistakes with a sanitizer or another tool."""

import os


def main(words):
    from course.test import everything, sanitize

    if os.environ.get("SANITIZE"):
        return sanitize.main([os.environ["SANITIZE"], *words])
    return everything.Test(words).everything()
