"""The server: any client of OpenAI's, Anthropic's, Google's, Cohere's or Ollama's API, any model.

`abstractcore serve` runs it; `Application` is the ASGI application. It needs the extra `server`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .access.admission import AccessControl, CallLease, FixedKeys, Grant, OpenAccess, Settlement
    from .application import Application, server_services
    from .configuration.reading import read_settings
    from .configuration.settings import (
        BudgetSettings,
        GuardSettings,
        ModelSettings,
        ProviderSettings,
        ServerLimits,
        ServerSettings,
        Settings,
    )

_MODULES = {
    "AccessControl": "access.admission",
    "Application": "application",
    "BudgetSettings": "configuration.settings",
    "FixedKeys": "access.admission",
    "Grant": "access.admission",
    "GuardSettings": "configuration.settings",
    "CallLease": "access.admission",
    "ServerLimits": "configuration.settings",
    "ModelSettings": "configuration.settings",
    "OpenAccess": "access.admission",
    "ProviderSettings": "configuration.settings",
    "ServerSettings": "configuration.settings",
    "Settings": "configuration.settings",
    "Settlement": "access.admission",
    "read_settings": "configuration.reading",
    "server_services": "application",
}
"""Modules are imported on first access: the commands' arguments, for `abstractcore --help`, need none of them."""

__all__ = [
    "AccessControl",
    "Application",
    "BudgetSettings",
    "CallLease",
    "FixedKeys",
    "Grant",
    "GuardSettings",
    "ModelSettings",
    "OpenAccess",
    "ProviderSettings",
    "ServerLimits",
    "ServerSettings",
    "Settings",
    "Settlement",
    "read_settings",
    "server_services",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f".{_MODULES[name]}", __name__), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
