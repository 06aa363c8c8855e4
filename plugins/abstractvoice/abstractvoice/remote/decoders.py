"""Sound as vendors send it: raw samples, or events with samples in base64."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, TypeAlias, cast

from abstractcore import StreamInterruptedError, UnexpectedResponseError, Usage
from abstractcore.framing import ServerSentEventFramer

from .failures import unexpected

EventReader: TypeAlias = Callable[[Mapping[str, Any]], tuple[Sequence[str], Usage | None, bool]]
_NOT_SOUND = ("text/", "application/json", "application/xml", "application/problem")


class SoundDecoder(Protocol):
    """Decodes one response to signed 16-bit samples, little endian. `usage` is what the vendor reports at the end."""

    usage: Usage | None

    def feed(self, data: bytes) -> bytes:
        """Returns the samples that are complete; raises `ProviderError` for what is not sound."""
        ...

    def finish(self) -> None:
        """Raises `StreamInterruptedError` if the response ended before the sound did."""
        ...


class RawSound:
    """Samples as they are. `content_type` is that of the response."""

    def __init__(self, content_type: str) -> None:
        self.usage: Usage | None = None
        self._content_type = content_type
        self._rest = b""
        self._any = False

    def feed(self, data: bytes) -> bytes:
        """Returns whole samples."""
        if not self._any and self._content_type.startswith(_NOT_SOUND):
            raise unexpected(self._content_type, data)
        self._any = True
        data = self._rest + data
        whole = len(data) - len(data) % 2
        self._rest = data[whole:]
        return data[:whole]

    def finish(self) -> None:
        """Raises `StreamInterruptedError` for a response without sound, or with half a sample at its end."""
        if self._rest or not self._any:
            raise StreamInterruptedError("the sound ended before it was complete")


class SoundEvents:
    """Server-sent events. `read` returns what one has: samples in base64, the usage, and whether it is the last."""

    def __init__(self, content_type: str, read: EventReader) -> None:
        self.usage: Usage | None = None
        self._content_type = content_type
        self._read = read
        self._framer = ServerSentEventFramer()
        self._ended = False
        self._any = False

    def feed(self, data: bytes) -> bytes:
        """Returns the samples of complete events."""
        if not self._any and not self._content_type.startswith("text/event-stream"):
            raise unexpected(self._content_type, data)
        self._any = True
        samples = b""
        for event in self._framer.feed(data):
            if event.data.strip() == b"[DONE]":
                self._ended = True
                continue
            encoded, usage, ended = self._read(message_fields(event.data))
            self.usage = usage or self.usage
            self._ended = self._ended or ended
            samples += b"".join(map(decoded_sound, encoded))
        return samples

    def finish(self) -> None:
        """Raises `StreamInterruptedError` unless the last event arrived."""
        if not self._ended:
            raise StreamInterruptedError("the events ended before the sound was complete")


def decoded_sound(encoded: str) -> bytes:
    """Returns samples in base64; raises `UnexpectedResponseError` for anything else."""
    try:
        return base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError):
        raise UnexpectedResponseError("the sound of an event is not base64") from None


def message_fields(data: bytes) -> Mapping[str, Any]:
    """Returns the object of an event or a message; raises `UnexpectedResponseError` for anything else."""
    try:
        found: Any = json.loads(data)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise UnexpectedResponseError(f"an event is not a JSON object: {data[:80].decode(errors='replace')}")
    return cast("dict[str, Any]", found)
