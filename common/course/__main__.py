"""`python3 -m course make GOAL…` does what make was asked for. `python3 -m course COMMAND WORD…` runs one command directly."""

import os
import sys

# make may start any python3.
if sys.version_info < (3, 10):  # noqa: UP036
    sys.exit("The python3 here is Python {}.{}, and the course needs 3.10 or newer. Put a newer one first on the PATH.".format(*sys.version_info))

import errno
import importlib
import signal
import types


def explain(kind: type[BaseException], value: BaseException, trace: types.TracebackType | None) -> None:
    """Says in a sentence what needs no traceback: Ctrl-C, and a disk or an output that cannot be written."""
    if isinstance(value, OSError) and value.errno in (errno.EBADF, errno.EIO, errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES):
        print(f"{value.filename or 'The output cannot be written'}: {value.strerror}", file=sys.stderr)
        os._exit(1)  # a normal exit would try to write once more
    if not issubclass(kind, KeyboardInterrupt):
        sys.__excepthook__(kind, value, trace)


def main(words: list[str]) -> int:
    from course import ROOT, build

    # `make -n` writes nothing, not even compiled Python. (The Makefile starts Python with -B.)
    if not build.is_dry_run():
        sys.pycache_prefix, sys.dont_write_bytecode = str(ROOT / "build" / "pycache"), False
    # What we start, like a lesson in Python, gets the user's own path. Ours was for finding this package.
    if "USERS_PYTHONPATH" in os.environ:
        os.environ["PYTHONPATH"] = os.environ.pop("USERS_PYTHONPATH")
        if not os.environ["PYTHONPATH"]:
            del os.environ["PYTHONPATH"]
    command, *rest = words or ["help"]
    if command == "make":
        from course import typed

        return int(typed.main(rest))
    if not (ROOT / "common" / "course" / command.replace("-", "_")).with_suffix(".py").exists() and command not in ("doctor", "test"):
        sys.exit(f"There is no command called {command}. `make help` lists them.")
    return int(importlib.import_module(f"course.{command.replace('-', '_')}").main(rest))


if __name__ == "__main__":
    if sys.argv[1:2] != ["setup"]:
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # `make run | head` ends quietly
    sys.excepthook = explain
    sys.exit(main(sys.argv[1:]))
