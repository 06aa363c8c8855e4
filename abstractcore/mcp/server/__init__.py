"""An MCP server of tools: functions, and those of a model (ask, transcribe, describe, extract).

It takes an LLM as an object, and knows neither the facade nor providers. `abstractcore mcp serve` puts it together.
"""

from .calls import ToolRunner
from .files import FileAccess
from .http import MCPAccess, listening_socket, serve_http, url_of
from .calls import MCPServerLimits
from .model_tools import MODEL_TOOLS, Model, ModelTools, SpeechToText
from .offered_tools import OfferedTool, tools_by_name
from .protocol import mcp_server
from .stdio import ProtocolDescriptors, claim_standard_streams, serve_stdio

__all__ = [
    "MODEL_TOOLS",
    "FileAccess",
    "MCPAccess",
    "MCPServerLimits",
    "Model",
    "ModelTools",
    "OfferedTool",
    "ProtocolDescriptors",
    "SpeechToText",
    "ToolRunner",
    "claim_standard_streams",
    "listening_socket",
    "mcp_server",
    "serve_http",
    "serve_stdio",
    "tools_by_name",
    "url_of",
]
