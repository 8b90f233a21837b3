# Memory that is offered through DLPack: who frees it, who waits for whom, and what is refused.
import ctypes
import threading
from ctypes import byref, c_float, c_uint, c_void_p

import pytest
import torch

import dlpack
from common.dlpack import exported
from common.driver import cu, current, primary

VERSION = (1, 1)


@pytest.fixture
def memory():
    """Makes a Memory on the host. `freed` lists what was freed."""
    numbers, freed = (c_float * 6)(*range(6)), []

    def made(**options):
        made.memory = dlpack.Memory(ctypes.addressof(numbers), 6, "cpu", lambda: freed.append(numbers), **options)
        return made.memory

    made.freed = freed
    return made


def test_all_tensors_of_one_memory_share_it_and_the_last_frees_it(memory):
    owner = memory()
    first, second = torch.from_dlpack(owner), torch.from_dlpack(owner)
    del memory.memory
    first[0] = 7
    assert second.tolist() == [7, 1, 2, 3, 4, 5]
    del first, owner
    assert not memory.freed
    del second
    assert len(memory.freed) == 1 and not exported


def test_a_capsule_that_is_never_used_frees_the_memory_too(memory):
    capsule = memory().__dlpack__(max_version=VERSION)
    del memory.memory
    assert not memory.freed
    del capsule
    assert len(memory.freed) == 1 and not exported


def test_a_consumer_of_the_older_struct_and_one_that_wants_a_copy_are_refused(memory):
    owner = memory()
    for wanted in {}, {"max_version": (0, 8)}, {"max_version": VERSION, "copy": True}, {"max_version": VERSION, "dl_device": (dlpack.CUDA, 0)}:
        with pytest.raises(BufferError):
            owner.__dlpack__(**wanted)
    assert not exported


def test_numpy_makes_a_read_only_array_of_read_only_memory(memory):
    numpy = pytest.importorskip("numpy", minversion="2.1")
    assert numpy.from_dlpack(memory()).flags.writeable
    assert not numpy.from_dlpack(memory(read_only=True)).flags.writeable


def test_the_consumers_stream_waits_for_the_producers_unless_it_declines():
    released, callback = threading.Event(), ctypes.CFUNCTYPE(None, c_void_p)
    blocked = callback(lambda _: released.wait(60))
    producer, waits, declines, address = c_void_p(), c_void_p(), c_void_p(), c_void_p()
    with current(primary(0)):
        for stream in (producer, waits, declines):
            cu.cuStreamCreate(byref(stream), c_uint(1))
        cu.cuMemAlloc_v2(byref(address), ctypes.c_size_t(24))
        cu.cuLaunchHostFunc(producer, blocked, None)
        owner = dlpack.Memory(address.value, 6, "cuda", lambda: None, stream=producer.value)
        capsules = [owner.__dlpack__(stream=waits.value, max_version=VERSION), owner.__dlpack__(stream=-1, max_version=VERSION)]
        try:
            with pytest.raises(RuntimeError, match="CUDA_ERROR_NOT_READY"):
                cu.cuStreamQuery(waits)
            cu.cuStreamQuery(declines)
        finally:
            released.set()
        cu.cuStreamSynchronize(waits)
        del capsules
        cu.cuMemFree_v2(address)
    assert not exported
