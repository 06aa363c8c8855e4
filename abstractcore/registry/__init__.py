"""Finds plugins, validates what they register, and holds it by name."""

from .entry_points import FoundPlugin, found_plugins
from .entry_points import failure_text, failures_of
from .kinds import GuardedHandler
from .hooks import hookimpl
from .kinds import (
    CAPABILITY,
    CATALOGUE,
    GUARD,
    KINDS,
    MEDIA_HANDLER,
    PROVIDER,
    TOOL_SOURCE,
    TRACE_SUBSCRIBER,
    WIRE_FORMAT,
    Kind,
)
from .registry import Registry
from .registry import PluginReport
from .suggestions import (
    did_you_mean,
    is_misspelt_provider,
    is_weights,
    missing_path_hint,
    name_hint,
    nearest_names,
    similar_path,
)
from .kinds import tools_of

__all__ = [
    "CAPABILITY",
    "CATALOGUE",
    "GUARD",
    "KINDS",
    "MEDIA_HANDLER",
    "PROVIDER",
    "TOOL_SOURCE",
    "TRACE_SUBSCRIBER",
    "WIRE_FORMAT",
    "FoundPlugin",
    "GuardedHandler",
    "Kind",
    "PluginReport",
    "Registry",
    "did_you_mean",
    "failure_text",
    "failures_of",
    "found_plugins",
    "hookimpl",
    "is_misspelt_provider",
    "is_weights",
    "missing_path_hint",
    "name_hint",
    "nearest_names",
    "similar_path",
    "tools_of",
]
