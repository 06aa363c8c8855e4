"""The options of a call for one provider, and the error for one that duplicates a field of the call."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any, cast

from abstractcore.errors import InvalidInputError
from abstractcore.schema import EMPTY, CallWarning, JSONObject, ModelCall

from .json_reading import Object


def options_for(call: ModelCall, provider: str, warnings: list[CallWarning]) -> JSONObject:
    """Returns the call's options for `provider`, with a warning for those for others."""
    for other in call.provider_options:
        if other != provider:
            message = f"options for {other!r} are not sent to {provider!r}"
            warnings.append(CallWarning("other_provider_options", f"provider_options.{other}", message))
    return call.provider_options.get(provider, EMPTY)


def add_provider_options(
    body: Object,
    call: ModelCall,
    provider: str,
    has_field: Callable[[str, Any], bool],
    warnings: list[CallWarning],
    joined: Collection[str] = (),
) -> None:
    """Adds the call's options for `provider` to the body; those that are `joined` are lists, appended to the body's.

    Raises `InvalidInputError` for another name that the body has, or for which the call has a field.
    """
    for name, value in options_for(call, provider, warnings).items():
        if has_field(name, value) or (name in body and name not in joined):
            raise duplicate_option_error(f"provider_options.{provider}.{name}")
        body[name] = [*body[name], *cast("list[Any]", value)] if name in body else value


def duplicate_option_error(path: str) -> InvalidInputError:
    """Returns the error for an option at `path` that duplicates a field of the call."""
    return InvalidInputError("the call has a field for this", path=path, hint="Use that field.")
