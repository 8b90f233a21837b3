# Judges the learner's kernel against PyTorch's own gradient of selecting the winning pixels.
import ctypes

import pytest
import torch

import places

Tensor = torch.Tensor
CHANNELS, HEIGHT, WIDTH, SIDE = 3, 7, 8, 2
SPARE = 700  # elements after the end of each array


@pytest.fixture(scope="session")
def kernel(answer: str) -> places.Device:
    return places.Device(0, answer)


def winners_of(input: Tensor, boxes: Tensor) -> Tensor:
    """The largest pixel for each box, channel and bin, or -1 for an empty bin. A box consists of whole pixels."""
    found = torch.full((len(boxes), CHANNELS, SIDE, SIDE), -1, dtype=torch.int64)
    for k, (image, left, top, right, bottom) in enumerate(boxes.long().tolist()):
        for channel in range(CHANNELS):
            for row in range(SIDE):
                for column in range(SIDE):
                    tall, wide = bottom - top, right - left
                    ys = range(top + row * tall // SIDE, top + (row + 1) * tall // SIDE)
                    xs = range(left + column * wide // SIDE, left + (column + 1) * wide // SIDE)
                    pixels = [y * WIDTH + x for y in ys for x in xs]
                    if pixels:
                        plane = input[image, channel].flatten()
                        found[k, channel, row, column] = max(pixels, key=lambda pixel: plane[pixel].item())
    return found


def forward(input: Tensor, boxes: Tensor, winners: Tensor) -> Tensor:
    """The winning pixels, or 0 for an empty bin, computed so that PyTorch derives the gradient."""
    planes = input.flatten(2)[boxes[:, 0].long()]
    taken = planes.gather(2, winners.flatten(2).clamp(min=0)).reshape(winners.shape)
    return torch.where(winners < 0, 0.0, taken)


def backward(kernel: places.Device, gradient: Tensor, boxes: Tensor, winners: Tensor, shape: torch.Size) -> Tensor:
    """Runs the learner's kernel. After the end of its arrays there is more data, which looks like bins of image 0."""
    count = winners.numel()
    sums = torch.zeros(shape, dtype=torch.float64)
    padded = [
        torch.cat([gradient.detach().flatten(), torch.ones(SPARE, dtype=torch.float64)]),
        torch.cat([boxes.flatten(), torch.zeros(SPARE, dtype=torch.float64)]),
        torch.cat([winners.flatten(), torch.zeros(SPARE, dtype=torch.int64)]),
    ]
    numbers = [CHANNELS, HEIGHT * WIDTH, SIDE * SIDE, count]
    with kernel.addresses() as address:
        tensors = [ctypes.c_void_p(address(tensor)) for tensor in (*padded, places.Out(sums))]
        arguments = [*tensors, *map(ctypes.c_int, numbers)]
        kernel.launch("roi_pool_backward", ((count + 255) // 256, 1), 256, arguments, 0, sums)
    return sums


def compare(kernel: places.Device, input: Tensor, boxes: Tensor, gradient: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """The results of the kernel and of PyTorch."""
    boxes, input = boxes.double(), input.double().requires_grad_()
    winners = winners_of(input, boxes)
    gradient = torch.arange(1, winners.numel() + 1).reshape(winners.shape).double() if gradient is None else gradient
    (expected,) = torch.autograd.grad(forward(input, boxes, winners), input, gradient)
    return backward(kernel, gradient, boxes, winners, input.shape), expected


def image(images: int = 1) -> Tensor:
    """All pixels differ, so that each bin has one winner."""
    order = torch.randperm(images * CHANNELS * HEIGHT * WIDTH, generator=torch.Generator().manual_seed(1))
    return order.reshape(images, CHANNELS, HEIGHT, WIDTH).double()


def test_the_winner_of_each_bin_gets_its_gradient(kernel: places.Device) -> None:
    found, expected = compare(kernel, image(), torch.tensor([[0, 1, 1, 7, 6]]))
    assert found.equal(expected)


def test_a_pixel_that_wins_several_bins_gets_the_sum_of_their_gradients(kernel: places.Device) -> None:
    bright = image()
    bright[0, :, 3, 3] = 1e6
    boxes = torch.tensor([[0, 3 - i % 3, 3 - i // 3, 8, 7] for i in range(9)]).repeat(20, 1)
    found, expected = compare(kernel, bright, boxes)
    assert found[0, :, 3, 3].tolist() == expected[0, :, 3, 3].tolist()
    assert found.equal(expected)


def test_each_channel_gets_the_gradients_of_its_own_bins(kernel: places.Device) -> None:
    found, expected = compare(kernel, image(), torch.tensor([[0, 0, 0, 8, 7], [0, 2, 1, 6, 5]]))
    for channel in range(CHANNELS):
        assert found[0, channel].equal(expected[0, channel]), f"channel {channel}"


def test_any_number_of_channels_works(kernel: places.Device, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(globals(), "CHANNELS", 5)
    found, expected = compare(kernel, image(2), torch.tensor([[1, 0, 0, 8, 7], [0, 2, 1, 6, 5]]))
    assert found.equal(expected)


def test_any_number_of_bins_and_any_plane_size_work(kernel: places.Device, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, number in {"SIDE": 3, "HEIGHT": 9, "WIDTH": 11}.items():
        monkeypatch.setitem(globals(), name, number)
    found, expected = compare(kernel, image(2), torch.tensor([[1, 0, 0, 11, 9], [0, 2, 1, 8, 7]]))
    assert found.equal(expected)


def test_each_image_gets_the_gradients_of_its_own_boxes(kernel: places.Device) -> None:
    found, expected = compare(kernel, image(3), torch.tensor([[2, 0, 0, 8, 7], [0, 2, 1, 6, 5], [2, 1, 1, 4, 4]]))
    for number in range(3):
        assert found[number].equal(expected[number]), f"image {number}"


def test_a_bin_without_a_pixel_adds_nothing(kernel: places.Device) -> None:
    narrow = torch.tensor([[1, 4, 2, 5, 6], [1, 3, 3, 3, 3]])  # one pixel wide, and none at all
    found, expected = compare(kernel, image(2), narrow)
    assert found.equal(expected)


def test_threads_past_the_last_bin_do_nothing(kernel: places.Device) -> None:
    found, expected = compare(kernel, image(2), torch.tensor([[1, 0, 0, 8, 7]]))
    assert found[0].abs().max() == 0, "image 0 has no box, but it got a gradient"
    assert found.equal(expected)


def test_gradcheck_accepts_the_gradient(kernel: places.Device) -> None:
    boxes = torch.tensor([[0, 1, 1, 7, 6], [0, 2, 2, 8, 7]]).double()

    class Pool(torch.autograd.Function):
        @staticmethod
        def forward(ctx, input):
            ctx.winners = winners_of(input, boxes)
            ctx.shape = input.shape
            return forward(input, boxes, ctx.winners)

        @staticmethod
        def backward(ctx, gradient):
            return backward(kernel, gradient, boxes, ctx.winners, ctx.shape)

    assert torch.autograd.gradcheck(Pool.apply, image().requires_grad_(), nondet_tol=1e-12)
