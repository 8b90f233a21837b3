# Judges the learner's kernel against NMS as its definition says, class by class.
import ctypes

import pytest
import torch

import kernels
import reference

Tensor = torch.Tensor
BLOCK = 128
UNTOUCHED = 0x55555555


def keep(answer: str, *classes: Tensor, threshold: float = 0.5) -> tuple[list[list[int]], list[int]]:
    """The numbers of the boxes that the kernel keeps, for each class, and the words of the classes that fill the last block: nobody may write these."""
    spare = -len(classes) % (BLOCK // 32)
    places = torch.zeros(len(classes) + spare, 32, 4)
    places[:, :] = torch.tensor([0.0, 0, 1000, 1000])  # behind the boxes: one that overlaps every large box
    for number, boxes in enumerate(classes):
        places[number, : len(boxes)] = boxes
    counts = torch.tensor([len(boxes) for boxes in classes] + [32] * spare, dtype=torch.int32)
    kept = torch.full((len(classes) + spare,), UNTOUCHED, dtype=torch.int32)
    with kernels.Launches(places) as launches:
        b, c, k = launches(places), launches(counts), launches(kept, back=True)
        arguments = [b, c, ctypes.c_int(len(classes)), ctypes.c_float(threshold), k]
        launches.launch(kernels.kernel(answer, "nms_of_classes"), (32 * len(kept) // BLOCK, 1), BLOCK, 0, *arguments)
    words = kept.tolist()
    return [[i for i in range(32) if bits >> i & 1] for bits in words[: len(classes)]], words[len(classes) :]


def defined(boxes: Tensor, threshold: float) -> list[int]:
    return sorted(reference.nms(boxes, -torch.arange(float(len(boxes))), threshold).tolist())


def boxes_of(count: int, seed: int) -> Tensor:
    """Whole numbers, so that no sum is rounded."""
    generator = torch.Generator().manual_seed(seed)
    corner, size = [torch.randint(low, high, (count, 2), generator=generator).float() for low, high in ((0, 40), (8, 30))]
    return torch.cat([corner, corner + size], 1)


def row(*lefts: float) -> Tensor:
    """Boxes of 10 by 10 in a row."""
    return torch.tensor([[left, 0.0, left + 10, 10] for left in lefts]).reshape(-1, 4)


def test_what_is_behind_the_boxes_of_a_class_does_not_matter(answer: str) -> None:
    assert keep(answer, row(0, 20, 40))[0] == [[0, 1, 2]]
    assert keep(answer, torch.tensor([[0.0, 0, 1000, 900]]))[0] == [[0]]
    assert keep(answer, row())[0] == [[]]


def test_a_removed_box_removes_no_other(answer: str) -> None:
    assert keep(answer, row(0, 3, 6))[0] == [[0, 2]]


def test_a_chain_of_boxes_needs_many_rounds(answer: str) -> None:
    assert keep(answer, row(*range(0, 93, 3)))[0] == [list(range(0, 31, 2))]


def test_the_best_box_is_always_kept(answer: str) -> None:
    assert keep(answer, row(0, 1))[0] == [[0]]
    assert keep(answer, row(5, 4, 3, 2))[0] == [[0]]


def test_an_overlap_that_equals_the_threshold_removes_no_box(answer: str) -> None:
    boxes = torch.tensor([[0.0, 0, 3, 1], [1, 0, 4, 1]])  # they share 2 of 4
    assert keep(answer, boxes)[0] == [[0, 1]]


@pytest.mark.parametrize("threshold", [0.2, 0.35, 0.7])
def test_every_threshold_works(answer: str, threshold: float) -> None:
    boxes = boxes_of(32, 5)
    assert keep(answer, boxes, threshold=threshold)[0] == [defined(boxes, threshold)]


def test_every_class_gets_its_own_decision(answer: str) -> None:
    classes = [boxes_of(count, count) for count in (32, 1, 31, 17, 0, 8, 32, 25, 3, 30, 12)]
    assert keep(answer, *classes, threshold=0.3)[0] == [defined(boxes, 0.3) for boxes in classes]


def test_warps_past_the_last_class_do_nothing(answer: str) -> None:
    classes = [boxes_of(20, seed) for seed in (1, 2, 3, 4, 5)]
    found, others = keep(answer, *classes, threshold=0.3)
    assert found == [defined(boxes, 0.3) for boxes in classes]
    assert others == [UNTOUCHED] * 3, "a class beyond the last one was decided"
