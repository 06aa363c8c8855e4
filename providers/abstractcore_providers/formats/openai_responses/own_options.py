"""Provider options of messages and parts, as the format can carry them: in the object that is written for each."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any, TypeVar

from abstractcore.schema import NO_OPTIONS, CallWarning, JSONObject, Message, Part, ProviderOptions

from ...common.item_options import with_options

T = TypeVar("T", bound=Message | Part)


def with_own_options(item: T, path: str, provider: str, modelled: Collection[str], warnings: list[CallWarning]) -> T:
    """`item` with its options for `provider` alone.

    Raises `InvalidInputError` with the path of one of the fields that are `modelled`.
    """
    given: Any = item
    options: ProviderOptions = getattr(given, "provider_options", NO_OPTIONS)
    if not options:
        return item
    own = with_options({}, given, path, provider, modelled, warnings)
    return given if set(options) == {provider} else replace(given, provider_options={provider: own} if own else {})


def own_options(item: Any, provider: str) -> JSONObject:
    """The fields that `item` adds to what is written for it."""
    return item.provider_options.get(provider, {})
