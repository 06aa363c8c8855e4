"""What tool servers have in common: `ToolServerBase` for `MCPTools`, and for sources of other protocols in plugins."""

from __future__ import annotations

from ..proxies import environment_proxy
from ..schema.base_error import one_line, shown
from ..scrubbing import Secrets
from ..tools.names import nearest_name
from ..tools.names import checks_option_names
from .base import Headers, ToolServerBase, check_flag, check_positive
from .definitions import cleaned, cleaned_name, cleaned_schema
from .connection_pool import ServerConnection
from .definitions import UNTRUSTED_AND_SENDS, Definition, Labels, labels_of, unused_labels

__all__ = [
    "UNTRUSTED_AND_SENDS",
    "Definition",
    "Headers",
    "Labels",
    "Secrets",
    "ServerConnection",
    "ToolServerBase",
    "check_flag",
    "check_positive",
    "checks_option_names",
    "cleaned",
    "cleaned_name",
    "cleaned_schema",
    "environment_proxy",
    "labels_of",
    "nearest_name",
    "one_line",
    "shown",
    "unused_labels",
]
