"""Messy outputs of models, whole, in pieces and one character at a time."""

from __future__ import annotations

import json
from itertools import product

import pytest

from abstractcore.tools.prompted import TOOL_FORMATS, ParsedCall, Piece, tool_format
from tests.core.tools.prompted.messy_outputs import TOOLS, accepted, refused

SIZES = (1, 3, 7, 1_000_000)
every_format = pytest.mark.parametrize("name", TOOL_FORMATS)


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


@every_format
def test_output_has_its_calls(name: str) -> None:
    for case, size in product(accepted(name), SIZES):
        where = f"{case.output!r} in pieces of {size}"
        pieces, cut_at = read(name, case.output, size)
        calls = [piece for piece in pieces if isinstance(piece, ParsedCall)]
        assert [(call.name, json.loads(call.arguments_text)) for call in calls] == list(case.calls), where
        assert "".join(piece for piece in pieces if isinstance(piece, str)) == case.text, where
        assert cut_at == case.cut_at, where
        assert next((call.repair for call in calls if call.repair), None) == case.repair, where


@every_format
def test_output_stays_text(name: str) -> None:
    for text, size in product(refused(name), SIZES):
        where = f"{text!r} in pieces of {size}"
        pieces, cut_at = read(name, text, size)
        assert pieces == ([text] if text else []), where
        assert cut_at is None, where
