"""MCP: the tools of other programs beside functions (`MCPTools`), and this one's for other programs (`server/`).

The official SDK, the extra `mcp`, is imported when a server is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .config import expanded
    from .sampling import SamplingRequest
    from .tools import MCPTools

__all__ = ["MCPTools", "SamplingRequest", "expanded"]
_MODULES = {"MCPTools": ".tools", "SamplingRequest": ".sampling", "expanded": ".config"}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_MODULES[name], __name__), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
