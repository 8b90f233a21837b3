# A folder that looks like the repository, with a build/ of its own for what is built with other flags, so that nothing in ours is built again.
import os
import subprocess

import course  # PYTHONPATH: the Makefile


def folder(name, shared=()):
    """build/<name>: links to all that the repository has, and to what of our build/ is to be shared ("build/simulator")."""
    shadow = course.ROOT / "build" / name
    own = [entry.name for entry in course.ROOT.iterdir() if not entry.name.startswith(".") and entry.name != "build"]
    for path in [*own, *shared]:
        (shadow / path).parent.mkdir(parents=True, exist_ok=True)
        if not (shadow / path).is_symlink():
            (shadow / path).symlink_to(course.ROOT / path)
    (shadow / "build").mkdir(exist_ok=True)
    return shadow


def build(shadow, targets, flags):
    """Builds them there, with VARIABLE=value flags; false if one could not be built, which make has then told."""
    ours = ("IN", "INSIDE", "MAKEFLAGS", "MAKELEVEL", "MFLAGS")
    inherited = {name: value for name, value in os.environ.items() if name not in ours}
    make = [os.environ.get("MAKE_COMMAND", "make"), "--no-print-directory", "-C", str(shadow)]
    return subprocess.run(make + flags + targets, env=inherited, check=False).returncode == 0
