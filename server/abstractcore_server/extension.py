"""The field `abstractcore` of requests and replies, for what a client's API has no words for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from abstractcore.errors import InvalidInputError
from abstractcore.registry import did_you_mean, nearest_names
from abstractcore.schema import EMPTY, CallWarning, GenerateResponse, ModelCall, SchemaError, to_data

from .guard_decisions import GuardDecision

if TYPE_CHECKING:
    from .tools.rounds import ToolRounds

FIELD = "abstractcore"
_CALL_FIELDS = (
    "cache",
    "file_store",
    "media_history",
    "media_policy",
    "output_mode",
    "strict",
    "tags",
    "thinking",
    "tool_format",
    "tool_search",
)
"""Fields of a call that clients may set."""
NAMES = (*_CALL_FIELDS, "timeout")
"""Fields of the field `abstractcore`."""


@dataclass(frozen=True, slots=True)
class Extension:
    """What a request says in the field `abstractcore`. Without the field, replies have none (`is_given`).

    `changes` are fields of the call, `timeout` is in seconds.
    """

    is_given: bool = False
    changes: Mapping[str, Any] | None = None
    timeout: float | None = None

    @classmethod
    def of(cls, value: object) -> Extension:
        """Returns the extension of a request; raises `InvalidInputError` for unknown names, with similar ones."""
        if value is None:
            return _NONE
        if not isinstance(value, Mapping):
            raise InvalidInputError(f"expected an object, got {type(value).__name__}", path=FIELD)
        given = cast("Mapping[str, Any]", value)
        for name in given:
            if name not in NAMES:
                near = nearest_names(name[:100], NAMES)
                hint = did_you_mean(near) if near else f"The names are {', '.join(NAMES)}."
                raise InvalidInputError("there is no such field", path=f"{FIELD}.{name[:100]}", hint=hint)
        timeout = given.get("timeout")
        if timeout is not None and not (type(timeout) in (int, float) and timeout > 0):
            raise InvalidInputError("expected a number of seconds above 0", path=f"{FIELD}.timeout")
        changes = {name: value for name, value in given.items() if name in _CALL_FIELDS and value is not None}
        return cls(True, changes, timeout)

    def apply(self, call: ModelCall) -> ModelCall:
        """Returns the call with its fields changed; raises `InvalidInputError` with the path of an invalid value."""
        if not self.changes:
            return call
        try:
            return call.with_(**self.changes)
        except (SchemaError, TypeError) as error:
            message = error.message if isinstance(error, SchemaError) else str(error)
            path = error.path if isinstance(error, SchemaError) else ""
            raise InvalidInputError(message, path=f"{FIELD}.{path}".rstrip(".")) from None


_NONE = Extension()


def reply_fields(
    response: GenerateResponse[Any],
    warnings: tuple[CallWarning, ...],
    name: str,
    decisions: Sequence[GuardDecision] = (),
    rounds: ToolRounds | None = None,
    left_out: Mapping[str, Any] = EMPTY,
) -> dict[str, Any]:
    """Returns the field of a reply: who answered, what it cost, what happened to files, what guards decided, which
    tools the server has run, the provider's fields that are left out of the reply itself (`left_out`), and all
    warnings.
    """
    tools = {} if rounds is None else {"tools": rounds.runs(response.tool_steps)}
    return {
        "trace_id": response.trace_id,
        "model": name,
        "cost": None if response.cost is None else str(response.cost),
        "cost_source": response.cost_source,
        "cost_reason": response.cost_reason,
        "seconds": round(response.seconds, 6),
        "attempts": len(response.attempts),
        "usage": to_data(response.usage),
        "media": [to_data(decision) for decision in response.media],
        **({"guards": [decision.data() for decision in decisions]} if decisions else {}),
        **tools,
        **({"provider_fields": to_data(left_out)} if left_out else {}),
        "warnings": [to_data(warning) for warning in warnings],
    }


def with_field(body: bytes, fields: bytes) -> bytes:
    """Returns a JSON object, or the last one of a stream, with the field `abstractcore` at its end."""
    end = body.rindex(b"}")
    comma = b"" if body[:end].rstrip().endswith(b"{") else b","
    return body[:end] + comma + f'"{FIELD}":'.encode() + fields + body[end:]
