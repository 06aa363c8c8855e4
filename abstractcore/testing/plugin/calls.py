"""The calls that each method of a backend must answer, and how.

Valid and bad input for backends: texts, a recording, an image, and bytes that are neither.
"""

from __future__ import annotations

import inspect
import struct
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from math import sin, tau
from typing import Any, cast

from ...errors import (
    AbstractCoreError,
    BadRequestError,
    InvalidInputError,
    MediaError,
    NotFoundError,
    RequestTimeoutError,
    UnsupportedContentError,
)
from ...schema import AudioPart, Blob, DocumentPart, ImagePart, MediaResult, TranscriptResult, VideoPart

_RATE = 16_000


@dataclass(frozen=True, slots=True)
class Inputs:
    """What backends are called with. `recording` and `image` are files of types that every backend should read."""

    text: str = "Good morning. The train leaves at nine."
    prompt: str = "a lighthouse on a cliff"
    recording: bytes = field(default_factory=lambda: wav(1.0), repr=False)
    image: bytes = field(default_factory=lambda: png(64, 64), repr=False)
    junk: bytes = field(default=b"\x00junk\xff" * 64, repr=False)


def wav(seconds: float) -> bytes:
    """Returns a recording of a tone: WAV, 16 bits, 16 kHz, one channel."""
    samples = (round(8000 * sin(tau * 440 * index / _RATE)) for index in range(int(seconds * _RATE)))
    data = b"".join(struct.pack("<h", sample) for sample in samples)
    form = struct.pack("<4sIHHIIHH", b"fmt ", 16, 1, 1, _RATE, 2 * _RATE, 2, 16)
    return b"RIFF" + struct.pack("<I", 36 + len(data)) + b"WAVE" + form + b"data" + struct.pack("<I", len(data)) + data


def png(width: int, height: int) -> bytes:
    """Returns an image of two colours: PNG, RGB."""
    row = b"\0" + b"\x20\x60\xa0" * (width // 2) + b"\xf0\xe0\x40" * (width - width // 2)
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = (b"IHDR", header), (b"IDAT", zlib.compress(row * height)), (b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in chunks
    )


DRAWN = object()
"""Stands for an image that the backend draws: it may edit none but its own."""
_NO_VOICE = "no-such-voice-0"
_REFUSALS = (InvalidInputError, UnsupportedContentError, BadRequestError, NotFoundError)
"""What bad input raises: errors of the backend, or of the vendor that refuses the request."""


@dataclass(frozen=True, slots=True)
class Case:
    """A call and what it must do: return a result without `fault`, or raise one of `errors`."""

    method: str
    what: str
    arguments: tuple[Any, ...]
    fault: Callable[[object], str | None]
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    errors: tuple[type[AbstractCoreError], ...] = ()
    leaves: bool = False

    def with_image(self, draw: Callable[[], object]) -> Case:
        """Returns the call with what `draw` returns in place of `DRAWN`."""
        if not any(each is DRAWN for each in self.arguments):
            return self
        return replace(self, arguments=tuple(draw() if each is DRAWN else each for each in self.arguments))


def cases_of(method: str, backend: object, inputs: Inputs) -> Iterator[Case]:
    """Yields the calls of a method of `backend`."""
    yield from _CASES[method](inputs, _parameters(backend, method))


def _parameters(backend: object, method: str) -> set[str]:
    found = getattr(backend, method, None)
    return set(inspect.signature(found).parameters) if callable(found) else set()


def _speech(inputs: Inputs, takes: set[str]) -> Iterator[Case]:
    yield Case("tts", "tts returns sound", (inputs.text,), _media(AudioPart))
    yield _in_no_time("tts", (inputs.text,))
    if "voice" in takes:
        yield _refusal("tts", "tts refuses an unknown voice", (inputs.text,), voice=_NO_VOICE)


def _stream_cases(inputs: Inputs, takes: set[str]) -> Iterator[Case]:
    yield Case("tts_stream", "tts_stream yields sound", (inputs.text,), _pieces)
    yield Case("tts_stream", "tts_stream is left after its first part", (inputs.text,), _pieces, leaves=True)
    yield Case("tts_stream", "tts_stream takes a text in pieces", ([inputs.text[:9], inputs.text[9:]],), _pieces)
    if "voice" in takes:
        yield _refusal("tts_stream", "tts_stream refuses an unknown voice", (inputs.text,), voice=_NO_VOICE)


def _heard(method: str) -> Callable[[Inputs, set[str]], Iterator[Case]]:
    def cases(inputs: Inputs, takes: set[str]) -> Iterator[Case]:
        yield Case(method, f"{method} returns a transcript", (inputs.recording,), _transcript)
        yield _in_no_time(method, (inputs.recording,))
        junk = AudioPart(_blob(inputs.junk, "audio/mpeg"))
        yield _refusal(method, f"{method} refuses what is not a recording", (junk,), MediaError)

    return cases


def _drawing_cases(inputs: Inputs, takes: set[str]) -> Iterator[Case]:
    yield Case("t2i", "t2i returns an image", (inputs.prompt,), _media(ImagePart))
    yield _in_no_time("t2i", (inputs.prompt,))
    if {"width", "height"} <= takes:
        yield _refusal("t2i", "t2i refuses an impossible size", (inputs.prompt,), width=-1, height=64)


def _editing_cases(inputs: Inputs, takes: set[str]) -> Iterator[Case]:
    junk = ImagePart(_blob(inputs.junk, "image/png"))
    yield Case("i2i", "i2i returns an image", (inputs.prompt, DRAWN), _media(ImagePart))
    yield _refusal("i2i", "i2i refuses what is not an image", (inputs.prompt, junk), MediaError)


def _upscaling_cases(inputs: Inputs, takes: set[str]) -> Iterator[Case]:
    junk = ImagePart(_blob(inputs.junk, "image/png"))
    yield Case("upscale_image", "upscale_image returns an image", (inputs.image,), _media(ImagePart))
    yield _refusal("upscale_image", "upscale_image refuses what is not an image", (junk,), MediaError)


def _video_cases(inputs: Inputs, takes: set[str]) -> Iterator[Case]:
    yield Case("t2v", "t2v returns a video", (inputs.prompt,), _media(VideoPart))
    yield _in_no_time("t2v", (inputs.prompt,))


def _animation_cases(inputs: Inputs, takes: set[str]) -> Iterator[Case]:
    junk = ImagePart(_blob(inputs.junk, "image/png"))
    yield Case("i2v", "i2v returns a video", (inputs.image,), _media(VideoPart))
    yield _refusal("i2v", "i2v refuses what is not an image", (junk,), MediaError)


def _music_cases(inputs: Inputs, takes: set[str]) -> Iterator[Case]:
    yield Case("t2m", "t2m returns music", (inputs.prompt,), _media(AudioPart, DocumentPart))
    yield _in_no_time("t2m", (inputs.prompt,))
    if "format" in takes:
        yield _refusal("t2m", "t2m refuses an unknown format", (inputs.prompt,), format="no-such-format")


def _listing_cases(method: str) -> Callable[[Inputs, set[str]], Iterator[Case]]:
    def cases(inputs: Inputs, takes: set[str]) -> Iterator[Case]:
        yield Case(method, f"{method} returns entries with ids", (), _entries)

    return cases


_CASES: Mapping[str, Callable[[Inputs, set[str]], Iterator[Case]]] = {
    "tts": _speech,
    "tts_stream": _stream_cases,
    "stt": _heard("stt"),
    "transcribe": _heard("transcribe"),
    "list_voices": _listing_cases("list_voices"),
    "t2i": _drawing_cases,
    "i2i": _editing_cases,
    "upscale_image": _upscaling_cases,
    "t2v": _video_cases,
    "i2v": _animation_cases,
    "list_models": _listing_cases("list_models"),
    "t2m": _music_cases,
}


def _in_no_time(method: str, arguments: tuple[Any, ...]) -> Case:
    what = f"{method} ends at the time limit"
    return Case(method, what, arguments, lambda result: None, {"timeout": 0.05}, (RequestTimeoutError,))


def _refusal(
    method: str, what: str, arguments: tuple[Any, ...], *errors: type[AbstractCoreError], **options: Any
) -> Case:
    def fault(result: object) -> str | None:
        if isinstance(result, TranscriptResult) and not result.text:
            return None  # nothing was heard
        warned = isinstance(result, MediaResult) and cast("MediaResult[Any]", result).warnings
        return None if warned else "it was accepted without an error or a warning"

    return Case(method, what, arguments, fault, options, (*_REFUSALS, *errors))


def _media(*of: type) -> Callable[[object], str | None]:
    def fault(result: object) -> str | None:
        if not isinstance(result, MediaResult):
            return f"expected a MediaResult, got {type(result).__name__}"
        part = cast("MediaResult[Any]", result).part
        if not isinstance(part, of):
            return f"expected {of[0].__name__}, got {type(part).__name__}"
        return "it has no content" if part.blob.size == 0 else None

    return fault


def _pieces(result: object) -> str | None:
    parts = cast("list[object]", result)
    return None if parts and all(isinstance(part, AudioPart) for part in parts) else "expected parts of sound"


def _transcript(result: object) -> str | None:
    return None if isinstance(result, TranscriptResult) else f"expected a transcript, got {type(result).__name__}"


def _entries(result: object) -> str | None:
    rows = cast("list[Mapping[str, object]]", result)
    wrong = next((row for row in rows if not isinstance(row.get("id"), str) or not row["id"]), None)
    return None if wrong is None else f"an entry has no id: {wrong!r:.100}"


def _blob(data: bytes, media_type: str) -> Any:
    return Blob.from_bytes(data, media_type)
