"""The server: any client of OpenAI's, Anthropic's, Google's, Cohere's or Ollama's API, any model.

`abstractcore serve` runs it; `Application` is the ASGI application. It needs the extra `server`.
"""

from .access import Access, FixedKeys, Grant, Lease, OpenAccess, Settlement
from .application import Application, server_services
from .configuration import read_settings
from .limits import Limits
from .settings import GuardSettings, ModelSettings, ProviderSettings, ServerSettings, Settings

__all__ = [
    "Access",
    "Application",
    "FixedKeys",
    "Grant",
    "GuardSettings",
    "Lease",
    "Limits",
    "ModelSettings",
    "OpenAccess",
    "ProviderSettings",
    "ServerSettings",
    "Settings",
    "Settlement",
    "read_settings",
    "server_services",
]
