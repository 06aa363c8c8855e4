"""Computer actions, which the model requests and the caller runs: tool calls whose results are screenshots.

The item's further fields are options of the call, including its type.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import cast

from abstractcore.errors import UnsupportedContentError
from abstractcore.schema import CallWarning, ImagePart, Message, SchemaError, ToolCall, ToolResult, to_data

from ...common.item_options import fields_for, read_options, with_options_for
from ...common.json_reading import Object, text_of
from ...common.reading import get_object, get_text
from .content import image_address
from .read_content import read_blob
from .vocabulary import WARNINGS

CALL, OUTPUT = "computer_call", "computer_call_output"
NAME = "computer"
"""The name of the tool in calls."""
_ASKED = ("action", "actions")
_CALL_FIELDS = frozenset({"call_id", "status", *_ASKED})
_OUTPUT_FIELDS = frozenset({"type", "id", "call_id", "status", "output"})
_SCREENSHOT = "computer_screenshot"
_SCREENSHOT_FIELDS = frozenset({"type", "image_url", "file_id"})


def read_computer_call(item: Object, provider: str) -> ToolCall:
    """Reads the tool call in an item, with the vendor's id, which may be empty."""
    id = text_of(item, "call_id") or text_of(item, "id") or ""
    asked = {name: item[name] for name in _ASKED if item.get(name) is not None}
    text = json.dumps(asked, ensure_ascii=False)
    return ToolCall(id, NAME, text, provider_options=read_options(item, _CALL_FIELDS, provider))


def computer_item(call: ToolCall, provider: str) -> Object | None:
    """Returns the item of `call`; None if it was not read from one."""
    options = fields_for(call, provider)
    if not options or options.get("type") != CALL or call.arguments is None:
        return None
    asked = {name: value for name, value in call.arguments.items() if name in _ASKED}
    item = cast(Object, to_data({"call_id": call.id, **asked, **options, "status": "completed"}))
    same = replace(call, signature=None, cache=None, provider_options={provider: options})
    try:
        return item if read_computer_call(item, provider) == same else None
    except SchemaError:
        return None


def computer_calls(message: Message, provider: str) -> frozenset[str]:
    """Returns the ids of the calls of actions in a message."""
    asked = (part for part in message.parts if isinstance(part, ToolCall) and part.provider_options)
    return frozenset(call.id for call in asked if computer_item(call, provider) is not None)


def fit_screenshot(result: ToolResult, path: str, provider: str, warnings: list[CallWarning]) -> ToolResult:
    """Adjusts the result of an action; raises `UnsupportedContentError` unless it is one image."""
    image = result.content[0] if len(result.content) == 1 else None
    if not isinstance(image, ImagePart):
        raise UnsupportedContentError(
            f"{path}.content: the result of a computer action must be one image, its screenshot."
        )
    for item, item_path, names in (
        (result, path, ("is_error", "cache")),
        (image, f"{path}.content[0]", ("detail", "cache")),
    ):
        WARNINGS.fields(item, item_path, names, warnings)
    image = replace(image, detail=None, cache=None)
    image = with_options_for(image, f"{path}.content[0]", provider, _SCREENSHOT_FIELDS, warnings)
    result = replace(result, content=(image,), is_error=False, cache=None)
    return with_options_for(result, path, provider, _OUTPUT_FIELDS, warnings)


def write_screenshot(result: ToolResult, path: str, provider: str) -> Object:
    """Returns the item for a result of `fit_screenshot`."""
    image = cast(ImagePart, result.content[0])
    source = image_address(image, f"{path}.content[0]", provider)
    output = {"type": _SCREENSHOT, **source, **fields_for(image, provider)}
    return {"type": OUTPUT, "call_id": result.call_id, "output": output, **fields_for(result, provider)}


def read_screenshot(item: Object, path: str, provider: str) -> ToolResult:
    """Reads the result in a client's item; raises `InvalidInputError` with the path of what is wrong."""
    output = get_object(item.get("output"), f"{path}.output")
    blob = read_blob(output, "image_url", "image/*", f"{path}.output", provider)
    image = ImagePart(blob, provider_options=read_options(output, _SCREENSHOT_FIELDS, provider))
    options = read_options(item, _OUTPUT_FIELDS, provider)
    return ToolResult(get_text(item.get("call_id"), f"{path}.call_id"), (image,), provider_options=options)
