"""A folder that looks like the repository, with a build/ of its own for what is built with other flags."""

from course import ROOT, build

SHARED = ["build/setup.mk", "build/toolkit", "build/catch2"]


def folder(name, shared=()):
    """build/<name>: links to everything in the repository, and to those parts of its build/ that are to be shared ("build/simulator")."""
    shadow = ROOT / "build" / name
    own = [entry.name for entry in ROOT.iterdir() if not entry.name.startswith(".") and entry.name != "build"]
    for path in [*own, *SHARED, *shared]:
        (shadow / path).parent.mkdir(parents=True, exist_ok=True)
        if not (shadow / path).is_symlink():
            (shadow / path).symlink_to(ROOT / path)
    return shadow


def build_in(shadow, targets, flags):
    """Builds targets there, with VARIABLE=value flags; false if one could not be built, which make has then said."""
    return build.call(["wanted", f"WANTED={' '.join(targets)}", "QUIET=yes", *flags], folder=shadow).returncode == 0
