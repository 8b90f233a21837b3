"""Tests of the doctor as a whole: a healthy machine, one without a GPU, and the command."""

import json
import os
import pathlib
import subprocess
import sys

import pytest

from course import ROOT
from made_up import COMPILE, PYTORCH, RUN, SIMULATOR, TORCH, healthy, machine, reads_libraries, says, verdicts


@reads_libraries
def test_a_healthy_machine_does_all_nine_tasks_and_the_status_is_0():
    with machine() as made:
        healthy(made)
        judged, status = made.judged()
        assert {verdict.state for verdict in judged.values()} == {"works"}, [one for one in judged.values() if one.state != "works"]
        assert len(judged) == 9 and status == 0


def test_a_machine_without_a_gpu_has_status_2_and_the_simulator():
    with machine() as made:
        made.toolkit()
        says(made, RUN, "no GPU", "no NVIDIA driver", remedy="make run", status=2)
        says(made, SIMULATOR, "works")
        says(made, COMPILE, "works")


@reads_libraries
def test_the_command_prints_json_and_lines_of_a_hundred_columns():
    with machine() as made:
        healthy(made)
        made.environment["CUDA_VISIBLE_DEVICES"] = "0"
        command = [sys.executable, "-m", "course", "doctor", "--root", made.root]
        made.environment["PYTHONPATH"] = str(ROOT / "common")
        said = subprocess.run(command + ["--json"], env=made.environment, capture_output=True, text=True, check=False)
        assert said.returncode == 0, said.stdout + said.stderr
        report = json.loads(said.stdout)
        assert report["status"] == 0 and len(report["tasks"]) == 9
        assert {one["name"] for one in report["libraries"]} >= {"cuda", "cudart", "cudnn", "torch_cuda"}
        told = subprocess.run(command, env=made.environment, capture_output=True, text=True, check=False).stdout.splitlines()
        assert "  GPU          NVIDIA H200, compute capability 9.0" in told, told
        assert [line for line in told if len(line) > 100] == []


def test_without_its_packages_the_command_finds_less_and_says_so():
    with machine() as made:
        healthy(made)
        (pathlib.Path(made.root) / "hidden").mkdir()
        for name in ("elftools", "packaging"):  # found first, and cannot be imported
            (pathlib.Path(made.root) / "hidden" / f"{name}.py").write_text("raise ImportError\n")
        made.environment["PYTHONPATH"] = f"{made.root}/hidden:{ROOT}/common"
        command = [sys.executable, "-m", "course", "doctor", "--root", made.root]
        said = subprocess.run(command, env=made.environment, capture_output=True, text=True, check=False)
        assert said.returncode == 0 and "Not examined: the names and search paths inside libraries" in said.stdout, said.stderr
        assert "  works    run a driver program on the GPU" in said.stdout.splitlines()


def test_a_requirement_for_another_system_is_not_pytorchs():
    pytest.importorskip("packaging", reason="needs packaging, which set-up could not fetch")
    with machine() as made:
        healthy(made)
        metadata = "Requires-Dist: nvidia-cudnn-cu13==9.1.0; platform_system == 'Windows'\nRequires-Dist: nvidia-cudnn-cu13 (==9.19.0.56)\n"
        made.file(f"{TORCH}/torch-2.11.0.dist-info/METADATA", metadata)
        assert made.look().torch.wants == {"nvidia-cudnn-cu13": "9.19.0.56"}
        says(made, PYTORCH, "works")


@reads_libraries
def test_two_cudnns_that_do_not_meet_are_told_and_nothing_is_wrong():
    with machine() as made:
        healthy(made)
        made.library("/opt/cudnn", "libcudnn.so.9.14.0")
        made.environment["LD_LIBRARY_PATH"] = "/usr/local/cuda/lib64:/opt/cudnn"
        assert ("cuDNN of programs and of PyTorch", "two, 9.14.0 and 9.19.0.56; each gets its own") in verdicts.compare(made.look())
        assert made.judged()[1] == 0


def test_make_doctor_ends_well_whatever_the_verdict():
    environment = {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MAKELEVEL", "MAKEOVERRIDES", "MFLAGS", "INSIDE", "IN")}
    ended = subprocess.run(["make", "doctor"], cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert ended.returncode == 0 and "Error" not in ended.stderr and "Nine tasks" in ended.stdout, ended.stderr
