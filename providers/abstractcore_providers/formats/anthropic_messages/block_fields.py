"""The fields that the schema models: all others of a block or message are its provider options."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

BLOCK_FIELDS: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "text": frozenset({"type", "text", "citations", "cache_control"}),
        "image": frozenset({"type", "source", "cache_control"}),
        "document": frozenset({"type", "source", "title", "cache_control"}),
        "tool_use": frozenset({"type", "id", "name", "input", "partial_json", "cache_control"}),
        "tool_result": frozenset({"type", "tool_use_id", "content", "is_error", "cache_control"}),
    }
)
"""By the type of a block."""

MESSAGE_FIELDS = frozenset({"role", "content"})
