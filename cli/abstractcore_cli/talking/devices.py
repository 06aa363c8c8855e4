"""`Microphone` and `Loudspeaker`: by PortAudio, with the optional package sounddevice.

`SpeechEnds`: where an utterance begins and ends in sound that arrives in blocks, by its loudness.
"""

from __future__ import annotations

import array
import importlib
import math
import queue
import re
import sys
from collections import deque
from contextlib import suppress
from typing import Any

import abstractcore
from abstractcore.capabilities import as_wav
from abstractcore.schema import install_hint

RATE = 16_000
"""Samples a second, of 16 bits, little endian."""
BLOCK = 480
"""Samples of a block: 30 ms."""
_BLOCKS_A_SECOND = RATE / BLOCK
_QUIETEST = 150.0
"""A level below which nothing counts as speech: -47 dB."""
_LOUDER = 3.0
"""How much louder than the noise speech is."""
_BEGINS, _OF = 4, 6
"""Speech begins with so many loud blocks of the latest ones."""
_BEFORE = 10
"""Blocks before the beginning that belong to the utterance: quiet consonants."""
_LONGEST = round(60 * _BLOCKS_A_SECOND)


class SpeechEnds:
    """Finds utterances: each ends after `pause` seconds of silence, or after a minute. It learns the level of noise."""

    def __init__(self, pause: float = 0.8) -> None:
        self._pause = max(1, round(pause * _BLOCKS_A_SECOND))
        self._noise: float | None = None
        self._recent: deque[bool] = deque(maxlen=_OF)
        self._before: deque[bytes] = deque(maxlen=_BEFORE)
        self._said: list[bytes] = []
        self._silent = 0

    @property
    def speaks(self) -> bool:
        """Whether an utterance has begun."""
        return bool(self._said)

    def feed(self, block: bytes) -> bytes | None:
        """Returns the samples of the utterance that ends with this block."""
        level = _level(block)
        loud = level > max(_QUIETEST, _LOUDER * (level if self._noise is None else self._noise))
        self._recent.append(loud)
        if not self._said:
            self._learn(level)
            self._before.append(block)
            if sum(self._recent) >= _BEGINS:
                self._said, self._silent = [*self._before], 0
            return None
        self._said.append(block)
        self._silent = 0 if loud else self._silent + 1
        if self._silent < self._pause and len(self._said) < _LONGEST:
            return None
        return self.finish()

    def finish(self) -> bytes | None:
        """Returns the sound since the utterance began; None without one."""
        said, self._said = b"".join(self._said), []
        self._recent.clear()
        self._before.clear()
        return said or None

    def _learn(self, level: float) -> None:
        """The level of noise follows quieter blocks soon, and louder ones slowly: they may be speech."""
        if self._noise is None:
            self._noise = level
        else:
            self._noise += (0.3 if level < self._noise else 0.02) * (level - self._noise)


def _level(block: bytes) -> float:
    """Returns the root mean square of samples."""
    samples = array.array("h", block[: len(block) // 2 * 2])
    if sys.byteorder == "big":
        samples.byteswap()
    return math.sqrt(sum(value * value for value in samples) / len(samples)) if samples else 0.0


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

    def __exit__(self, *exception: object) -> None:
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
        stream = self._open(int(found[1]))
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

    def _open(self, rate: int) -> Any:
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

    def __exit__(self, *exception: object) -> None:
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
