"""Bodies of requests in every API of the server, each with one more thing to count than a question."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

from tests.documents import ROOT

QUESTION = "What is the total of this receipt?"
KINDS = ("text", "tools", "schema", "image", "pdf", "audio")
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"total": {"type": "number", "description": "The total of the receipt, in euros."}},
    "required": ["total"],
    "additionalProperties": False,
}
TOOL: dict[str, Any] = {"name": "look_up", "description": "Looks up a price in the list of the shop."}
_MEDIA = ROOT / "examples/media"
FILES: Mapping[str, tuple[str, str]] = {
    kind: (media_type, base64.b64encode((_MEDIA / name).read_bytes()).decode())
    for kind, media_type, name in (
        ("image", "image/jpeg", "receipt.jpg"),
        ("pdf", "application/pdf", "invoice.pdf"),
        ("audio", "audio/wav", "meeting.wav"),
    )
}


def chat(kind: str) -> dict[str, Any]:
    """Chat Completions."""
    parts: list[dict[str, Any]] = [{"type": "text", "text": question(kind)}]
    media_type, data = FILES.get(kind, ("", ""))
    if kind == "image":
        parts.append({"type": "image_url", "image_url": {"url": f"data:{media_type};base64,{data}"}})
    elif kind == "pdf":
        file = {"filename": "invoice.pdf", "file_data": f"data:{media_type};base64,{data}"}
        parts.append({"type": "file", "file": file})
    elif kind == "audio":
        parts.append({"type": "input_audio", "input_audio": {"data": data, "format": "wav"}})
    body: dict[str, Any] = {"messages": [{"role": "user", "content": parts}]}
    if kind == "tools":
        body["tools"] = [{"type": "function", "function": {**TOOL, "parameters": SCHEMA}}]
    elif kind == "schema":
        body["response_format"] = {"type": "json_schema", "json_schema": {"name": "total", "schema": SCHEMA}}
    return body


def completions(kind: str) -> dict[str, Any]:
    """Completions, which have text alone."""
    return {"prompt": question(kind)}


def responses(kind: str) -> dict[str, Any]:
    """Responses."""
    parts: list[dict[str, Any]] = [{"type": "input_text", "text": question(kind)}]
    media_type, data = FILES.get(kind, ("", ""))
    if kind == "image":
        parts.append({"type": "input_image", "image_url": f"data:{media_type};base64,{data}", "detail": "auto"})
    elif kind == "pdf":
        file = {"filename": "invoice.pdf", "file_data": f"data:{media_type};base64,{data}"}
        parts.append({"type": "input_file", **file})
    body: dict[str, Any] = {"input": [{"role": "user", "content": parts}]}
    if kind == "tools":
        body["tools"] = [{"type": "function", **TOOL, "parameters": SCHEMA, "strict": True}]
    elif kind == "schema":
        body["text"] = {"format": {"type": "json_schema", "name": "total", "schema": SCHEMA}}
    return body


def messages(kind: str) -> dict[str, Any]:
    """Messages."""
    parts: list[dict[str, Any]] = [{"type": "text", "text": question(kind)}]
    if kind in ("image", "pdf"):
        media_type, data = FILES[kind]
        source = {"type": "base64", "media_type": media_type, "data": data}
        parts.append({"type": "image" if kind == "image" else "document", "source": source})
    body: dict[str, Any] = {"messages": [{"role": "user", "content": parts}]}
    if kind == "tools":
        body["tools"] = [{**TOOL, "input_schema": SCHEMA}]
    elif kind == "schema":
        body["output_config"] = {"format": {"type": "json_schema", "schema": SCHEMA}}
    return body


def gemini(kind: str) -> dict[str, Any]:
    """generateContent."""
    parts: list[dict[str, Any]] = [{"text": question(kind)}]
    if kind in FILES:
        media_type, data = FILES[kind]
        parts.append({"inlineData": {"mimeType": media_type, "data": data}})
    body: dict[str, Any] = {"contents": [{"role": "user", "parts": parts}]}
    if kind == "tools":
        body["tools"] = [{"functionDeclarations": [{**TOOL, "parametersJsonSchema": SCHEMA}]}]
    elif kind == "schema":
        body["generationConfig"] = {"responseMimeType": "application/json", "responseJsonSchema": SCHEMA}
    return body


def cohere(kind: str) -> dict[str, Any]:
    """Cohere's chat."""
    body = chat(kind)
    if kind == "schema":
        body["response_format"] = {"type": "json_object", "json_schema": SCHEMA}
    return body


def ollama(kind: str) -> dict[str, Any]:
    """Ollama's chat."""
    message: dict[str, Any] = {"role": "user", "content": question(kind)}
    if kind == "image":
        message["images"] = [FILES[kind][1]]
    body: dict[str, Any] = {"messages": [message], "stream": False}
    if kind == "tools":
        body["tools"] = [{"type": "function", "function": {**TOOL, "parameters": SCHEMA}}]
    elif kind == "schema":
        body["format"] = SCHEMA
    return body


def ollama_generate(kind: str) -> dict[str, Any]:
    """Ollama's generate."""
    body: dict[str, Any] = {"prompt": question(kind), "stream": False}
    if kind == "image":
        body["images"] = [FILES[kind][1]]
    elif kind == "schema":
        body["format"] = SCHEMA
    return body


def question(kind: str) -> str:
    """The question; a longer one for "text"."""
    return f"{QUESTION} {QUESTION}" if kind == "text" else QUESTION
