"""The numbers of blocks in a stream, and the content of each so far.

Calls of built-in tools whose arguments are streamed, as pieces of the text that the complete item has. Audio that is
streamed beside the output items: the finished response does not contain it.

The events (`response.audio.delta` and `response.audio.transcript.delta` in the types of the `openai` package 3.54) name
neither an item nor a format, and a request has no field for the format.
"""

from __future__ import annotations

import base64
import binascii
import json
from dataclasses import dataclass, field, replace
from typing import Any

from abstractcore.errors import ServerError
from abstractcore.schema import NO_OPTIONS, AudioPart, Blob, ProviderOptions, TextPart, ToolCall

from ...common.call_options import AS_RECEIVED
from ...common.reading import Object, mend
from .client_tools import COMMANDS

STREAMED = ("custom_tool_call", "shell_call")
"""Types of items whose arguments are streamed; the others are only sent complete."""


@dataclass(slots=True)
class StreamedResponsesCall:
    """A call that is being streamed."""

    block: int
    call: ToolCall
    """As it was started, with its assigned id."""
    pieces: list[str] = field(default_factory=list[str])
    _command: int = -1

    def add(self, text: str) -> str:
        """Adds a piece of a text; returns it."""
        self.pieces.append(text)
        return text

    def begin_command(self, index: int) -> str:
        """Begins a shell's next command; returns the text between the commands."""
        if index != self._command + 1:
            return ""
        self._command = index
        return self.add('", "' if index else f'{{"{COMMANDS}": ["')

    def add_to_command(self, index: int, text: str) -> str:
        """Adds to a shell's last command; returns the text as in JSON. Other commands are in the complete item only."""
        return self.add(json.dumps(text, ensure_ascii=False)[1:-1]) if index == self._command and text else ""

    def rest(self, complete: ToolCall) -> str | None:
        """Returns the missing text of the complete call; None if it differs from what was started and streamed."""
        text, named = mend("".join(self.pieces)), self.named(complete)
        if (named.name, named.provider_options) != (self.call.name, self.call.provider_options):
            return None
        return named.arguments_text[len(text) :] if named.arguments_text.startswith(text) else None

    def named(self, complete: ToolCall) -> ToolCall:
        """Returns the complete call with the id that was assigned."""
        noted = self.call.provider_options.get(AS_RECEIVED)
        options = complete.provider_options if noted is None else {**complete.provider_options, AS_RECEIVED: noted}
        return replace(complete, id=self.call.id, provider_options=options)


_ROOM = 1000
"""The largest number of blocks of an output item. Further content goes to the last one."""


@dataclass(slots=True)
class OpenItem:
    """An output item that was started, as the `number`th of its stream."""

    number: int
    blocks: dict[tuple[str, int], int] = field(default_factory=dict[tuple[str, int], int])
    """The number of each block in the item, by kind and index of its content."""
    seen: dict[int, int] = field(default_factory=dict[int, int])
    """How many characters of each block were received."""
    options: ProviderOptions = NO_OPTIONS
    """The options of its texts or its call."""
    call_id: str | None = None
    """The id of its tool call."""
    added: Object = field(default_factory=dict[str, Any])
    """The item of a hosted tool as it was when it started."""
    call: StreamedResponsesCall | None = None
    """The call of a tool that the caller runs."""

    def block(self, kind: str, index: int) -> int:
        """Returns the number of the block for content `index` of a kind; in order of arrival."""
        block = self.blocks.setdefault((kind, index), len(self.blocks))
        return self.number * _ROOM + min(block, _ROOM - 1)

    def kinds(self) -> dict[int, str]:
        """The kind of each block so far, in order."""
        return {self.block(kind, index): kind for kind, index in self.blocks}


class OpenItems:
    """The output items of one stream, in the order in which they started."""

    def __init__(self) -> None:
        self._items: dict[int, OpenItem] = {}
        self._count = 0

    def at(self, index: int) -> OpenItem:
        """Returns the item at an output index, which is started if there is none."""
        item = self._items.get(index)
        return self.begin(index) if item is None else item

    def begin(self, index: int) -> OpenItem:
        """Starts a new item at an output index."""
        item = self._items[index] = self.beside()
        return item

    def beside(self) -> OpenItem:
        """Starts content that has no output index."""
        self._count += 1
        return OpenItem(self._count - 1)


_BEGINNINGS = {b"RIFF": "audio/wav", b"ID3": "audio/mpeg", b"OggS": "audio/ogg", b"fLaC": "audio/flac"}
_SAMPLES = "audio/pcm"
"""The media type of data without a header: OpenAI streams samples of 16 bits at 24 kHz (`pcm16` in its audio guide)."""


class StreamedResponsesAudio:
    """Collects the pieces of the response's audio and of its transcript."""

    __slots__ = ("_base64", "_sound", "_transcript")

    def __init__(self) -> None:
        self._base64 = ""
        """The beginning of a group of four characters."""
        self._sound: list[bytes] = []
        self._transcript: list[str] = []

    def add_sound(self, text: str) -> None:
        """Adds a piece in base64; raises `ServerError` if it is not."""
        text = self._base64 + text
        whole = len(text) - len(text) % 4
        self._base64 = text[whole:]
        try:
            self._sound.append(base64.b64decode(text[:whole], validate=True))
        except (binascii.Error, ValueError):
            raise ServerError("the audio in the response is not base64") from None

    def add_transcript(self, text: str) -> None:
        """Adds a piece of the transcript."""
        self._transcript.append(text)

    def part(self) -> AudioPart | TextPart | None:
        """Returns the whole audio; its transcript if there is nothing else, or None."""
        sound, transcript = b"".join(self._sound), "".join(self._transcript)
        if sound:
            found = (kind for beginning, kind in _BEGINNINGS.items() if sound.startswith(beginning))
            return AudioPart(Blob.from_bytes(sound, next(found, _SAMPLES)), transcript or None)
        return TextPart(transcript) if transcript else None
