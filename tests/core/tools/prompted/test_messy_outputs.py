"""Messy outputs of models, whole, in pieces and one character at a time."""

from __future__ import annotations

import json

import pytest

from abstractcore.tools.prompted import TOOL_FORMATS, ParsedCall, Piece, tool_format

from .messy_outputs import TOOLS, Accepted, accepted, refused

ACCEPTED = [
    pytest.param(name, case, id=f"{name}-{i}") for name in TOOL_FORMATS for i, case in enumerate(accepted(name))
]
REFUSED = [pytest.param(name, text, id=f"{name}-{i}") for name in TOOL_FORMATS for i, text in enumerate(refused(name))]


def read(name: str, text: str, size: int, *, truncated: bool = False) -> tuple[list[Piece], str | None]:
    """Returns the pieces of a text that arrives in pieces of `size`, adjacent texts joined, and where it was cut."""
    parser = tool_format(name).parser(TOOLS)
    found: list[Piece] = []
    for index in range(0, len(text), size):
        found += parser.feed(text[index : index + size])
    found += parser.finish(truncated=truncated)
    joined: list[Piece] = []
    for piece in found:
        if isinstance(piece, str) and joined and isinstance(joined[-1], str):
            joined[-1] += piece
        else:
            joined.append(piece)
    return joined, parser.cut_at


def test_there_are_fifteen_of_each_kind() -> None:
    for name in TOOL_FORMATS:
        assert len(accepted(name)) >= 15, name
        assert len(set(refused(name))) >= 15, name


@pytest.mark.parametrize("size", [1, 3, 7, 1_000_000])
@pytest.mark.parametrize(("name", "case"), ACCEPTED)
def test_output_has_its_calls(name: str, case: Accepted, size: int) -> None:
    pieces, cut_at = read(name, case.output, size)
    calls = [piece for piece in pieces if isinstance(piece, ParsedCall)]
    assert [(call.name, json.loads(call.arguments_text)) for call in calls] == list(case.calls)
    assert "".join(piece for piece in pieces if isinstance(piece, str)) == case.text
    assert cut_at == case.cut_at
    assert next((call.repair for call in calls if call.repair), None) == case.repair


@pytest.mark.parametrize("size", [1, 3, 7, 1_000_000])
@pytest.mark.parametrize(("name", "text"), REFUSED)
def test_output_stays_text(name: str, text: str, size: int) -> None:
    pieces, cut_at = read(name, text, size)
    assert pieces == ([text] if text else [])
    assert cut_at is None
