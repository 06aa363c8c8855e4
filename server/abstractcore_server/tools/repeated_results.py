"""Results of tool calls that a request has twice: Gemini CLI repeats them when it resumes a conversation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias, cast

import jiter

from abstractcore.schema import CallWarning

from ..responses.items import compact

Object: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class _Form:
    """Where a format has results: in the list `turns`, or in the list `parts` of each of them. `id` returns the id of
    the call that one answers, None for anything else.
    """

    turns: str
    id: Callable[[Object], object]
    parts: str | None = None

    def id_of(self, item: object) -> str | None:
        """Returns the id of the call that an item answers."""
        id = self.id(cast("Object", item)) if isinstance(item, dict) else None
        return id if isinstance(id, str) else None


def _of_message(message: Object) -> object:
    return message.get("tool_call_id") if message.get("role") == "tool" else None


def _of_part(part: Object) -> object:
    response = part.get("functionResponse")
    return cast("Object", response).get("id") if isinstance(response, dict) else None


_FORMS: Final[Mapping[str, _Form]] = {
    "anthropic_messages": _Form("messages", lambda block: block.get("tool_use_id"), "content"),
    "cohere_chat": _Form("messages", _of_message),
    "gemini": _Form("contents", _of_part, "parts"),
    "ollama": _Form("messages", _of_message),
    "openai_chat": _Form("messages", _of_message),
    "openai_responses": _Form("input", lambda item: item.get("call_id") if "output" in item else None),
}


def without_repeated_results(format: str, body: bytes) -> tuple[bytes, Sequence[CallWarning]]:
    """Returns a request without results that stand between the same turns of the model already, and equal them, with a
    warning for each; the request as it is if there are none.
    """
    form, data = _FORMS.get(format), cast("object", jiter.from_json(body))
    turns = cast("Object", data).get(form.turns) if form is not None and isinstance(data, dict) else None
    if form is None or not isinstance(turns, list):
        return body, ()
    warnings: list[CallWarning] = []
    seen: dict[str, object] = {}
    kept: list[object] = []
    for index, turn in enumerate(cast("list[object]", turns)):
        items = _items(turn, form)
        if not any(map(form.id_of, items)):
            seen = {}
            kept.append(turn)
            continue
        path = f"{form.turns}[{index}]"
        rest = _new(items, path if form.parts is None else f"{path}.{form.parts}", form, seen, warnings)
        if form.parts is None:
            kept += rest
        elif rest:
            kept.append({**cast("Object", turn), form.parts: rest})
    return (compact({**cast("Object", data), form.turns: kept}), warnings) if warnings else (body, ())


def _items(turn: object, form: _Form) -> Sequence[object]:
    """Returns the possible results of one turn: itself, or its parts."""
    if form.parts is None:
        return [turn]
    parts = cast("Object", turn).get(form.parts) if isinstance(turn, dict) else None
    return cast("list[object]", parts) if isinstance(parts, list) else []


def _new(
    items: Sequence[object], path: str, form: _Form, seen: dict[str, object], warnings: list[CallWarning]
) -> list[object]:
    """Returns the items that are not there yet; adds a warning for each of the others."""
    rest: list[object] = []
    for place, item in enumerate(items):
        id = form.id_of(item)
        if id is not None and id in seen and seen[id] == item:
            where = path if form.parts is None else f"{path}[{place}]"
            warnings.append(CallWarning("result_left_out", where, f"the result of the call {id!r} is there already"))
            continue
        rest.append(item)
        if id is not None:
            seen[id] = item
    return rest
