"""`ToolInput`: an item of `tools=[...]`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from ..ports import ToolSource
from ..schema import HostedTool, ToolSpec
from .servers import ToolServer
from .tool import Tool

ToolInput: TypeAlias = ToolSpec | HostedTool | Tool[..., Any] | Callable[..., Any] | ToolSource | ToolServer | str
"""A function, method, `Tool`, pydantic model, dataclass or TypedDict; a spec of a tool that is run elsewhere; a hosted
tool; a tool source or its name, or a tool server, for all of its tools."""
