"""Options and fields that only one provider has, by the provider's name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias, cast

from .frozen_json import EMPTY, freeze_object, freeze_without_none
from .json_values import JSONObject

ProviderOptions: TypeAlias = Mapping[str, JSONObject]
"""Mappings by provider, with the field names of that provider."""

NO_OPTIONS = cast(ProviderOptions, EMPTY)


def checked_provider_options(options: object, path: str = "provider_options") -> ProviderOptions:
    """Returns `options` frozen, without options that are None and providers without options.

    Raises `SchemaError` with the path unless `options` is a mapping of mappings.
    """
    given: dict[str, JSONObject] = {}
    for provider, values in freeze_object(options, path).items():
        of_provider = freeze_without_none(values, f"{path}.{provider}")
        if of_provider:
            given[provider] = of_provider
    return cast(ProviderOptions, freeze_object(given))
