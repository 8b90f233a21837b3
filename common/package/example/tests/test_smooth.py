"""The same tests for pytest. The fixture `cudasim` comes with the package."""


def test_the_program_finds_its_results_right(cudasim):
    assert "0 of 1000 results are wrong" in cudasim.run("smooth_test.cu").output


def test_the_kernel_agrees_with_its_reference(cudasim):
    cudasim.verify("kernels.py")
