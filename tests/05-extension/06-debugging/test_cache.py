"""Self-check of 05-extension/06-debugging: when does the learner's allocator hand out freed memory again?"""

import random

import pytest


class Streams:
    """Streams in which work is launched and finished by hand. Stands for the GPU."""

    def __init__(self):
        self.launched, self.finished, self.blocks, self.events = {}, {}, 0, 0

    def new_block(self, size):
        self.blocks += 1
        assert size % 512 == 0, f"the driver was asked for {size} bytes"
        return self.blocks << 20

    def launch(self, stream):
        self.launched[stream] = self.launched.get(stream, 0) + 1

    def finish(self, stream):
        self.finished[stream] = self.launched.get(stream, 0)

    def record(self, stream):
        self.events += 1
        until = self.launched.get(stream, 0)
        return Event(lambda: self.finished.get(stream, 0) >= until)


class Event:
    def __init__(self, done):
        self.done = done


@pytest.fixture
def streams():
    return Streams()


@pytest.fixture
def cache(answer, streams):
    return answer.Cache(streams.new_block, streams.record)


def test_a_freed_piece_is_reused_on_its_stream(cache, streams):
    first = cache.allocate(1024, 0)
    streams.launch(0)
    cache.free(first)
    assert cache.allocate(1024, 0) == first and streams.blocks == 1


def test_a_piece_in_use_is_not_handed_out(cache):
    assert len({cache.allocate(1024, 0) for _ in range(10)}) == 10


def test_a_freed_piece_is_not_reused_on_another_stream(cache, streams):
    first = cache.allocate(1024, 0)
    streams.launch(0)
    cache.free(first)
    assert cache.allocate(1024, 1) != first


def test_a_freed_piece_is_not_reused_for_another_size(cache):
    first = cache.allocate(1024, 0)
    cache.free(first)
    assert cache.allocate(2048, 0) != first and cache.allocate(512, 0) != first


def test_sizes_are_rounded_up_to_512(cache, streams):
    first = cache.allocate(1, 0)
    cache.free(first)
    assert cache.allocate(512, 0) == first
    assert cache.allocate(513, 0) != first


def test_a_recorded_stream_delays_the_reuse_until_its_work_is_done(cache, streams):
    first = cache.allocate(1024, 0)
    streams.launch(1)
    cache.record_stream(first, 1)
    cache.free(first)
    assert cache.allocate(1024, 0) != first
    streams.finish(1)
    assert cache.allocate(1024, 0) == first


def test_the_piece_waits_for_all_recorded_streams(cache, streams):
    first = cache.allocate(1024, 0)
    for stream in 1, 2:
        streams.launch(stream)
        cache.record_stream(first, stream)
    cache.free(first)
    streams.finish(1)
    assert cache.allocate(1024, 0) != first
    streams.finish(2)
    assert cache.allocate(1024, 0) == first


def test_work_launched_between_record_stream_and_free_delays_the_reuse(cache, streams):
    first = cache.allocate(1024, 0)
    cache.record_stream(first, 1)
    streams.launch(1)
    cache.free(first)
    assert cache.allocate(1024, 0) != first


def test_work_launched_after_the_free_does_not_delay_the_reuse(cache, streams):
    first = cache.allocate(1024, 0)
    streams.launch(1)
    cache.record_stream(first, 1)
    cache.free(first)
    streams.finish(1)
    streams.launch(1)
    assert cache.allocate(1024, 0) == first


def test_the_stream_of_the_piece_needs_no_event(cache, streams):
    first = cache.allocate(1024, 0)
    streams.launch(0)
    cache.record_stream(first, 0)
    cache.free(first)
    assert cache.allocate(1024, 0) == first and streams.events == 0


def test_a_reused_piece_starts_without_recorded_streams(cache, streams):
    first = cache.allocate(1024, 0)
    cache.record_stream(first, 1)
    cache.free(first)
    assert cache.allocate(1024, 0) == first
    streams.launch(1)
    cache.free(first)
    assert cache.allocate(1024, 0) == first


def test_no_two_streams_ever_use_a_piece_at_once(answer):
    """Random programs: a piece is handed out only if every stream that used it before has finished, except the stream that gets it."""
    for seed in range(200):
        chance, streams = random.Random(seed), Streams()
        cache, live, users = answer.Cache(streams.new_block, streams.record), {}, {}
        for _ in range(100):
            stream = chance.randrange(3)
            action = chance.randrange(4)
            if action == 0:
                size = chance.choice([100, 512, 600])
                address = cache.allocate(size, stream)
                assert address not in live
                pending = {user for user, until in users.get(address, {}).items() if streams.finished.get(user, 0) < until}
                assert pending <= {stream}, f"seed {seed}: stream {stream} gets memory that streams {sorted(pending)} still use"
                streams.launch(stream)
                live[address], users[address] = stream, {stream: streams.launched[stream]}
            elif action == 1 and live:
                address = chance.choice(sorted(live))
                cache.record_stream(address, stream)
                streams.launch(stream)
                users[address][stream] = streams.launched[stream]
            elif action == 2 and live:
                address = chance.choice(sorted(live))
                cache.free(address)
                del live[address]
            else:
                streams.finish(stream)
