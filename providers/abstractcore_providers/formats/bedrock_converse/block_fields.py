"""The fields that the schema models: all others of media, calls and results are their provider options."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

BLOCK_FIELDS: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "image": frozenset({"format", "source"}),
        "document": frozenset({"format", "name", "source"}),
        "video": frozenset({"format", "source"}),
        "audio": frozenset({"format", "source"}),
        "tool_call": frozenset({"toolUseId", "name", "input", "type"}),
        "tool_result": frozenset({"toolUseId", "content", "status"}),
    }
)
"""By the type of a part. Texts are not objects here, and have no options."""
