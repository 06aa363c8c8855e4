"""What tool servers have in common: `ToolServerBase` for `MCPTools`, and for sources of other protocols in plugins."""

from __future__ import annotations

from ..schema.quoting import one_line, shown
from ..scrubbing import Secrets
from .base import Headers, ToolServerBase
from .cleaning import cleaned, cleaned_name, cleaned_schema
from .connection_pool import ServerConnection
from .definitions import UNTRUSTED_AND_SENDS, Definition, Labels, labels_of

__all__ = [
    "UNTRUSTED_AND_SENDS",
    "Definition",
    "Headers",
    "Labels",
    "Secrets",
    "ServerConnection",
    "ToolServerBase",
    "cleaned",
    "cleaned_name",
    "cleaned_schema",
    "labels_of",
    "one_line",
    "shown",
]
