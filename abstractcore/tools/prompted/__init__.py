"""Formats in which tools are written in a prompt, and calls of them read from a model's text. Pure."""

from .formats import TOOL_FORMATS, ToolFormat, tool_format
from .offered import CallParser, ParsedCall, ParsedReasoning, Piece

__all__ = ["TOOL_FORMATS", "CallParser", "ParsedCall", "ParsedReasoning", "Piece", "ToolFormat", "tool_format"]
