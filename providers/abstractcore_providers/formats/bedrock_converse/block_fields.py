"""The fields that the schema has words for: all others of a medium, a call or a result are its provider options."""

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
"""By the type of a part. Texts are no objects here, and have no options."""
