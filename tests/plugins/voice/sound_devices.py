"""The library sounddevice without devices: a microphone that plays a script, and a loudspeaker that keeps what it gets.

Its interface is that of sounddevice 0.5.6: https://python-sounddevice.readthedocs.io/en/0.5.5/api/raw-streams.html.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

from abstractcore_cli.talking.devices import BLOCK, RATE
from tests.leftovers import wait_until

LISTENING = "listening"
"""A step that ends when the program has answered and listens again: it takes what is recorded then."""
Step = bytes | str | Callable[[], object]
"""Samples to be recorded, a function that is called when they were, or `LISTENING`."""


class PortAudioError(Exception):
    """As in sounddevice."""


class FakeSoundDevice:
    """Stands for the module. `heard` is what was played."""

    PortAudioError = PortAudioError

    def __init__(self, script: Sequence[Step] = (), *, is_there: bool = True) -> None:
        self.script = script
        self.heard = bytearray()
        self.rate = 0
        self.aborted = 0
        self.stopped = threading.Event()
        self.written = threading.Condition()
        self._is_there = is_there

    def RawInputStream(self, **options: Any) -> FakeInput:  # noqa: N802
        self.check(options)
        assert (options["samplerate"], options["blocksize"]) == (RATE, BLOCK)
        return FakeInput(self, options["callback"])

    def RawOutputStream(self, **options: Any) -> FakeOutput:  # noqa: N802
        self.check(options)
        self.rate = options["samplerate"]
        return FakeOutput(self)

    def check(self, options: dict[str, Any]) -> None:
        assert (options["channels"], options["dtype"]) == (1, "int16")
        if not self._is_there:
            raise PortAudioError("Error querying device -1")

    def wait_until_heard(self, seconds: float) -> None:
        """Returns once so much has been written."""
        with self.written:
            assert self.written.wait_for(lambda: self.rate and len(self.heard) >= 2 * self.rate * seconds, 60)


class FakeInput:
    """A stream of the microphone: sound of the script waits until it records."""

    def __init__(self, device: FakeSoundDevice, callback: Any) -> None:
        self._device = device
        self._callback: Callable[..., object] = callback
        self._taken: Callable[[], bool] = callback.__self__._blocks.empty
        self._recording = threading.Event()
        self._thread: threading.Thread | None = None

    @property
    def active(self) -> bool:
        return self._recording.is_set()

    def start(self) -> None:
        assert not self.active
        self._recording.set()
        if self._thread is None:
            self._thread = threading.Thread(target=self._record, daemon=True)
            self._thread.start()

    def stop(self) -> None:
        self._recording.clear()

    def abort(self) -> None:
        self._recording.clear()

    def close(self) -> None: ...

    def _record(self) -> None:
        for step in self._device.script:
            if callable(step):
                step()
            elif isinstance(step, str):
                assert self._device.stopped.wait(60)
                self._play(bytes(2 * BLOCK))
                assert wait_until(self._taken)
            else:
                self._play(step)

    def _play(self, samples: bytes) -> None:
        self._recording.wait(60)
        for start in range(0, len(samples), 2 * BLOCK):
            self._callback(memoryview(samples[start : start + 2 * BLOCK]), BLOCK, None, None)


class FakeOutput:
    """A stream of the loudspeaker, with 0.1 s of buffer."""

    latency = 0.1

    def __init__(self, device: FakeSoundDevice) -> None:
        self._device = device
        self.active = False

    def start(self) -> None:
        assert not self.active
        self.active = True

    def write(self, data: bytes) -> bool:
        assert self.active
        with self._device.written:
            self._device.heard += data
            self._device.written.notify_all()
        return False

    def stop(self) -> None:
        self.active = False
        self._device.stopped.set()

    def abort(self) -> None:
        self.active = False
        self._device.aborted += 1

    def close(self) -> None:
        self.active = False
