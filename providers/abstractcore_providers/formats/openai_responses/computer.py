"""Results of computer actions: screenshots."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

from abstractcore.errors import UnsupportedContentError
from abstractcore.schema import CallWarning, ImagePart, ToolResult

from ...common.call_options import fields_for, read_options, with_options_for
from ...common.reading import Object, get_object, get_text
from .content import image_address
from .read_content import read_blob
from .vocabulary import WARNINGS

_OUTPUT_FIELDS = frozenset({"type", "id", "call_id", "status", "output"})
_SCREENSHOT = "computer_screenshot"
_SCREENSHOT_FIELDS = frozenset({"type", "image_url", "file_id"})


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
    return {"type": "computer_call_output", "call_id": result.call_id, "output": output, **fields_for(result, provider)}


def read_screenshot(item: Object, path: str, provider: str) -> ToolResult:
    """Reads the result in a client's item; raises `InvalidInputError` with the path of what is wrong."""
    output = get_object(item.get("output"), f"{path}.output")
    blob = read_blob(output, "image_url", "image/*", f"{path}.output", provider)
    image = ImagePart(blob, provider_options=read_options(output, _SCREENSHOT_FIELDS, provider))
    options = read_options(item, _OUTPUT_FIELDS, provider)
    return ToolResult(get_text(item.get("call_id"), f"{path}.call_id"), (image,), provider_options=options)
