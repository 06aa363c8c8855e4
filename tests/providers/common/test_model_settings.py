"""Settings of a model, applied to the dialect of its wire format."""

from dataclasses import dataclass
from typing import Any

import pytest

from abstractcore.errors import ConfigurationError
from abstractcore_providers.common.endpoints import with_settings


@dataclass(frozen=True, slots=True)
class Dialect:
    signed: bool = False
    word: str = "off"
    types: frozenset[str] = frozenset()


def test_settings_replace_fields_and_lists_become_sets():
    assert with_settings(Dialect(), {"signed": True, "types": ["a", "b"]}) == Dialect(True, types=frozenset("ab"))
    assert with_settings(Dialect(), {}) == Dialect()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"sign": True}, r"settings\.sign: no such setting"),
        ({"signed": 1}, r"settings\.signed: expected bool, got 1"),
        ({"word": True}, r"settings\.word: expected str"),
        ({"types": "ab"}, r"settings\.types: expected a list of texts"),
        ({"types": [1]}, r"settings\.types: expected a list of texts"),
    ],
)
def test_invalid_setting_is_named(settings: dict[str, Any], message: str):
    with pytest.raises(ConfigurationError, match=message):
        with_settings(Dialect(), settings)
