"""Judges the learner's model with y = x² + b, eager and with one kernel in each direction."""

import pytest

MI = 2**20


def forward(answer):
    """x * x + b in eager PyTorch: two kernels."""
    return [answer.Kernel(("x", "x"), ("s",)), answer.Kernel(("s", "b"), ("y",))]


def backward(answer):
    """Its gradients: a sum for db; two products and an addition in place for dx."""
    return [
        answer.Kernel(("g",), ("db",)),
        answer.Kernel(("g", "x"), ("p",)),
        answer.Kernel(("g", "x"), ("q",)),
        answer.Kernel(("p", "q"), ("p",)),
    ]


def sizes(elements, columns=1024):
    """Bytes of each tensor. b and db have one float for each column; the others have one for each element."""
    large = dict.fromkeys(("x", "s", "y", "g", "p", "q"), 4 * elements)
    return large | dict.fromkeys(("b", "db"), 4 * columns)


def test_a_kernel_reads_and_writes(answer):
    assert answer.traffic(answer.Kernel(("s", "b"), ("y",)), sizes(MI)) == 8 * MI + 4096


def test_a_tensor_that_is_read_twice_is_loaded_once(answer):
    assert answer.traffic(answer.Kernel(("x", "x"), ("s",)), sizes(MI)) == 8 * MI


def test_a_tensor_that_is_changed_in_place_moves_in_both_directions(answer):
    assert answer.traffic(answer.Kernel(("p", "q"), ("p",)), sizes(MI)) == 12 * MI


def test_an_intermediate_result_stays_in_a_register(answer):
    assert answer.fuse(forward(answer), ["y"]) == answer.Kernel(("x", "b"), ("y",))
    assert answer.fuse(backward(answer), ["db", "p"]) == answer.Kernel(("g", "x"), ("db", "p"))


def test_a_result_that_is_needed_afterwards_is_written(answer):
    assert answer.fuse(forward(answer), ["s", "y"]) == answer.Kernel(("x", "b"), ("s", "y"))


def test_a_tensor_that_is_only_read_is_not_written(answer):
    assert answer.fuse(forward(answer), ["x", "y"]) == answer.Kernel(("x", "b"), ("y",))


def test_a_tensor_that_is_read_before_it_is_written_is_an_input(answer):
    kernels = [answer.Kernel(("a",), ("c",)), answer.Kernel(("c", "d"), ("a",)), answer.Kernel(("a", "d"), ("e",))]
    assert answer.fuse(kernels, ["a", "e"]) == answer.Kernel(("a", "d"), ("a", "e"))


def test_a_tensor_that_one_kernel_changes_in_place_is_an_input(answer):
    assert answer.fuse([answer.Kernel(("a", "b"), ("a",))], ["a"]) == answer.Kernel(("a", "b"), ("a",))


def test_names_are_in_the_order_of_their_first_appearance(answer):
    assert answer.fuse(forward(answer), ["y", "s"]) == answer.Kernel(("x", "b"), ("s", "y"))


def test_small_tensors_cost_the_launch_overhead_of_each_kernel(answer):
    eager = forward(answer) + backward(answer)
    assert answer.seconds(eager, sizes(1024, 32), 4e12, 5e-6) == pytest.approx(6 * 5e-6, rel=1e-3)
    one_each = [answer.fuse(forward(answer), ["y"]), answer.fuse(backward(answer), ["db", "p"])]
    assert answer.seconds(one_each, sizes(1024, 32), 4e12, 5e-6) == pytest.approx(2 * 5e-6, rel=1e-3)


def test_large_tensors_cost_one_launch_and_the_time_of_their_traffic(answer):
    eager = forward(answer) + backward(answer)
    one_each = [answer.fuse(forward(answer), ["y"]), answer.fuse(backward(answer), ["db", "p"])]
    large = sizes(64 * MI)
    assert answer.seconds(eager, large, 4e12, 5e-6) == pytest.approx(5e-6 + 14 * 256 * MI / 4e12, rel=1e-4)
    assert answer.seconds(one_each, large, 4e12, 5e-6) == pytest.approx(5e-6 + 5 * 256 * MI / 4e12, rel=1e-4)


def in_order(answer, *bytes_read, overhead):
    """The predicted time of kernels that read so many bytes, at one byte per second."""
    kernels = [answer.Kernel((str(i),), ()) for i in range(len(bytes_read))]
    return answer.seconds(kernels, {str(i): size for i, size in enumerate(bytes_read)}, 1.0, overhead)


def test_nothing_takes_no_time(answer):
    assert answer.seconds([], {}, 1.0, 5.0) == 0


def test_a_single_kernel_takes_its_launch_and_its_traffic(answer):
    assert in_order(answer, 100, overhead=5) == 105


def test_the_cpu_launches_the_next_kernels_while_the_gpu_works(answer):
    assert in_order(answer, 10, 10, 10, overhead=5) == 5 + 30


def test_a_long_kernel_hides_the_launches_behind_it(answer):
    assert in_order(answer, 1000, *[1] * 100, overhead=4) == 4 + 1000 + 100


def test_a_kernel_that_is_launched_late_starts_late(answer):
    assert in_order(answer, *[1] * 10, 100, overhead=5) == 11 * 5 + 100


def test_the_cpu_falls_behind_after_the_long_kernel(answer):
    # The GPU finishes the fifth kernel after 4 + 10 + 4, before the CPU has launched the sixth.
    assert in_order(answer, 10, 1, 1, 1, 1, 1, overhead=4) == 6 * 4 + 1
