"""One content block of a stream, from its start to its stop."""

from __future__ import annotations

from abstractcore.schema import Citation

from ...common.conversations import received_arguments
from ...common.reading import Object, mended, text_of

_IMPLIED = {"text_delta": "text", "thinking_delta": "thinking"}


class StreamedMessageBlock:
    """The content of a block so far. Text, reasoning and tool calls are written at once; others at their stop."""

    __slots__ = ("block", "citations", "ended", "kind", "number", "received_text", "signature", "text")

    def __init__(self, number: int, block: Object) -> None:
        self.number = number
        self.block = mended(block)
        self.kind = text_of(self.block, "type") or ""
        self.citations: tuple[Citation, ...] = ()
        self.signature: str | None = text_of(self.block, "signature")
        self.text: list[str] = []
        """The input of a hosted tool's call."""
        self.received_text = False
        """Whether any text or input was received."""
        self.ended = False

    @classmethod
    def implied(cls, number: int, delta: Object) -> StreamedMessageBlock | None:
        """Returns the block of a delta without a start; None if its kind cannot be determined."""
        kind = _IMPLIED.get(text_of(delta, "type") or "")
        return None if kind is None else cls(number, {"type": kind})

    @property
    def first_text(self) -> str:
        """Returns the content in the start event."""
        return text_of(self.block, self.kind) or "" if self.kind in ("text", "thinking") else ""

    @property
    def input_text(self) -> str:
        """Returns the input of a call: as streamed, or else as in the start event, where it is usually empty."""
        return "".join(self.text) or received_arguments(self.block.get("input", {}))

    def merge(self, delta: Object) -> None:
        """Merges a delta of an unknown kind: texts are appended, other values replaced."""
        for name, value in mended(delta).items():
            if name != "type":
                before = self.block.get(name)
                both = isinstance(before, str) and isinstance(value, str)
                self.block[name] = before + value if both else value
