"""Adjusts user messages and tool results to the format, with a warning for everything that it cannot express."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeVar

from abstractcore.errors import UnsupportedContentError
from abstractcore.schema import AudioPart, CachePoint, CallWarning, Message, OpaquePart, Part, TextPart, ToolResult

from ...common.call_options import with_options_for
from .content import CONTENT_FIELDS, CONTENT_TYPES, OUTPUT_FIELDS, can_be_kept_for
from .items import item_from_user
from .vocabulary import WARNINGS

P = TypeVar("P", bound=Part)


def fit_user_parts(message: Message, path: str, provider: str, warnings: list[CallWarning]) -> Sequence[Part]:
    """Adjusts a user's or a system's message.

    Raises `UnsupportedContentError` for an item that answers the model among other parts.
    """
    if _is_plain(message.parts):
        return message.parts
    parts: list[Part] = []
    own = False
    for index, part in enumerate(message.parts):
        part_path = f"{path}[{index}]"
        if not isinstance(part, OpaquePart):
            parts.append(_plain(_cacheable(part, part_path, warnings), part_path, provider, warnings))
        elif message.role == "user" and part.provider == provider and item_from_user(part) is not None:
            own = True
            parts.append(part)
        else:
            warnings.append(WARNINGS.part(part, part_path))
    if own and len(parts) > 1:
        raise UnsupportedContentError(
            f"{path}: an item that answers the model must be in its own message.",
            hint="Put it into a user message without other parts.",
        )
    return parts


def _is_plain(parts: Sequence[Part]) -> bool:
    """Whether it is only one text, as most messages are."""
    part = parts[0]
    if len(parts) > 1 or not isinstance(part, TextPart):
        return False
    return part.cache is None and not part.citations and not part.provider_options


def _cacheable(part: P, path: str, warnings: list[CallWarning]) -> P:
    """Returns `part` with its cache point as far as the format supports it."""
    cache: CachePoint | None = getattr(part, "cache", None)
    if cache is None:
        return part
    if isinstance(part, AudioPart):
        return without_cache(part, path, warnings)
    if can_be_kept_for(cache.ttl):
        return part
    message = "the cache TTLs of this provider are 30 minutes and 12 hours"
    warnings.append(CallWarning("cache_ttl_left_out", f"{path}.cache.ttl", message, cache.ttl))
    changed: Any = replace(part, cache=CachePoint())
    return changed


def without_cache(item: Any, path: str, warnings: list[CallWarning]) -> Any:
    """Returns `item` without its cache point, with a warning if it has one."""
    if item.cache is None:
        return item
    warnings.append(WARNINGS.field("cache", path))
    return replace(item, cache=None)


def _plain(part: P, path: str, provider: str, warnings: list[CallWarning]) -> P:
    """Returns `part` without the fields beside its content."""
    part = with_options_for(part, path, provider, CONTENT_FIELDS.get(CONTENT_TYPES.get(type(part), ""), ()), warnings)
    if isinstance(part, TextPart) and part.citations:
        warnings.append(WARNINGS.field("citations", path))
        return replace(part, citations=())
    if isinstance(part, AudioPart):
        WARNINGS.fields(part, path, ("transcript", "id"), warnings)
        return replace(part, transcript=None, id=None)
    return part


def fit_result(part: Part, path: str, provider: str, warnings: list[CallWarning]) -> ToolResult:
    """Adjusts a tool's result; raises `UnsupportedContentError` with the path of audio in it."""
    assert isinstance(part, ToolResult)
    if _goes_as_it_is(part):
        return part
    result = with_options_for(part, path, provider, OUTPUT_FIELDS, warnings)
    if result.is_error:
        warnings.append(CallWarning("error_flag_left_out", f"{path}.is_error", "results cannot be marked as errors"))
    result = _cacheable(result, path, warnings) if result.content else without_cache(result, path, warnings)
    content = [_given(result, i, f"{path}.content[{i}]", provider, warnings) for i in range(len(result.content))]
    return replace(result, content=tuple(content), is_error=False)


def _goes_as_it_is(result: ToolResult) -> bool:
    """Whether it is a text without anything to warn of, as most results are."""
    if result.cache is not None or result.is_error or result.provider_options:
        return False
    return bool(result.content) and _is_plain(result.content)


def _given(result: ToolResult, index: int, path: str, provider: str, warnings: list[CallWarning]) -> Any:
    """Adjusts content of a result. The cache point of its last item is the result's own."""
    part = result.content[index]
    if isinstance(part, AudioPart):
        raise UnsupportedContentError(
            f"{path}: the result of tool call {result.call_id!r} has audio, which is not supported there.",
            hint="Put it into a user message after the result.",
        )
    is_last = index == len(result.content) - 1
    cached = without_cache(part, path, warnings) if is_last else _cacheable(part, path, warnings)
    return _plain(cached, path, provider, warnings)
