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

from abstractcore import LLM, OutputValidationError

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
