"""From installed packages to what their plugins bring: found, held against our version, loaded, checked."""

from .failures import failures_of, told
from .finding import FoundPlugin, found_plugins
from .kinds import CAPABILITY, KINDS, MEDIA_HANDLER, PROVIDER, TOOL_SOURCE, TRACE_SUBSCRIBER, WIRE_FORMAT, Kind
from .loading import contributions
from .media import GuardedHandler
from .reports import PluginReport
from .tools import tools_of

__all__ = [
    "CAPABILITY",
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
    "contributions",
    "failures_of",
    "found_plugins",
    "told",
    "tools_of",
]
