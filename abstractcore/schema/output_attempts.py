"""`OutputAttempt`: an answer that does not match the requested type, after which the model was asked again."""

from __future__ import annotations

from dataclasses import dataclass

from .immutable import Immutable
from .json_values import check_class, check_text
from .parts import ToolCall
from .usage import Usage

_NO_USAGE = Usage()


@dataclass(frozen=True, slots=True)
class OutputAttempt(Immutable):
    """An answer that is not valid. `round` is the index of its reply in `steps` of the response, `text` its text.

    `problem` says what is wrong with it, `correction` is the message that the model was sent; it is empty after the
    last attempt. `usage` is that of the reply. `tool_call` is the call of the output tool that held the answer, if
    there was one: the model gets the correction as its result. An answer as text that a further call asks for as JSON
    has no `problem`.
    """

    round: int
    text: str
    problem: str
    correction: str = ""
    usage: Usage = _NO_USAGE
    tool_call: ToolCall | None = None

    def __post_init__(self) -> None:
        for name in ("text", "problem", "correction"):
            check_text(getattr(self, name), name)
        check_class(self.usage, Usage, "usage")
        if self.tool_call is not None:
            check_class(self.tool_call, ToolCall, "tool_call")
