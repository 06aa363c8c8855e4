"""Collects what belongs to a body while it is written: warnings, and the texts of tool-call arguments to insert at the
end.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from abstractcore import schema
from abstractcore.schema import CallWarning, ToolCall

from .json_reading import Object
from .raw_arguments import HOLE, sent_text, written_with


@dataclass(slots=True)
class BodyWriter:
    """Collects the warnings and argument texts of one body.

    Options are those for `provider`; `key` is the field for the arguments of a call. With `one_line`, as in the events
    of a stream, argument texts contain no line breaks. `names` are those that the body has in place of the call's.
    """

    provider: str
    key: str
    one_line: bool = False
    warnings: list[CallWarning] = field(default_factory=list[CallWarning])
    names: schema.SentNames | None = None
    arguments: list[str] = field(default_factory=list[str])

    def json(self, body: Object) -> bytes:
        """Returns the body as JSON, with the arguments' original texts."""
        return written_with(body, self.key, self.arguments)

    def put_arguments(self, body: Object, call: ToolCall, path: str) -> None:
        """Puts the arguments of a call into its object."""
        body[self.key] = HOLE
        self.arguments.append(sent_text(call, path, self.warnings, one_line=self.one_line))
