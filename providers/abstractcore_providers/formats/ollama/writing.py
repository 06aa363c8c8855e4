"""What is kept while a body is written: warnings, and the texts of arguments that go in at the end."""

from __future__ import annotations

from dataclasses import dataclass, field

from abstractcore.schema import CallWarning, ToolCall

from ...common.item_options import HasOptions, name_options_left_out
from ...common.json_reading import Object
from ...common.raw_arguments import HOLE, arguments_text, own_text, written_with
from .vocabulary import PROVIDER

ARGUMENTS = "arguments"


@dataclass(slots=True)
class Writing:
    """Gathers what one body needs."""

    warnings: list[CallWarning] = field(default_factory=list[CallWarning])
    arguments: list[str] = field(default_factory=list[str])

    def json(self, body: Object) -> bytes:
        """The body, with the arguments' own texts."""
        return written_with(body, ARGUMENTS, self.arguments)

    def put_arguments(self, function: Object, call: ToolCall, path: str) -> None:
        """Put the arguments into their function as their own text, if it is that of an object on one line.

        A stream's lines have no line ends in them, and a whole answer says the same as its stream.
        """
        text = own_text(call)
        if "\n" in text or "\r" in text:
            text = arguments_text(call.arguments)
        function[ARGUMENTS] = HOLE
        self.arguments.append(text)
        if text != call.arguments_text:
            message = "arguments are an object on one line here"
            self.warnings.append(
                CallWarning("arguments_rewritten", f"{path}.arguments_text", message, call.arguments_text, text)
            )

    def warn_of_options(self, part: HasOptions, path: str) -> None:
        """Warn of the options of a text or an image, which is no object of its own."""
        if part.provider_options:
            message = "Ollama's format has no object of its own for texts and images"
            name_options_left_out(part, path, PROVIDER, message, self.warnings)
