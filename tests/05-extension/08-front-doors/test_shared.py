# Judges Shared: as a consumer, with the lesson's structs, with cuda.core, and on a GPU with PyTorch.
import ctypes
import gc
import threading
import time
from ctypes import c_size_t, c_void_p

import pytest
import torch
from cuda.core.utils import StridedMemoryView

import toolkit  # noqa: F401
from common import dlpack
from common.driver import cu
from conftest import COUNT

NOT_READY = 600  # CUDA_ERROR_NOT_READY
LEGACY = c_void_p(1)


def is_busy(stream):
    return cu.handle.cuStreamQuery(stream) == NOT_READY


def drop(taken):
    """What a consumer does at the end."""
    taken.deleter(ctypes.addressof(taken))


def read_in(stream, producer):
    """The numbers as work in this stream finds them. Also opens the gate, a moment after that work was queued."""
    found = (ctypes.c_uint32 * COUNT)()
    threading.Timer(0.2, producer.gate.set).start()
    cu.cuMemcpyDtoHAsync_v2(found, producer.address, c_size_t(4 * COUNT), stream)
    cu.cuStreamSynchronize(stream)
    return list(found)


def test_a_consumer_that_knows_version_1_gets_a_versioned_capsule(shared, producer):
    for version in (1, 0), (1, 3), (2, 0):
        capsule = shared.__dlpack__(stream=-1, max_version=version)
        inside = dlpack.look_into(capsule)
        assert isinstance(inside, dlpack.Versioned) and inside.major == 1, f"max_version={version}: the capsule is called {inside.NAME.decode()}"
        assert inside.tensor.data == producer.address.value and list(inside.tensor.shape[:2]) == [2, 3]


def test_an_older_consumer_gets_an_unversioned_capsule(shared):
    for version in ({}, {"max_version": None}, {"max_version": (0, 8)}):
        capsule = shared.__dlpack__(stream=-1, **version)
        inside = dlpack.look_into(capsule)
        assert isinstance(inside, dlpack.Unversioned), f"{version}: the capsule is called {inside.NAME.decode()}"


def test_the_call_does_not_wait_for_the_gpu(shared, producer):
    producer.write_sevens()
    threading.Timer(2, producer.gate.set).start()
    begun = time.monotonic()
    shared.__dlpack__(stream=producer.consumers.value, max_version=(1, 0))
    assert time.monotonic() - begun < 1 and not producer.gate.is_set(), "the call came back only after the work in the producer's stream"


def test_the_consumers_stream_waits_for_the_producers(shared, producer):
    producer.write_sevens()
    capsule = shared.__dlpack__(stream=producer.consumers.value, max_version=(1, 0))
    assert read_in(producer.consumers, producer) == [7] * COUNT, "the consumer's stream read the memory before it was written"
    del capsule


def test_without_a_stream_the_legacy_default_stream_waits(shared, producer):
    producer.write_sevens()
    capsules = [shared.__dlpack__()]
    assert is_busy(LEGACY), "the legacy default stream does not wait"
    assert read_in(LEGACY, producer) == [7] * COUNT
    producer.gate.clear()
    producer.write_sevens()
    capsules.append(shared.__dlpack__(stream=1))
    assert is_busy(LEGACY), "stream=1: the legacy default stream does not wait"


def test_with_stream_minus_1_no_stream_waits(shared, producer):
    producer.write_sevens()
    capsule = shared.__dlpack__(stream=-1, max_version=(1, 0))
    assert not is_busy(LEGACY) and not is_busy(c_void_p(2)) and not is_busy(producer.consumers)
    del capsule


def test_stream_0_is_rejected(shared):
    with pytest.raises(ValueError):
        shared.__dlpack__(stream=0, max_version=(1, 0))


def test_a_copy_and_another_device_are_rejected(shared):
    for asked in ({"copy": True}, {"dl_device": (1, 0)}, {"dl_device": (dlpack.CUDA, 1)}):
        with pytest.raises(BufferError):
            shared.__dlpack__(stream=-1, max_version=(1, 0), **asked)
    assert shared.__dlpack__(stream=-1, copy=False, dl_device=(dlpack.CUDA, 0))


def test_the_memory_is_freed_once_and_after_its_last_user(answer, producer):
    shared = answer.Shared(producer.address.value, (2, 3), producer.stream, producer.free)
    first, second = (dlpack.take(shared.__dlpack__(stream=-1, max_version=version)) for version in (None, (1, 0)))
    unused = shared.__dlpack__(stream=-1)
    del shared
    for user, release in (("a consumer", lambda: drop(first)), ("a second consumer", lambda: drop(second))):
        gc.collect()
        assert producer.freed == 0, f"the memory was freed while {user} still used it"
        release()
    gc.collect()
    assert producer.freed == 0, "the memory was freed while a capsule that no consumer had taken still existed"
    del unused
    gc.collect()
    assert producer.freed == 1


def test_cuda_core_uses_the_memory(answer, producer):
    shared = answer.Shared(producer.address.value, (2, 3), producer.stream, producer.free)
    producer.write_sevens()
    view = StridedMemoryView.from_dlpack(shared, stream_ptr=producer.consumers.value)
    assert (view.ptr, tuple(view.shape), str(view.dtype), view.readonly) == (producer.address.value, (2, 3), "float32", False)
    assert read_in(producer.consumers, producer) == [7] * COUNT


if torch.cuda.is_available():

    def test_pytorch_uses_the_memory(answer, producer):
        tensor = torch.from_dlpack(answer.Shared(producer.address.value, (2, 3), producer.stream, producer.free))
        assert tensor.data_ptr() == producer.address.value and tensor.shape == (2, 3)
        del tensor
        gc.collect()
        assert producer.freed == 1
