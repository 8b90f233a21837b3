"""Self-check of 05-extension/06-speed: what the learner's model says of y = x² + b, eager and in one kernel each way."""

import pytest

MI = 2**20


def forward(answer):
    """x * x + b as PyTorch does it: two kernels."""
    return [answer.Kernel(("x", "x"), ("s",)), answer.Kernel(("s", "b"), ("y",))]


def backward(answer):
    """Its gradients: db by a sum, dx by two products and an addition in place."""
    return [
        answer.Kernel(("g",), ("db",)),
        answer.Kernel(("g", "x"), ("p",)),
        answer.Kernel(("g", "x"), ("q",)),
        answer.Kernel(("p", "q"), ("p",)),
    ]


def sizes(elements, columns=1024):
    """Bytes of each tensor: x, y, g and the intermediate ones are large, b and db have a float a column."""
    large = dict.fromkeys(("x", "s", "y", "g", "p", "q"), 4 * elements)
    return large | dict.fromkeys(("b", "db"), 4 * columns)


def test_a_kernel_reads_and_writes(answer):
    assert answer.traffic(answer.Kernel(("s", "b"), ("y",)), sizes(MI)) == 8 * MI + 4096


def test_what_is_read_twice_is_fetched_once(answer):
    assert answer.traffic(answer.Kernel(("x", "x"), ("s",)), sizes(MI)) == 8 * MI


def test_what_is_changed_in_place_travels_both_ways(answer):
    assert answer.traffic(answer.Kernel(("p", "q"), ("p",)), sizes(MI)) == 12 * MI


def test_what_is_made_on_the_way_stays_in_a_register(answer):
    assert answer.fuse(forward(answer), ["y"]) == answer.Kernel(("x", "b"), ("y",))
    assert answer.fuse(backward(answer), ["db", "p"]) == answer.Kernel(("g", "x"), ("db", "p"))


def test_what_is_needed_afterwards_is_written(answer):
    assert answer.fuse(forward(answer), ["s", "y"]) == answer.Kernel(("x", "b"), ("s", "y"))


def test_what_is_kept_and_only_read_is_not_written(answer):
    assert answer.fuse(forward(answer), ["x", "y"]) == answer.Kernel(("x", "b"), ("y",))


def test_what_is_read_before_it_is_written_is_an_input(answer):
    kernels = [answer.Kernel(("a",), ("c",)), answer.Kernel(("c", "d"), ("a",)), answer.Kernel(("a", "d"), ("e",))]
    assert answer.fuse(kernels, ["a", "e"]) == answer.Kernel(("a", "d"), ("a", "e"))


def test_what_one_kernel_changes_in_place_is_an_input(answer):
    assert answer.fuse([answer.Kernel(("a", "b"), ("a",))], ["a"]) == answer.Kernel(("a", "b"), ("a",))


def test_names_are_in_the_order_in_which_they_appear(answer):
    assert answer.fuse(forward(answer), ["y", "s"]) == answer.Kernel(("x", "b"), ("s", "y"))


def test_small_tensors_cost_as_many_overheads_as_kernels(answer):
    eager = forward(answer) + backward(answer)
    assert answer.seconds(eager, sizes(1024, 32), 4e12, 5e-6) == pytest.approx(6 * 5e-6)
    one_each = [answer.fuse(forward(answer), ["y"]), answer.fuse(backward(answer), ["db", "p"])]
    assert answer.seconds(one_each, sizes(1024, 32), 4e12, 5e-6) == pytest.approx(2 * 5e-6)


def test_large_tensors_cost_their_bytes(answer):
    eager = forward(answer) + backward(answer)
    one_each = [answer.fuse(forward(answer), ["y"]), answer.fuse(backward(answer), ["db", "p"])]
    large = sizes(64 * MI)
    assert answer.seconds(eager, large, 4e12, 5e-6) == pytest.approx(14 * 256 * MI / 4e12, rel=1e-3)
    assert answer.seconds(one_each, large, 4e12, 5e-6) == pytest.approx(5 * 256 * MI / 4e12, rel=1e-3)


def test_each_kernel_waits_for_the_slower_of_its_launch_and_its_traffic(answer):
    mixed = [answer.Kernel(("x",), ("y",)), answer.Kernel(("b",), ("db",))]
    assert answer.seconds(mixed, sizes(MI), 1e12, 5e-6) == pytest.approx(8 * MI / 1e12 + 5e-6)
