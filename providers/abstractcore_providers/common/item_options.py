"""Provider options of one message or part, which are fields of the JSON object that is written for it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any, Protocol, TypeVar, cast

from abstractcore.errors import InvalidInputError
from abstractcore.schema import (
    EMPTY,
    NO_OPTIONS,
    CallWarning,
    JSONObject,
    Message,
    Part,
    ProviderOptions,
    freeze_object,
)

from .json_reading import Object

T = TypeVar("T", bound=Message | Part)

AS_RECEIVED = "as_received"
"""A key among provider names for the original values of what AbstractCore renamed. It is never sent."""


class HasOptions(Protocol):
    """A message, or a part that can have options."""

    @property
    def provider_options(self) -> ProviderOptions:
        """Options by provider."""
        ...


def with_options(
    block: Object, item: HasOptions, path: str, provider: str, modelled: Collection[str], warnings: list[CallWarning]
) -> Object:
    """Returns `block`, written for `item` at `path`, with the item's options for `provider`.

    `modelled` are the fields that the schema models. Raises `InvalidInputError` with the path of an option that is one
    of them; options for other providers are reported.
    """
    if item.provider_options:
        _name_the_others(item, path, provider, warnings)
        for name, value in item.provider_options.get(provider, {}).items():
            if name in block or name in modelled:
                field_path = f"{path}.provider_options.{provider}.{name}"
                raise InvalidInputError("the schema has a field for this", path=field_path, hint="Use that field.")
            block[name] = value
    return block


def name_options_left_out(
    item: HasOptions, path: str, provider: str, message: str, warnings: list[CallWarning]
) -> None:
    """Warns of options for which the format has no object; `message` gives the reason."""
    if item.provider_options:
        _name_the_others(item, path, provider, warnings)
        if provider in item.provider_options:
            warnings.append(CallWarning("options_left_out", f"{path}.provider_options.{provider}", message))


def read_options(data: Object, modelled: Collection[str], provider: str) -> ProviderOptions:
    """Returns the fields of `data` that the schema does not model, as options for `provider`; null counts as absent.

    Raises `SchemaError` with the path of an invalid value.
    """
    if not data.keys() - modelled:
        return NO_OPTIONS
    rest = {name: value for name, value in data.items() if name not in modelled and value is not None}
    return cast(ProviderOptions, freeze_object({provider: rest}, "provider_options")) if rest else NO_OPTIONS


def _name_the_others(item: HasOptions, path: str, provider: str, warnings: list[CallWarning]) -> None:
    for other in item.provider_options:
        if other not in (provider, AS_RECEIVED):
            message = f"options for {other!r} are not sent to {provider!r}"
            warnings.append(CallWarning("other_provider_options", f"{path}.provider_options.{other}", message))


def with_options_for(item: T, path: str, provider: str, modelled: Collection[str], warnings: list[CallWarning]) -> T:
    """Returns `item` with its options for `provider` only.

    Raises `InvalidInputError` with the path of one of the fields that are `modelled`.
    """
    given: Any = item
    options: ProviderOptions = getattr(given, "provider_options", NO_OPTIONS)
    if not options:
        return item
    own = with_options({}, given, path, provider, modelled, warnings)
    return given if set(options) == {provider} else replace(given, provider_options={provider: own} if own else {})


def fields_for(item: Any, provider: str) -> JSONObject:
    """Returns the fields that `item` adds to the object written for it."""
    return item.provider_options.get(provider, EMPTY)
