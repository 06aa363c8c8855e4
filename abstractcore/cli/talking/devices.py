"""`Microphone` and `Loudspeaker`: by PortAudio, with the optional package sounddevice."""

from __future__ import annotations

import importlib
import queue
import re
from contextlib import suppress
from types import TracebackType
from typing import Any

import abstractcore

from ...capabilities.speech_streams import as_wav
from ...schema.base_error import install_hint
from .speech_ends import BLOCK, RATE, SpeechEnds

_PCM = re.compile(r"audio/pcm;rate=(\d+);channels=1")
_SAMPLE_BYTES = 2
_CHUNK_SECONDS = 0.05
_POLL_SECONDS = 0.2
_FILES = "Without sound devices use files: --input FILE --output FILE.wav."


class Microphone:
    """Records utterances. It records while it is listened to; if speech `interrupts`, from then on also while the
    loudspeaker plays.
    """

    def __init__(self, device: str | None, *, interrupts: bool) -> None:
        self._blocks: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._ends = SpeechEnds()
        self._interrupts = interrupts
        library = _library()
        try:
            self._stream: Any = library.RawInputStream(
                samplerate=RATE, blocksize=BLOCK, channels=1, dtype="int16", device=device, callback=self._record
            )
        except (library.PortAudioError, ValueError) as error:
            raise _no_device("microphone", error) from None

    def next(self) -> bytes | None:
        """Returns the next utterance as a WAV file; waits for it."""
        if not self._stream.active:
            self._stream.start()
        said: bytes | None = None
        while said is None:
            with suppress(queue.Empty):  # Python notices Ctrl-C between two waits
                said = self._ends.feed(self._blocks.get(timeout=_POLL_SECONDS))
        if not self._interrupts:
            self._stream.stop()
            while not self._blocks.empty():
                self._blocks.get()
        return as_wav(said, RATE, 1)

    def hears_speech(self) -> bool:
        """Whether the user has begun to speak, if that interrupts."""
        while self._interrupts and not self._blocks.empty() and not self._ends.speaks:
            self._ends.feed(self._blocks.get())
        return self._interrupts and self._ends.speaks

    def close(self) -> None:
        """Ends the recording."""
        self._stream.abort()
        self._stream.close()

    def _record(self, data: Any, frames: int, time: object, status: object) -> None:
        self._blocks.put(bytes(data))

    def __enter__(self) -> Microphone:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


class Loudspeaker:
    """Plays speech in PCM. `played` are the seconds of the current reply that were heard."""

    def __init__(self, device: str | None) -> None:
        self._device = device
        self._stream: Any = None
        self._rate = 0
        self._written = 0
        _library()

    @property
    def played(self) -> float:
        """The seconds that were heard: what was written without what waits in buffers."""
        if self._stream is None:
            return 0.0
        return max(0.0, self._written / self._rate - float(self._stream.latency))

    def begin(self) -> None:
        """A reply begins."""
        self._written = 0

    def play(self, part: abstractcore.AudioPart, stops: Any) -> bool:
        """Plays a part; ends and returns False when `stops()` holds."""
        found = _PCM.fullmatch(part.blob.media_type)
        if found is None:
            hint = "Leave out --option format=..."
            raise abstractcore.InvalidInputError(f"{part.blob.media_type} cannot be played.", hint=hint)
        stream = self._opened(int(found[1]))
        samples = part.blob.read()
        step = round(_CHUNK_SECONDS * self._rate) * _SAMPLE_BYTES
        for start in range(0, len(samples), step):
            if stops():
                stream.abort()
                return False
            chunk = samples[start : start + step]
            stream.write(chunk)
            self._written += len(chunk) // _SAMPLE_BYTES
        return True

    def finish(self) -> None:
        """Waits until all is played."""
        if self._stream is not None and self._stream.active:
            self._stream.stop()

    def stop(self) -> None:
        """Falls silent at once."""
        if self._stream is not None:
            self._stream.abort()

    def close(self) -> None:
        """Releases the device."""
        if self._stream is not None:
            self._stream.close()

    def _opened(self, rate: int) -> Any:
        library = _library()
        try:
            if self._stream is not None and rate != self._rate:
                self.close()
                self._stream = None
            if self._stream is None:
                self._rate = rate
                self._stream = library.RawOutputStream(samplerate=rate, channels=1, dtype="int16", device=self._device)
            if not self._stream.active:
                self._stream.start()
        except (library.PortAudioError, ValueError) as error:
            raise _no_device("loudspeaker", error) from None
        return self._stream

    def __enter__(self) -> Loudspeaker:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


def _library() -> Any:
    """Returns sounddevice; raises `MissingExtraError` without it, or without PortAudio."""
    try:
        return importlib.import_module("sounddevice")
    except ImportError:
        message = "A microphone and a loudspeaker need the package sounddevice."
        hint = f"{install_hint('sounddevice', extra='talk')} {_FILES}"
    except OSError:  # on Linux its wheel does not hold PortAudio
        message = "sounddevice needs the library PortAudio."
        hint = f"Install it with: apt install libportaudio2. {_FILES}"
    raise abstractcore.MissingExtraError(message, hint=hint)


def _no_device(what: str, error: Exception) -> abstractcore.ConfigurationError:
    return abstractcore.ConfigurationError(f"no {what} can be opened: {error}.", hint=_FILES)
