"""Streams and events: one queue a device, and points in it."""

import gc
import threading
import time

import pytest
import torch

from tests.device import ON_TPU

pytestmark = pytest.mark.skipif(not ON_TPU, reason="there is no torch.tpu on another device")


@pytest.fixture
def matrix(device) -> torch.Tensor:
    """A matrix whose square takes long enough to be caught at it, on an idle device."""
    x = torch.full((2000, 2000), 1e-3, device=device)
    x @ x
    torch.tpu.synchronize()
    return x


@pytest.fixture(params=("torch", "torch.tpu"))
def make(request) -> tuple:
    """Stream and Event, by either name."""
    if request.param == "torch.tpu":
        return torch.tpu.Stream, torch.tpu.Event
    return (
        lambda device="tpu", **more: torch.Stream(device, **more),
        lambda enable_timing=False: torch.Event("tpu", enable_timing=enable_timing),
    )


def test_an_event_tells_whether_the_work_before_it_is_done(matrix, make) -> None:
    event = make[1]()
    assert event.query()
    event.synchronize()  # never recorded: nothing to wait for
    result = matrix @ matrix
    event.record()
    assert not event.query() and not torch.tpu.current_stream().query()
    event.synchronize()
    assert event.query() and result[0, 0].item() == pytest.approx(2e-3)


@pytest.mark.parametrize("wait", ("event", "device", "stream", "accelerator"))
def test_work_whose_result_was_dropped_is_work(matrix, wait) -> None:
    event = torch.tpu.Event()
    matrix @ matrix
    (matrix @ matrix).sum()
    event.record()
    assert not event.query()
    {
        "event": event.synchronize,
        "device": torch.tpu.synchronize,
        "stream": torch.tpu.current_stream().synchronize,
        "accelerator": torch.accelerator.synchronize,
    }[wait]()
    assert event.query() and torch.tpu.current_stream().query()


def test_a_call_that_still_compiles_is_work(device) -> None:
    event = torch.tpu.Event()
    x = torch.full((31, 7), 0.5, device=device).atanh().erfinv()
    event.record()
    event.synchronize()
    start = time.perf_counter()
    x.cpu()
    assert event.query() and time.perf_counter() - start < 0.02  # no compile was waited for


def test_elapsed_time_is_in_milliseconds(matrix, make) -> None:
    start, middle, end = (make[1](enable_timing=True) for _ in range(3))
    before = time.perf_counter()
    start.record()
    for _ in range(3):
        matrix @ matrix
    middle.record()
    middle.synchronize()
    took = (time.perf_counter() - before) * 1000
    end.record()
    end.synchronize()
    assert 0.5 * took < start.elapsed_time(middle) <= took
    assert middle.elapsed_time(start) == -start.elapsed_time(middle)
    assert start.elapsed_time(end) >= start.elapsed_time(middle)
    assert 0 <= middle.elapsed_time(end) < start.elapsed_time(middle)


def test_misuse_of_events(matrix, make) -> None:
    """The words that CUDA's users know."""
    plain, timed, recorded = make[1](), make[1](enable_timing=True), make[1](enable_timing=True)
    plain.record(), recorded.record()
    with pytest.raises(ValueError, match="Both events must be created with argument 'enable_timing=True'"):
        recorded.elapsed_time(plain)
    with pytest.raises(ValueError, match="Both events must be recorded before calculating elapsed time"):
        recorded.elapsed_time(timed)
    matrix @ matrix
    timed.record()
    with pytest.raises(RuntimeError, match="Both events must be completed before calculating elapsed time"):
        recorded.elapsed_time(timed)
    with pytest.raises(NotImplementedError, match="ipc"):
        plain.ipc_handle()


def test_an_event_can_be_recorded_again(matrix) -> None:
    start, end = torch.tpu.Event(enable_timing=True), torch.tpu.Event(enable_timing=True)
    start.record(), end.record()
    assert start.elapsed_time(end) < 1000
    matrix @ matrix
    end.record()
    assert not end.query()
    end.synchronize()
    first = start.elapsed_time(end)
    start.record()
    assert start.elapsed_time(end) <= 0 < first


def test_an_event_holds_no_memory_and_does_not_stand_in_the_way_of_a_donation(matrix) -> None:
    gc.collect()
    torch.tpu.synchronize()
    before = torch.tpu.memory_allocated()
    x = matrix @ matrix
    event = torch.tpu.Event()
    event.record()
    torch.tpu.reset_peak_memory_stats()
    x.add_(1)
    assert torch.tpu.max_memory_allocated() - before == x.nbytes
    del x
    assert torch.tpu.memory_allocated() == before


def test_waiting_does_not_block_the_host(matrix, make) -> None:
    stream, event = make[0](), make[1]()
    result = matrix @ matrix
    event.record()
    event.wait(stream), event.wait(), stream.wait_event(event), stream.wait_stream(torch.tpu.current_stream())
    assert not event.query()
    with stream:
        assert (result + 1)[0, 0].item() == pytest.approx(1 + 2e-3)
    event.synchronize()
    assert event.query()


def test_streams_differ_and_are_of_their_device(make, device) -> None:
    first, second, urgent = make[0](), make[0](), make[0](priority=-1)
    assert len({first, second, urgent, torch.tpu.default_stream()}) == 4
    assert first.device == torch.device(device, 0) and first.query()
    same = torch.tpu.Stream(
        stream_id=first.stream_id, device_index=first.device_index, device_type=first.device_type
    )
    assert same == first and hash(same) == hash(first) and same != second
    assert isinstance(same, torch.Stream) and torch.tpu.Stream(-1).device == first.device
    event = first.record_event()
    assert isinstance(event, torch.tpu.Event) and event.device == first.device and first.record_event(event) is event
    assert not isinstance(torch.Event, torch.tpu.Event) and not isinstance(first, torch.tpu.Event)


def test_current_stream(make) -> None:
    default = torch.tpu.default_stream()
    assert torch.tpu.current_stream() == torch.accelerator.current_stream() == default and default.stream_id == 0
    stream, other = make[0](), make[0]()
    with torch.tpu.stream(stream) as nothing:
        assert nothing is None and torch.tpu.current_stream() == stream == torch.accelerator.current_stream()
        with pytest.raises(KeyError), torch.tpu.stream(other):
            assert torch.tpu.current_stream("tpu") == other
            raise KeyError
        with torch.tpu.stream(None), stream, other:
            assert torch.tpu.current_stream(0) == other
        assert torch.tpu.current_stream() == stream
    assert torch.tpu.current_stream() == default
    torch.tpu.set_stream(stream)
    torch.tpu.set_stream(None)
    assert torch.tpu.current_stream() == stream
    torch.accelerator.set_stream(default)
    assert torch.tpu.current_stream() == default


def test_the_current_stream_is_of_the_thread() -> None:
    seen = []
    with torch.tpu.stream(torch.tpu.Stream()):
        thread = threading.Thread(target=lambda: seen.append(torch.tpu.current_stream()))
        thread.start(), thread.join()
    assert seen == [torch.tpu.default_stream()]


def test_what_one_stream_writes_another_reads(device) -> None:
    """The order is the process's: even without an event there is no race."""
    x = torch.zeros(1000, device=device)
    streams = [torch.tpu.Stream() for _ in range(4)]
    for step in range(20):
        with torch.tpu.stream(streams[step % 4]):
            x.add_(1)
            x.record_stream(streams[step % 4])
    assert x.cpu().eq(20).all()


def test_record_stream(device) -> None:
    torch.ones(2, device=device)[1:].record_stream(torch.tpu.current_stream())
    with pytest.raises(NotImplementedError, match="record_stream"):
        torch.ones(2).record_stream(torch.tpu.current_stream())


def test_events_of_many_threads(matrix) -> None:
    def work() -> None:
        for _ in range(3):
            event = torch.tpu.Event(enable_timing=True)
            result = matrix + 1
            event.record()
            event.synchronize()
            assert event.query() and result[0, 0].item() == pytest.approx(1.001)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
        assert not thread.is_alive()
    assert torch.tpu.current_stream().query()
