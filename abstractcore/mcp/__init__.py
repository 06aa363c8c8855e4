"""MCP: the tools of other programs beside functions (`MCPTools`), and this one's for other programs (`server/`).

The official SDK, the extra `mcp`, is imported when a server is first used.
"""

from ..lazy_modules import LazyImports as _LazyImports

with _LazyImports(globals()):
    from .config import expanded as expanded
    from .sampling import SamplingRequest as SamplingRequest
    from .tools import MCPTools as MCPTools
