"""make test: proves every program, exercise, text and tool. With SANITIZE, looks for mistakes with a sanitizer or another tool."""


def main(words):
    from course.test import everything

    return everything.Test(words).everything()
