"""What is said to, or was said by, one provider beside what the schema has fields for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias, cast

from .frozen_json import EMPTY, freeze_given, freeze_object
from .json_values import JSONObject

ProviderOptions: TypeAlias = Mapping[str, JSONObject]
"""By provider, under names of the provider's own."""

NO_OPTIONS = cast(ProviderOptions, EMPTY)


def given_options(options: object, path: str = "provider_options") -> ProviderOptions:
    """`options` frozen; an option that is None, or a provider without options, is as good as not given.

    Raises `SchemaError` with the path for what is no mapping of mappings.
    """
    given: dict[str, JSONObject] = {}
    for provider, values in freeze_object(options, path).items():
        of_provider = freeze_given(values, f"{path}.{provider}")
        if of_provider:
            given[provider] = of_provider
    return cast(ProviderOptions, freeze_object(given))
