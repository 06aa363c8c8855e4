"""`ReplyReading`: how the text of a reply is read as tool calls or a typed answer."""

from __future__ import annotations

from dataclasses import dataclass

from .immutable import Immutable
from .tools import ToolSpec


@dataclass(frozen=True, slots=True)
class ReplyReading(Immutable):
    """How the text of a reply is read, where tools or a typed answer are not the provider's own.

    `tools` are written into the prompt in `tool_format`; with `rescue`, a reply that is nothing but calls of them is
    read as such in any format. `output_tool` is the tool whose arguments are the answer. With `single`, calls in the
    text after the first are left out.
    """

    tool_format: str | None = None
    tools: tuple[ToolSpec, ...] = ()
    rescue: bool = False
    output_tool: str | None = None
    single: bool = False
