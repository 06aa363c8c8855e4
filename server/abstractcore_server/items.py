"""Items of the Responses API: as clients may write them, as they are stored, and pages of them."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from abstractcore.errors import InvalidInputError

from .requests import Request

Item = Mapping[str, Any]

_PREFIXES: Final = {
    "function_call": "fc_",
    "function_call_output": "fco_",
    "message": "msg_",
    "reasoning": "rs_",
}
_LONGEST_TEXT: Final = 200
"""The longest id or type of an item."""
_MOST: Final = 100
_USUAL: Final = 20


def new_id(prefix: str) -> str:
    """Returns an id that no one can guess, as in "conv_6f..."."""
    return f"{prefix}{secrets.token_hex(16)}"


def stored_items(value: object, path: str) -> list[Item]:
    """Returns the items of `input`, or of a conversation: a text is a message of the user, texts are content, and each
    item has an id. Raises `InvalidInputError` for anything else.
    """
    if isinstance(value, str):
        value = [{"role": "user", "content": value}]
    if not isinstance(value, list):
        raise InvalidInputError(f"expected a text or a list of items, got {type(value).__name__}", path=path)
    return [_stored(item, f"{path}[{index}]") for index, item in enumerate(cast("list[object]", value))]


def _stored(item: object, path: str) -> Item:
    if not isinstance(item, dict):
        raise InvalidInputError(f"expected an object, got {type(item).__name__}", path=path)
    given = cast("Item", item)
    kind = _text_at(given, "type", path) or "message"
    id = _text_at(given, "id", path) or new_id(_PREFIXES.get(kind, "item_"))
    found: dict[str, Any] = {**given, "id": id, "type": kind}
    if kind != "message":
        return found
    content = found.get("content")
    if isinstance(content, str):
        of_answer: Item = {"type": "output_text", "text": content, "annotations": []}
        of_others: Item = {"type": "input_text", "text": content}
        found["content"] = [of_answer if found.get("role") == "assistant" else of_others]
    return {"status": "completed", **found}


def _text_at(item: Item, name: str, path: str) -> str | None:
    value = item.get(name)
    if value is not None and not (isinstance(value, str) and len(value) <= _LONGEST_TEXT and value.isprintable()):
        message = f"expected a text of up to {_LONGEST_TEXT} characters, none of them a control character"
        raise InvalidInputError(message, path=f"{path}.{name}")
    return value


def page(items: Sequence[Item], request: Request, *, most: int = _MOST, usual: int = _USUAL) -> dict[str, Any]:
    """Returns a page of a list of items, by the parameters `order`, `after` and `limit` of the request.

    Raises `InvalidInputError` for invalid ones.
    """
    query = request.query_values()
    order = query.get("order", "desc")
    if order not in ("asc", "desc"):
        raise InvalidInputError(f"expected asc or desc, got {order[:40]!r}", path="order")
    limit = query.get("limit", str(usual))
    if not (limit.isdecimal() and len(limit) < 6 and 1 <= int(limit) <= most):
        raise InvalidInputError(f"expected a number from 1 to {most}, got {limit[:40]!r}", path="limit")
    ordered = list(items) if order == "asc" else list(reversed(items))
    after = query.get("after")
    ids = [item["id"] for item in ordered]
    if after is not None and after not in ids:
        raise InvalidInputError(f"there is no item {after[:100]!r}", path="after")
    start = 0 if after is None else ids.index(after) + 1
    found = ordered[start : start + int(limit)]
    return {
        "object": "list",
        "data": found,
        "first_id": found[0]["id"] if found else None,
        "last_id": found[-1]["id"] if found else None,
        "has_more": start + len(found) < len(ordered),
    }
