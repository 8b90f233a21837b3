"""Tests of the Containerfile and the dev container, as far as they go without a program that builds images."""

import json
import re

from course import ROOT, environment
from course.commands import COMMANDS

CONTAINERFILE = (ROOT / ".devcontainer" / "Containerfile").read_text(encoding="utf-8")


def test_the_dev_container_uses_a_stage_of_the_containerfile():
    settings = json.loads((ROOT / ".devcontainer" / "devcontainer.json").read_text(encoding="utf-8"))
    assert (ROOT / ".devcontainer" / settings["build"]["dockerfile"]).resolve() == (ROOT / ".devcontainer" / "Containerfile").resolve()
    assert settings["build"]["target"] in re.findall(r"^FROM \S+ AS (\w+)$", CONTAINERFILE, re.MULTILINE)
    for command in ("postCreateCommand", "postAttachCommand"):
        make, target = settings[command].split()
        assert make == "make" and target in COMMANDS


def test_what_is_copied_into_the_image_exists():
    sources = [word for line in re.findall(r"^COPY (.*)$", CONTAINERFILE, re.MULTILINE) for word in line.split()[:-1] if not word.startswith("--")]
    assert sources and all((ROOT / source).exists() for source in sources), sources


def test_the_image_asks_set_up_for_what_it_knows():
    asked = re.search(r'needs="([\w ]+)"', CONTAINERFILE).group(1).split()
    assert {"catch2", "tools"} <= set(asked) <= {"catch2", "torch", *environment.PACKAGES}


def test_neither_the_build_nor_progress_is_copied():
    assert {"build", ".progress"} <= set((ROOT / ".dockerignore").read_text(encoding="utf-8").split())
