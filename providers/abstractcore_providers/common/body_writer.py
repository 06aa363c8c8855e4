"""What is kept while a body is written: warnings, and the texts of arguments that go in at the end."""

from __future__ import annotations

from dataclasses import dataclass, field

from abstractcore.schema import CallWarning, ToolCall

from .json_reading import Object
from .raw_arguments import HOLE, sent_text, written_with


@dataclass(slots=True)
class BodyWriter:
    """Gathers what one body needs.

    Options are those for `provider`; `key` is the field for the arguments of a call. With `one_line`, as in an event of
    a stream, they bring no line end.
    """

    provider: str
    key: str
    one_line: bool = False
    warnings: list[CallWarning] = field(default_factory=list[CallWarning])
    arguments: list[str] = field(default_factory=list[str])

    def json(self, body: Object) -> bytes:
        """The body, with the arguments' own texts."""
        return written_with(body, self.key, self.arguments)

    def put_arguments(self, body: Object, call: ToolCall, path: str) -> None:
        """Put the arguments of a call into its object."""
        body[self.key] = HOLE
        self.arguments.append(sent_text(call, path, self.warnings, one_line=self.one_line))
