"""Options in the short forms users write, as the values of a `ModelCall`."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from .errors import InvalidInputError
from .schema import MediaKind, Sampling, SchemaError, ToolChoice

SAMPLING_OPTIONS = (
    "max_output_tokens",
    "temperature",
    "top_p",
    "top_k",
    "seed",
    "presence_penalty",
    "frequency_penalty",
    "top_logprobs",
)
MEDIA_KINDS: tuple[MediaKind, ...] = ("text", "image", "audio", "video", "document")


def sampling(options: Mapping[str, Any]) -> Sampling:
    """The sampling part of options; raises `InvalidInputError`."""
    stop = options.get("stop", ())
    values = {name: options[name] for name in SAMPLING_OPTIONS if name in options}
    try:
        return Sampling(**values, stop=(stop,) if isinstance(stop, str) else tuple(stop))
    except (SchemaError, TypeError) as error:
        path = error.path if isinstance(error, SchemaError) else "stop"
        message = error.message if isinstance(error, SchemaError) else str(error)
        raise InvalidInputError(message, path=path) from None


def media_policy(value: object) -> Mapping[str, str]:
    """A policy by kind, from one policy for all kinds or a mapping; raises `InvalidInputError`."""
    if isinstance(value, str):
        return dict.fromkeys(MEDIA_KINDS, value)
    if not isinstance(value, Mapping):
        raise InvalidInputError(f"expected a policy or a mapping, got {type(value).__name__}", path="media_policy")
    policies: dict[str, str] = {**value}
    for kind in policies:
        if kind not in MEDIA_KINDS:
            raise InvalidInputError(
                f"unknown kind {kind!r}", path="media_policy", hint=f"Use {', '.join(MEDIA_KINDS)}."
            )
    return policies


def seconds(value: object, path: str) -> float | None:
    """A time to wait, above zero; None for ever."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < math.inf:
        raise InvalidInputError(f"expected seconds, more than 0, got {value!r}", path=path, hint="None is no limit.")
    return value


def at_least_zero(value: object, path: str) -> int:
    """A count."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise InvalidInputError(f"expected a whole number, 0 or more, got {value!r}", path=path)
    return value


def tool_choice(value: object) -> ToolChoice | None:
    """A choice from its short form: a mode, or the choice itself."""
    if value is None or isinstance(value, ToolChoice):
        return value
    if value in ("auto", "none", "required"):
        return ToolChoice(value)
    raise InvalidInputError(
        f"{value!r} is not a choice",
        path="tool_choice",
        hint="Use 'auto', 'none', 'required', or ToolChoice('tool', NAME).",
    )
