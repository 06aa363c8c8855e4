"""`AbstractCoreError`, the base class of all errors, and `SchemaError`, which the schema itself raises."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Final

from .. import schema
from .quoting import shortened

_LONGEST_NAME: Final = 60
_LONGEST_PATH: Final = 200


class AbstractCoreError(Exception):
    """Base class of all errors of this package.

    `hint` names the next step; `provider`, `model`, `status` (HTTP) and `request_id` say where it happened.
    `retryable` is True if the same call may succeed later, `retry_after` the provider's delay in seconds, if given.
    `partial` holds what arrived of the reply, `attempts` the attempts made. Quoted text is shortened: a message has
    fewer than 2,000 characters.

    Of a call of several rounds, `loop` is the state that the error ended, with the usage and cost of the rounds so far:
    of a tool loop, and of a typed answer that was being corrected. `output_attempts` are its answers that were not
    valid.
    """

    retryable = False
    loop: schema.ToolLoop | None = None
    output_attempts: tuple[schema.OutputAttempt, ...] = ()
    _longest_message: ClassVar[int] = 1200
    _longest_hint: ClassVar[int] = 400

    def __init__(
        self,
        message: str,
        *,
        hint: str | None = None,
        provider: str | None = None,
        model: str | None = None,
        status: int | None = None,
        code: str | None = None,
        request_id: str | None = None,
        retry_after: float | None = None,
        partial: schema.ModelReply | None = None,
        attempts: Sequence[schema.AttemptRecord] = (),
    ) -> None:
        self.message = shortened(message, self._longest_message)
        super().__init__(self.message)
        self.hint = None if hint is None else shortened(hint, self._longest_hint)
        self.provider = provider
        self.model = model
        self.status = status
        self.code = code
        self.request_id = request_id
        self.retry_after = retry_after
        self.partial = partial
        self.attempts = tuple(attempts)

    def __str__(self) -> str:
        where = "/".join(shortened(name, _LONGEST_NAME) for name in (self.provider, self.model) if name)
        text = f"{where}: {self._problem()}" if where else self._problem()
        facts = [f"HTTP {self.status}"] if self.status is not None else []
        if self.retry_after is not None:
            facts.append(f"retry after {self.retry_after:g} s")
        if facts:
            text += f" ({', '.join(facts)})"
        if not self.hint:
            return text
        stop = "" if text.endswith((".", "!", "?", "\n")) else "."
        return f"{text}{stop} {self.hint}"

    def _problem(self) -> str:
        """Returns the message without the provider and the hint."""
        return self.message


class SchemaError(AbstractCoreError, ValueError):
    """A value is not allowed in the schema. `path` names it, as in `messages[0].parts[1].text`."""

    def __init__(self, message: str, path: str = "", *, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.args = (self.message, shortened(path, _LONGEST_PATH))
        self.path = path

    def _problem(self) -> str:
        return f"{shortened(self.path, _LONGEST_PATH)}: {self.message}" if self.path else self.message

    def at(self, prefix: str) -> SchemaError:
        """Returns the error with `prefix` added before its path."""
        joint = "" if not self.path or self.path.startswith("[") else "."
        return SchemaError(self.message, f"{prefix}{joint}{self.path}", hint=self.hint)
