# Judges backward() and tile(): runs the kernel on matrices of many sizes.
import pytest
import torch
import triton

import launch

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
ROOM = 300  # elements behind the results, which must stay as they are, and behind the inputs, which are NaN


def followed_by(value, tensor):
    """The elements, row by row, with ROOM elements behind them."""
    return torch.cat([tensor.flatten(), torch.full((ROOM,), value, dtype=tensor.dtype)]).to(DEVICE)


@pytest.fixture
def run(answer):
    """run(g, x, tile): dx, db, and what is stored behind dx and behind the partial sums."""

    def ran(g, x, tile=None):
        rows, columns = x.shape
        down, across = tile or answer.tile(rows, columns)
        tiles = triton.cdiv(rows, down), triton.cdiv(columns, across)
        dx = torch.full((rows * columns + ROOM,), -1, dtype=torch.float16, device=DEVICE)
        partial = torch.full((tiles[0] * columns + ROOM,), -1, dtype=torch.float32, device=DEVICE)
        inputs = [followed_by(float("nan"), each.half()) for each in (g, x)]
        launch.launch(answer.backward, tiles, *inputs, dx, partial, rows, columns, ROWS=down, COLUMNS=across)
        dx, partial = dx.cpu(), partial.cpu()
        sums = partial[:-ROOM].reshape(tiles[0], columns)
        return dx[:-ROOM].reshape(rows, columns), sums.sum(0), {*dx[-ROOM:].tolist(), *partial[-ROOM:].tolist()}

    return ran


def numbers(*shape):
    """Small integers: their products and sums are exact, so no order of the additions is wrong."""
    return torch.randint(-8, 9, shape).float()


def expect(found, g, x):
    dx, db, behind = found
    assert dx.tolist() == (2 * g * x).tolist(), "dx is not 2 * g * x"
    assert db.tolist() == g.sum(0).tolist(), "the partial sums do not add up to the sums of the columns of g"
    assert behind == {-1}, "the kernel wrote past the end of dx or of the partial sums"


def test_one_tile_is_computed(run):
    g, x = numbers(16, 32), numbers(16, 32)
    expect(run(g, x, (16, 32)), g, x)


def test_every_tile_writes_its_own_part(run):
    g, x = numbers(32, 64), numbers(32, 64)
    expect(run(g, x, (16, 32)), g, x)


def test_tiles_may_reach_past_the_last_column(run):
    g, x = numbers(16, 50), numbers(16, 50)
    expect(run(g, x, (16, 32)), g, x)


def test_tiles_may_reach_past_the_last_row(run):
    g, x = numbers(21, 32), numbers(21, 32)
    expect(run(g, x, (16, 32)), g, x)


def test_sums_are_computed_in_float32(run):
    g = torch.ones(16, 32)
    g[0] = 2048  # in float16, 2048 + 1 is 2048
    expect(run(g, torch.ones(16, 32), (16, 32)), g, torch.ones(16, 32))


def test_a_tile_is_a_power_of_two_and_at_most_4096_elements(answer):
    for rows, columns in ((1, 1), (3, 5), (1, 100_000), (100_000, 1), (777, 777), (1 << 20, 4097)):
        down, across = answer.tile(rows, columns)
        assert all(size > 0 and size & (size - 1) == 0 for size in (down, across)), f"{rows} x {columns}: {down} x {across} are not both powers of two"
        assert down * across <= 4096, f"{rows} x {columns}: a tile of {down} x {across} has more than 4096 elements"


def test_a_tile_is_not_much_larger_than_the_matrix_and_not_tiny(answer):
    for rows, columns in ((1, 1), (3, 5), (1, 5000), (5000, 1), (1000, 1000)):
        down, across = answer.tile(rows, columns)
        assert down < 2 * rows and across < 2 * columns, f"{rows} x {columns}: most of a tile of {down} x {across} is outside the matrix"
        assert down * across >= min(256, rows * columns / 4), f"{rows} x {columns}: a tile of {down} x {across} leaves most threads without work"


def test_any_size_works(run):
    for shape in ((1, 1), (3, 5), (130, 70), (1, 5000)):
        g, x = numbers(*shape), numbers(*shape)
        expect(run(g, x), g, x)
