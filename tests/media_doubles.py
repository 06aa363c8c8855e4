"""Media handlers that know their files by a few first bytes: enough for the kernel, which knows no kind of file."""

from __future__ import annotations

from dataclasses import dataclass, field

from abstractcore import CallWarning, MediaError, MediaKind, Usage
from abstractcore.ports import Conversion, Fallback, MediaHandler, Recognised
from abstractcore.registry import Registry
from abstractcore_providers.plugin import register_catalogues, register_providers

PICTURE = b"PICTURE" + bytes(20)
SOUND = b"SOUND" + bytes(20)
TEXT = b"TEXT of a file"
TRANSCRIPT = Fallback("transcript", frozenset({"text"}))


@dataclass
class Handler:
    """Files that begin with `magic`; those that hold BROKEN cannot be read."""

    name: str
    kind: MediaKind
    magic: bytes
    media_type: str
    fallbacks: tuple[Fallback, ...] = ()
    checked: list = field(default_factory=list)

    def recognise(self, head: bytes, name: str, declared: str | None) -> Recognised | None:
        ours = head.startswith(self.magic) if declared is None else declared == self.media_type
        return Recognised(self.kind, self.media_type) if ours else None

    def check(self, part) -> None:
        self.checked.append(part)
        if b"BROKEN" in part.blob.read():
            raise MediaError(f"{part.blob.name} is broken.", source=part.blob.name or "")

    def convert(self, part, context) -> Conversion:
        text = part.blob.read().removeprefix(self.magic).strip(b"\0").decode()
        if "BROKEN" in text:
            raise MediaError(f"{part.blob.name} is broken.", source=part.blob.name or "")
        warning = CallWarning("guessed", "", "some of it is a guess")
        return Conversion(f"{self.name} says {text}", "transcript", Usage(10, 5), (warning,))


def registry(*handlers: MediaHandler) -> Registry:
    """The built-in providers with their models, and handlers: `handlers`, those of pictures (native only), sounds and
    texts.
    """
    made = Registry()
    for provider in register_providers():
        made.add_provider(provider)
    for file in register_catalogues():
        made.add_catalogue(file)
    made.add_media_handler(Handler("picture", "image", b"PICTURE", "image/png"))
    made.add_media_handler(Handler("sound", "audio", b"SOUND", "audio/wav", (TRANSCRIPT,)))
    made.add_media_handler(Handler("text", "text", b"TEXT", "text/plain", (Fallback("text", frozenset({"text"})),)))
    for handler in handlers:
        made.add_media_handler(handler)
    return made
