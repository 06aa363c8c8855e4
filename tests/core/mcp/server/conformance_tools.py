"""The tools that the server scenarios of the MCP conformance suite call, as functions for `--tool`."""

from __future__ import annotations

import base64
import logging
import time
from typing import Annotated, Any

from pydantic import Field

from abstractcore import (
    AudioPart,
    Blob,
    ContentPart,
    DocumentPart,
    ImagePart,
    Tool,
    ToolCall,
    ToolContext,
    ToolFailed,
    ToolSpec,
)

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="
)
WAV = base64.b64decode("UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQIAAAAAAA==")


def test_simple_text() -> str:
    """Returns a text."""
    return "This is a simple text response for testing."


def test_image_content() -> ImagePart:
    """Returns an image."""
    return ImagePart(Blob.from_bytes(PNG, "image/png"))


def test_audio_content() -> AudioPart:
    """Returns a recording."""
    return AudioPart(Blob.from_bytes(WAV, "audio/wav"))


def test_embedded_resource() -> DocumentPart:
    """Returns a document."""
    return DocumentPart(Blob.from_bytes(b"This is an embedded resource content.", "text/plain", name="resource.txt"))


def test_multiple_content_types() -> list[str | ContentPart]:
    """Returns a text, an image and a document."""
    document = DocumentPart(Blob.from_bytes(b'{"test":"data","value":123}', "application/json", name="data.json"))
    return ["Multiple content types test:", ImagePart(Blob.from_bytes(PNG, "image/png")), document]


def test_error_handling() -> str:
    """Fails always."""
    raise ToolFailed("This tool intentionally returns an error for testing")


def test_tool_with_progress(context: ToolContext[None]) -> str:
    """Reports progress three times."""
    for done in (0, 50, 100):
        context.progress(done, 100)
        time.sleep(0.05)
    return "done"


def test_logging_tool() -> str:
    """Writes to the server's log, which clients do not see."""
    logging.getLogger(__name__).warning("for the operator")
    return "logged"


def test_header(region: Annotated[str, Field(json_schema_extra={"x-mcp-header": "Region"})]) -> str:
    """Takes an argument that clients repeat in a header."""
    return region


def _answer(call: ToolCall, context: ToolContext[Any]) -> str:
    return "answered"


json_schema_2020_12_tool = Tool[..., Any].of(
    ToolSpec(
        "json_schema_2020_12_tool",
        "Tool with JSON Schema 2020-12 features",
        {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "$defs": {
                "address": {
                    "$anchor": "addressDef",
                    "type": "object",
                    "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
                }
            },
            "properties": {
                "name": {"type": "string"},
                "address": {"$ref": "#/$defs/address"},
                "contactMethod": {"type": "string", "enum": ["phone", "email"]},
                "phone": {"type": "string"},
                "email": {"type": "string"},
            },
            "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
            "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
            "then": {"required": ["phone"]},
            "else": {"required": ["email"]},
            "additionalProperties": False,
        },
    ),
    _answer,
)

__all__ = [
    "json_schema_2020_12_tool",
    "test_audio_content",
    "test_embedded_resource",
    "test_error_handling",
    "test_header",
    "test_image_content",
    "test_logging_tool",
    "test_multiple_content_types",
    "test_simple_text",
    "test_tool_with_progress",
]
