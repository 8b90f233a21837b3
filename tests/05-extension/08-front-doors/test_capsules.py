"""The lesson's capsules and doors: a struct is deleted exactly once, and each door computes the op."""

import ctypes
import gc
import os
import subprocess
import sys
import weakref

import pytest

from common import dlpack, driver


class Owner:
    pass


@pytest.mark.parametrize("versioned", [False, True])
def test_an_owner_lives_until_the_consumer_or_the_unused_capsule_is_gone(versioned):
    for is_taken in True, False:
        owner = Owner()
        gone = weakref.ref(owner)
        capsule = dlpack.make_capsule(4096, (2, 3), versioned=versioned, owner=owner)
        taken = dlpack.take(capsule) if is_taken else None
        del owner
        assert gone()
        del capsule
        gc.collect()
        assert bool(gone()) == is_taken
        if taken:
            taken.deleter(ctypes.addressof(taken))
            gc.collect()
            assert not gone()


def test_capsules_that_exist_at_the_end_of_the_process_do_no_harm():
    """Python frees what `sys` refers to after this module and its callbacks."""
    program = "import sys, dlpack; sys.kept = [dlpack.make_capsule(4096, (2, 3), versioned=each, owner=None) for each in (False, True)]"
    ended = subprocess.run([sys.executable, "-c", program], cwd=os.path.dirname(dlpack.__file__), capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")


def test_a_capsule_says_what_it_contains():
    capsule = dlpack.make_capsule(4096, (2, 3, 5), versioned=True, owner=None, read_only=True)
    inside = dlpack.look_into(capsule)
    assert (inside.major, inside.flags, inside.tensor.data, inside.tensor.dimensions) == (1, dlpack.READ_ONLY, 4096, 3)
    assert inside.tensor.strides[:3] == [15, 5, 1]


@pytest.mark.parametrize("cuda, ptx", [((11, 8), 78), ((12, 0), 80), ((12, 5), 85), ((12, 6), 85), ((12, 8), 87), ((13, 0), 90), ((13, 1), 91)])
def test_a_driver_loads_the_ptx_of_its_own_cuda_version(monkeypatch, cuda, ptx):
    """The versions are those of the release notes in the manual of PTX."""
    monkeypatch.setattr(driver, "version", lambda: cuda)
    assert driver.ptx_version() == ptx
    text = "// a comment\n.version {}.{}\n.target sm_75\n"
    assert not driver.is_too_new(text.format(*divmod(ptx, 10))) and driver.is_too_new(text.format(*divmod(ptx + 1, 10)))
