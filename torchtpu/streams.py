"""torch.tpu's streams and events.

A device runs programs in the order in which the process issues them, so all its streams share one queue. Streams give
the order that their users ask for, and no concurrency beyond what the device does anyway: waiting for an event, or for
another stream, costs nothing and does nothing, and synchronizing a stream waits for the whole device.
"""

import torch

from torchtpu.index import Device, existing_index


class Stream(torch.Stream):
    """A stream of `device`. Any `priority` is taken, and none makes a difference."""

    def __new__(cls, device: Device = None, priority: int = 0, **ids: int):
        if ids:  # stream_id, device_index and device_type: a stream that exists
            return super().__new__(cls, priority=priority, **ids)
        return super().__new__(cls, device=torch.device("tpu", existing_index(device)), priority=priority)

    def record_event(self, event: torch.Event | None = None) -> torch.Event:
        """Records `event`, or a new one, behind what was issued so far; returns it."""
        event = Event() if event is None else event
        event.record(self)
        return event


class _Events(type):
    """Event makes a plain torch.Event, which is all that torch.Event.elapsed_time takes: so those are its instances."""

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, torch.Event) and instance.device.type == "tpu"


class Event(torch.Event, metaclass=_Events):
    """A point behind everything that was issued to a device when it was recorded.

    `query()` tells whether all that has happened, and `synchronize()` waits for it and raises what failed meanwhile.
    `start.elapsed_time(end)` is in milliseconds, by the host's clock; both events need `enable_timing=True` (ValueError
    otherwise, as for one that was never recorded) and must have happened (RuntimeError). `blocking` is always so;
    `interprocess` is of no use, since ipc_handle() raises.
    """

    def __new__(cls, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False):
        return torch.Event("tpu", enable_timing=enable_timing, blocking=blocking, interprocess=interprocess)


def current_stream(device: Device = None) -> Stream:
    """This thread's current stream of `device`."""
    return _named(torch.accelerator.current_stream(existing_index(device)))


def default_stream(device: Device = None) -> Stream:
    """The stream of `device` that is current unless another one is made so."""
    now = torch.accelerator.current_stream(existing_index(device))
    return Stream(stream_id=0, device_index=now.device_index, device_type=now.device_type)


def set_stream(stream: torch.Stream | None) -> None:
    """Makes `stream` this thread's current one, and its device the current device; None does nothing."""
    if stream is not None:
        torch.accelerator.set_stream(stream)


class StreamContext:
    """Context manager: `stream` and its device are current inside, the previous ones afterwards; None does nothing."""

    def __init__(self, stream: torch.Stream | None):
        self.stream = stream

    def __enter__(self) -> None:
        if self.stream is not None:
            self.previous = current_stream(), current_stream(self.stream.device)
            set_stream(self.stream)

    def __exit__(self, *exception) -> None:
        if self.stream is not None:
            outside, there = self.previous
            set_stream(there)
            set_stream(outside)


def stream(stream: torch.Stream | None) -> StreamContext:
    """`with torch.tpu.stream(s):` runs its body on the stream `s`."""
    return StreamContext(stream)


def _named(stream: torch.Stream) -> Stream:
    return Stream(stream_id=stream.stream_id, device_index=stream.device_index, device_type=stream.device_type)
