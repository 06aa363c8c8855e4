"""Calls of hosted tools: an item has both the call and its result."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from typing import cast

from abstractcore.errors import ServerError
from abstractcore.schema import (
    Blob,
    Citation,
    ContentPart,
    HostedToolCall,
    HostedToolResult,
    ImagePart,
    Part,
    SchemaError,
    TextPart,
    to_data,
)

from ...common.reading import Object, object_of, objects_of, text_of

MCP_CALL = "mcp_call"
_QUESTIONS = {
    "code_interpreter_call": ("code_interpreter", ("code",)),
    "file_search_call": ("file_search", ("queries",)),
    "image_generation_call": ("image_generation", ()),
    MCP_CALL: ("mcp", ("arguments",)),
    "web_search_call": ("web_search", ("action",)),
}
"""The tool of each type of item, and the fields of its call."""
_SOURCES = "sources"
_ANSWERS = ("outputs", "results", "output", "result", "error")
_NEEDED = {"code_interpreter_call": "outputs", "image_generation_call": "result"}
"""Results that are in the item even if they are empty."""
HOSTED_TYPES = frozenset(_QUESTIONS)


def item_type(call: HostedToolCall, provider: str) -> object:
    """Returns the type of the item of a provider's call; None if it is of another one."""
    asked = call.provider_metadata.get(provider)
    return asked.get("type") if isinstance(asked, Mapping) else None


def read_hosted(item: Object, provider: str) -> list[Part]:
    """Returns the call, and the result if there is one; raises `ServerError` for an image that is not base64."""
    kind, id = str(item["type"]), text_of(item, "id") or ""
    asked, given = _split(item)
    call = HostedToolCall(id, _name(item, kind), _arguments(asked, kind), {provider: asked})
    if not given:
        return [call]
    content = _content({**asked, **given}, kind)
    if isinstance(given.get("result"), str) and kind == "image_generation_call":
        del given["result"]
    return [call, HostedToolResult(id, content, {provider: given} if given else {})]


def _split(item: Object) -> tuple[Object, Object]:
    """Returns the call's fields and the result's. The sources of a search are within its action."""
    asked = {name: value for name, value in item.items() if name not in _ANSWERS}
    given = {name: item[name] for name in _ANSWERS if item.get(name) is not None}
    action = asked.get("action")
    if isinstance(action, dict) and _SOURCES in action:
        asked["action"] = {name: value for name, value in cast(Object, action).items() if name != _SOURCES}
        given[_SOURCES] = action[_SOURCES]
    return asked, given


def _joined(asked: Object, given: Object) -> Object:
    """Returns the item with this call and result."""
    if _SOURCES not in given:
        return {**asked, **given}
    rest = {name: value for name, value in given.items() if name != _SOURCES}
    return {**asked, **rest, "action": {**object_of(asked, "action"), _SOURCES: given[_SOURCES]}}


def _name(item: Object, kind: str) -> str:
    return text_of(item, "name") or "mcp" if kind == MCP_CALL else _QUESTIONS[kind][0]


def _arguments(item: Object, kind: str) -> str:
    if kind == MCP_CALL:
        return text_of(item, "arguments") or ""
    asked = {name: item[name] for name in _QUESTIONS[kind][1] if item.get(name) is not None}
    return json.dumps(asked, ensure_ascii=False)


def _content(item: Object, kind: str) -> tuple[ContentPart, ...]:
    if kind == "image_generation_call":
        return (ImagePart(_image(text_of(item, "result") or "", text_of(item, "output_format"))),)
    content: list[ContentPart] = []
    for output in objects_of(item, "outputs"):
        url = text_of(output, "url") or ""
        if url.startswith(("https://", "http://")):
            content.append(ImagePart(Blob.from_url(url, "image/*")))
        content.append(TextPart(text_of(output, "logs") or ""))
    content += [_found(result, text_of(result, "text") or "") for result in objects_of(item, "results")]
    content += [_found(source, f"{_address_of(source)}\n") for source in objects_of(item, _SOURCES)]
    content.append(TextPart(text_of(item, "output") or ""))
    return tuple(content)


def _found(result: Object, text: str) -> TextPart:
    """Returns the results of a search, with their URLs."""
    address = _address_of(result)
    if not address:
        return TextPart(text)
    kind: Object = {"type": "file_citation"} if result.get("file_id") else {}
    title = text_of(result, "filename") or text_of(result, "title")
    return TextPart(text, (Citation(address, title, provider_metadata=kind),))


def _address_of(result: Object) -> str:
    return text_of(result, "file_id") or text_of(result, "url") or ""


def _image(data: str, format: str | None) -> Blob:
    try:
        return Blob.from_bytes(base64.b64decode(data, validate=True), f"image/{format or 'png'}")
    except ValueError:
        raise ServerError("the image in the response is not base64") from None


def partial_image(event: Object) -> HostedToolResult:
    """Returns a partial image of a stream."""
    blob = _image(text_of(event, "partial_image_b64") or "", text_of(event, "output_format"))
    return HostedToolResult(text_of(event, "item_id") or "", (ImagePart(blob),))


def write_hosted(call: HostedToolCall, result: Part | None, provider: str) -> Object | None:
    """Returns the item of `call` and `result`; None if they are not this provider's, or were changed."""
    asked = call.provider_metadata.get(provider)
    if not isinstance(asked, Mapping) or asked.get("type") not in HOSTED_TYPES:
        return None
    item = cast(Object, to_data(asked))
    needed = _NEEDED.get(cast(str, item["type"]))
    expected: list[Part] = [call]
    if needed is not None:
        item[needed] = None
    if isinstance(result, HostedToolResult):
        item = _joined(item, _given(result, provider))
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
