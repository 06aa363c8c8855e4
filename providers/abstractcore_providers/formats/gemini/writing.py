"""What is kept while a request or a reply is written: warnings, and the texts of arguments that go in at the end."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from abstractcore.schema import CachePoint, CallWarning, JSONObject, TextPart

from ...common.json_reading import Object
from ...common.raw_arguments import HOLE, arguments_text, written_with

ARGUMENTS = "args"
_BLANK = " \t\r\n"


@dataclass(slots=True)
class Writing:
    """Gathers what one body needs. With `one_line`, as in an event of a stream, no text brings a line end."""

    provider: str
    one_line: bool = False
    warnings: list[CallWarning] = field(default_factory=list[CallWarning])
    arguments: list[str] = field(default_factory=list[str])

    def json(self, body: Object) -> bytes:
        """The body, with the arguments' own texts."""
        return written_with(body, ARGUMENTS, self.arguments)

    def left_out(self, path: str, name: str, what: str) -> None:
        """Warn that the format has no place for something."""
        message = f"the generateContent format has no place for {what}"
        self.warnings.append(CallWarning(f"{name}_left_out", path, message))

    def put_arguments(self, body: Object, text: str, arguments: JSONObject | None, path: str) -> None:
        """Put the arguments of a call into it, as their own text.

        Text that is no JSON object cannot be sent: an empty object stands for it. No text is no arguments.
        """
        sent = text.strip(_BLANK)
        if arguments is None or not text.strip():
            sent = "{}"
        elif self.one_line and ("\n" in sent or "\r" in sent):
            sent = arguments_text(arguments)
        if text == "":
            return
        body[ARGUMENTS] = HOLE
        self.arguments.append(sent)
        if sent != text:
            message = "arguments are an object here, with nothing around it"
            self.warnings.append(CallWarning("arguments_rewritten", f"{path}.arguments_text", message, text, sent))

    def warn_of_text(self, part: TextPart, path: str) -> None:
        """What a text says beyond itself, which cannot be sent."""
        if part.citations:
            self.left_out(f"{path}.citations", "citations", "citations")
        self.warn_of_cache(part, path)

    def warn_of_cache(self, item: Any, path: str) -> None:
        """What is kept is made with a call of its own."""
        cache: CachePoint | None = getattr(item, "cache", None)
        if cache is not None:
            self.left_out(f"{path}.cache", "cache", "cache points")
