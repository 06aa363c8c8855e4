"""Typed answers: the partial object of a stream, and the outcomes of 50 schemas on the embedded model."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rounds import Row, Setup, best, cpu_seconds

from abstractcore import AbstractCoreError, OutputValidationError, create_llm
from abstractcore.outputs import output_type
from abstractcore.outputs.partial_output import ItemScanner, PartialOutput
from abstractcore.schema import TextDelta

_ITEM = {"article": "a flat washer of stainless steel", "count": 12, "price": 0.25, "tags": ["steel", "flat"]}
_SIZE = 10_000
_UPDATES = 200
_PIECE = 8
_SCHEMAS = Path(__file__).parent.parent / "tests" / "providers" / "local" / "json_schema_bench.jsonl"


def partial_outputs(setup: Setup) -> list[Row]:
    """An update of `partial_output` of an object of 10 kB, and a character of a list that `elements()` reads."""
    text = json.dumps({"value": [_ITEM] * (_SIZE // len(json.dumps(_ITEM)) + 1)})
    kind = output_type(list[dict[str, Any]])

    def updates() -> None:
        partial = PartialOutput(kind)
        begin = _SIZE - _UPDATES * _PIECE
        partial.next_batch([TextDelta(1, 0, text[:begin])])
        for at in range(begin, _SIZE, _PIECE):
            partial.next_batch([TextDelta(1, 0, text[at : at + _PIECE])])
            partial.mark_read(1)
            assert partial.value

    def items() -> None:
        scanner = ItemScanner()
        for at in range(0, _SIZE, _PIECE):
            scanner.feed(text[at : at + _PIECE])

    ways: dict[str, Callable[[], float]] = {"object": cpu_seconds(updates, _UPDATES), "list": cpu_seconds(items, _SIZE)}
    times = best(ways, setup.rounds)
    return [
        Row("partial_output: an update at 10 kB", times["object"], goal=100e-6),
        Row("elements: a character", times["list"], goal=3e-6),
    ]


def json_schemas(setup: Setup) -> list[Row]:
    """How many of 50 schemas of JSONSchemaBench end valid, truncated at 128 tokens, or in another typed error."""
    llm = create_llm("local", context_size=1024, threads=1, temperature=0)
    rows = [json.loads(line) for line in _SCHEMAS.read_text(encoding="utf-8").splitlines()]
    ends = Counter(_end(llm, row["schema"]) for row in rows[: 12 if setup.quick else None])
    return [Row(f"schemas of JSONSchemaBench: {end}", count, is_count=True) for end, count in ends.items()]


def _end(llm: Any, schema: dict[str, Any]) -> str:
    try:
        llm.generate("Write a short example.", response_model=schema, max_output_tokens=128, output_retries=0)
    except OutputValidationError as error:
        return "truncated" if error.partial is not None and error.partial.finish_reason == "length" else "invalid"
    except AbstractCoreError as error:
        return type(error).__name__
    return "valid"
