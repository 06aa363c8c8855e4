"""An MCP server of tools: functions, and those of a model (ask, transcribe, describe, extract).

It takes an LLM as an object, and knows neither the facade nor providers. `abstractcore mcp serve` puts it together.
"""

from ...lazy_modules import LazyImports as _LazyImports

with _LazyImports(globals()):
    from .calls import MCPServerLimits as MCPServerLimits, ToolRunner as ToolRunner
    from .files import FileAccess as FileAccess
    from .http import (
        MCPAccess as MCPAccess,
        listening_socket as listening_socket,
        serve_http as serve_http,
        url_of as url_of,
    )
    from .model_tools import (
        MODEL_TOOLS as MODEL_TOOLS,
        Model as Model,
        ModelTools as ModelTools,
        SpeechToText as SpeechToText,
    )
    from .offered_tools import OfferedTool as OfferedTool, tools_by_name as tools_by_name
    from .protocol import mcp_server as mcp_server
    from .stdio import (
        ProtocolDescriptors as ProtocolDescriptors,
        claim_standard_streams as claim_standard_streams,
        serve_stdio as serve_stdio,
    )
