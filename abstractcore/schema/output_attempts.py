"""`OutputAttempt`: an answer that does not match the requested type, after which the model was asked again."""

from __future__ import annotations

from dataclasses import dataclass

from .immutable import Immutable
from .json_values import check_class, check_text
from .usage import Usage

_NO_USAGE = Usage()


@dataclass(frozen=True, slots=True)
class OutputAttempt(Immutable):
    """An answer that is not valid. `round` is the index of its reply in `steps` of the response, `text` its text.

    `problem` says what is wrong with it, `correction` is the message that the model was sent; it is empty after the
    last attempt. `usage` is that of the reply.
    """

    round: int
    text: str
    problem: str
    correction: str = ""
    usage: Usage = _NO_USAGE

    def __post_init__(self) -> None:
        for name in ("text", "problem", "correction"):
            check_text(getattr(self, name), name)
        check_class(self.usage, Usage, "usage")
