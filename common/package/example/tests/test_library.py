"""A test of a library that Python loads."""

import ctypes

import pytest


@pytest.mark.cudasim
def test_the_library_smooths_an_array(cudasim):
    file = cudasim.compile("smooth_library.cu", options=["-shared", "-Xcompiler", "-fPIC"])
    x, y = (ctypes.c_float * 3)(3, 3, 3), (ctypes.c_float * 3)()
    ctypes.CDLL(str(file)).smooth_array(x, y, 3)
    assert list(y) == [2, 3, 2]
