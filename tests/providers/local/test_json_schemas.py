"""Schemas of a public benchmark on the embedded model: the answer is valid or truncated, and the error says so.

`json_schema_bench.jsonl` has 50 schemas of JSONSchemaBench (Geng et al., arXiv 2501.10868), each with its path in
https://github.com/guidance-ai/jsonschemabench at commit ba103c73. The first 12 are tested here, all of them in
`benchmarks/outputs.py`.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from abstractcore import LLM, BadRequestError, OutputValidationError

pytestmark = [pytest.mark.process, pytest.mark.weights]

_ROWS = [json.loads(line) for line in (Path(__file__).parent / "json_schema_bench.jsonl").read_text().splitlines()]
_TESTED = 12


@pytest.mark.parametrize("row", _ROWS[:_TESTED], ids=lambda row: Path(row["path"]).stem)
def test_answer_is_valid_or_truncated(small_llm: LLM, row: dict[str, Any]):
    request: dict[str, Any] = {"max_output_tokens": 128, "output_retries": 0}
    ends: list[str] = []
    try:
        output = small_llm.generate("Write a short example.", response_model=row["schema"], **request).output
        jsonschema.validate(output, row["schema"])
    except OutputValidationError as error:
        ends.append("" if error.partial is None else error.partial.finish_reason)
    assert ends in ([], ["length"])


def held_to(keyword: str, value: object) -> dict[str, Any]:
    """A schema of an object with one text that has this keyword."""
    return {"type": "object", "properties": {"name": {"type": "string", keyword: value}}, "required": ["name"]}


@pytest.mark.parametrize(
    ("keyword", "value"), [("pattern", "^(?=x)y$"), ("pattern", r"^(a)\1$"), ("not", {"minLength": 1})]
)
def test_keyword_that_the_grammar_leaves_out_is_checked_in_the_answer(small_llm: LLM, keyword: str, value: object):
    schema = held_to(keyword, value)
    with pytest.raises(OutputValidationError) as caught:
        small_llm.generate("Write a name.", response_model=schema, max_output_tokens=32, output_retries=0)
    partial = caught.value.partial
    assert partial is not None
    assert caught.value.problems or partial.finish_reason == "length"


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        ({"type": "object", "properties": {"a": False}, "required": ["a"]}, "#/properties/a"),
        (held_to("minLength", 100_000), "grammar"),
    ],
    ids=["false", "minLength"],
)
def test_schema_without_a_grammar_is_a_typed_error_that_says_so(small_llm: LLM, schema: dict[str, Any], said: str):
    with pytest.raises(BadRequestError, match=said):
        small_llm.generate("Write a name.", response_model=schema, max_output_tokens=32, output_retries=0)
