"""Cache points of content blocks and tools, written and read."""

from __future__ import annotations

from typing import Any

from abstractcore.errors import InvalidInputError
from abstractcore.schema import CachePoint, CallWarning

from ...common.conversations import append_block, is_plain
from ...common.reading import Object, as_object
from .dialect import CacheField
from .vocabulary import WARNINGS


def add_cache(
    block: Object, point: CachePoint | None, path: str, cache: CacheField | None, warnings: list[CallWarning]
) -> Object:
    """Returns the content block or tool with its cache point, or with a warning if it cannot have one."""
    if point is None:
        return block
    if cache is None or not (cache.tools if block["type"] == "function" else block["type"] in cache.blocks):
        warnings.append(WARNINGS.field("cache", path))
        return block
    names = {seconds: name for name, seconds in cache.ttls.items()}
    block[cache.name] = dict(cache.value)
    if point.ttl in names:
        block[cache.name]["ttl"] = names[point.ttl]
    elif point.ttl is not None:
        message = f"the cache TTLs of this provider are {' and '.join(map(str, names))} seconds"
        warnings.append(CallWarning("cache_ttl_left_out", f"{path}.cache.ttl", message, point.ttl))
    return block


def append_content(content: list[Object], block: Object, cache: CacheField | None) -> None:
    """Appends a content block. A plain text is joined to the text after it, also if that one has a cache point."""
    marked = content and cache is not None and block.keys() == {"type", "text", cache.name}
    if marked and is_plain(content[-1]):
        content[-1] = {**block, "text": content[-1]["text"] + block["text"]}
    else:
        append_block(content, block)


def read_cache(data: Object, path: str, cache: CacheField | None) -> CachePoint | None:
    """Returns the cache point of a content block or tool; raises `InvalidInputError` for an unknown TTL."""
    value: Any = None if cache is None else data.get(cache.name)
    if cache is None or value is None:
        return None
    ttl = as_object(value).get("ttl")
    if ttl is not None and ttl not in cache.ttls:
        raise InvalidInputError(f"use {' or '.join(map(repr, cache.ttls))}", path=f"{path}.{cache.name}.ttl")
    return CachePoint(None if ttl is None else cache.ttls[ttl])


def cache_names(cache: CacheField | None) -> tuple[str, ...]:
    """Returns the name of the field, which is not an option; nothing without one."""
    return () if cache is None else (cache.name,)
