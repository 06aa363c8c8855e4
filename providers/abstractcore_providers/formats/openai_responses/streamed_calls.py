"""Calls of built-in tools whose arguments are streamed, as pieces of the text that the complete item has."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace

from abstractcore.schema import ToolCall

from ...common.call_options import AS_RECEIVED
from ...common.reading import mend
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
