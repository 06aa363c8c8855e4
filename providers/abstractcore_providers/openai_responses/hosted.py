"""Calls of the provider's own tools: an item holds both what was asked and what the tool gave."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from typing import cast

from abstractcore.errors import ServerError
from abstractcore.schema import (
    Blob,
    ContentPart,
    HostedToolCall,
    HostedToolResult,
    ImagePart,
    Part,
    SchemaError,
    TextPart,
    to_data,
)

from ..json_reading import Object, as_objects, text_of

_QUESTIONS = {
    "code_interpreter_call": ("code_interpreter", ("code",)),
    "computer_call": ("computer_use", ("action", "actions")),
    "file_search_call": ("file_search", ("queries",)),
    "image_generation_call": ("image_generation", ()),
    "mcp_call": ("mcp", ("arguments",)),
    "web_search_call": ("web_search", ("action",)),
}
"""The tool of each type of item, and the fields that say what it was asked."""
_ANSWERS = ("outputs", "results", "output", "result", "error")
_NEEDED = {"code_interpreter_call": "outputs", "image_generation_call": "result"}
"""Answers that stand in the item even if there are none."""
HOSTED_TYPES = frozenset(_QUESTIONS)


def read_hosted(item: Object, provider: str) -> list[Part]:
    """The call, and the result if there is one; raises `ServerError` for an image that is not base64."""
    kind, id = str(item["type"]), text_of(item, "id") or ""
    asked = {name: value for name, value in item.items() if name not in _ANSWERS}
    given = {name: item[name] for name in _ANSWERS if item.get(name) is not None}
    call = HostedToolCall(id, _name(item, kind), _arguments(item, kind), {provider: asked})
    if not given:
        return [call]
    content = _content(item, kind)
    if isinstance(given.get("result"), str) and kind == "image_generation_call":
        del given["result"]
    return [call, HostedToolResult(id, content, {provider: given} if given else {})]


def _name(item: Object, kind: str) -> str:
    return text_of(item, "name") or "mcp" if kind == "mcp_call" else _QUESTIONS[kind][0]


def _arguments(item: Object, kind: str) -> str:
    if kind == "mcp_call":
        return text_of(item, "arguments") or ""
    asked = {name: item[name] for name in _QUESTIONS[kind][1] if item.get(name) is not None}
    return json.dumps(asked, ensure_ascii=False)


def _content(item: Object, kind: str) -> tuple[ContentPart, ...]:
    if kind == "image_generation_call":
        return (ImagePart(_image(text_of(item, "result") or "", text_of(item, "output_format"))),)
    content: list[ContentPart] = []
    for output in as_objects(item.get("outputs")):
        url = text_of(output, "url") or ""
        if url.startswith(("https://", "http://")):
            content.append(ImagePart(Blob.from_url(url, "image/*")))
        content.append(TextPart(text_of(output, "logs") or ""))
    content += [TextPart(text_of(result, "text") or "") for result in as_objects(item.get("results"))]
    content.append(TextPart(text_of(item, "output") or ""))
    return tuple(content)


def _image(data: str, format: str | None) -> Blob:
    try:
        return Blob.from_bytes(base64.b64decode(data, validate=True), f"image/{format or 'png'}")
    except ValueError:
        raise ServerError("the image in the answer is not base64") from None


def partial_image(event: Object) -> HostedToolResult:
    """An image on its way, as it looks so far."""
    blob = _image(text_of(event, "partial_image_b64") or "", text_of(event, "output_format"))
    return HostedToolResult(text_of(event, "item_id") or "", (ImagePart(blob),))


def write_hosted(call: HostedToolCall, result: Part | None, provider: str) -> Object | None:
    """The item that `call` and `result` came from; None if they are not this provider's, or were changed."""
    asked = call.provider_metadata.get(provider)
    if not isinstance(asked, Mapping) or asked.get("type") not in HOSTED_TYPES:
        return None
    item = cast(Object, to_data(asked))
    needed = _NEEDED.get(cast(str, item["type"]))
    expected: list[Part] = [call]
    if needed is not None:
        item[needed] = None
    if isinstance(result, HostedToolResult):
        item |= _given(result, provider)
        expected.append(result)
    try:
        return item if read_hosted(item, provider) == expected else None
    except (SchemaError, ServerError):
        return None


def _given(result: HostedToolResult, provider: str) -> Object:
    given = result.provider_metadata.get(provider)
    answers = cast(Object, to_data(given)) if isinstance(given, Mapping) else {}
    first = result.content[0] if result.content else None
    if not answers and isinstance(first, ImagePart) and first.blob.form in ("bytes", "file"):
        return {"result": base64.b64encode(first.blob.read()).decode("ascii")}
    return answers
