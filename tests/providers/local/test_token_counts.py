"""Tokens counted by the embedded model: what it then reports of a call, and what the estimate is beside them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import BaseModel

from abstractcore import LLM, Message, OutputValidationError, ToolCall, tool
from abstractcore.schema.token_counts import text_tokens
from tests.documents import ROOT

pytestmark = pytest.mark.weights

CHINESE = (
    "港口的夜晚十分安静。渡轮在七点半离开码头。船上只有十几名乘客、大多数是下班回家的工人。海面上吹来潮湿的风。灯塔的光每隔十秒"
    "扫过一次防波堤。售票员告诉我们明天因为大雾第一班船会推迟到九点。票价保持不变、成人十二元、儿童六元。"
)


class City(BaseModel):
    """A city."""

    name: str
    inhabitants: int


@tool
def weather(city: str, days: int = 1) -> str:
    """Returns the weather of a city for the next days."""
    return f"{city}: sunny for {days} days"


CALLED = Message("assistant", (ToolCall("call_1", "weather", '{"city": "Oslo"}'),))
REQUESTS: dict[str, dict[str, Any]] = {
    "text": {},
    "system": {"system_prompt": "Answer in one word."},
    "turns": {"messages": [Message.user("Hello."), Message.assistant("Hello! How can I help?")]},
    "tools": {"tools": [weather]},
    "results": {
        "messages": [Message.user("The weather?"), CALLED, Message.tool("call_1", "sunny")],
        "tools": [weather],
    },
    "schema": {"response_model": City, "output_retries": 0},
    "chinese": {"system_prompt": CHINESE},
}


def reported(llm: LLM, request: dict[str, Any]) -> int | None:
    try:
        return llm.generate("Which city is it?", max_output_tokens=1, **request).usage.input
    except OutputValidationError as error:  # an answer of one token is not an object
        return error.response.usage.input


def test_count_is_the_number_of_tokens_that_the_model_reports(small_llm: LLM):
    walked, counts = 0, {}
    for name, request in REQUESTS.items():
        counted = small_llm.count_tokens("Which city is it?", **request)
        assert (counted, counted.estimated) == (reported(small_llm, request), False), name
        counts[name] = counted
        walked += 1
    assert walked == 7
    assert all(counts[name] > counts["text"] for name in ("turns", "tools", "results", "chinese"))


def test_count_of_a_model_with_native_tools_is_what_it_reports(stronger_llm: LLM):
    counted = stronger_llm.count_tokens("Which city is it?", **REQUESTS["results"])
    assert counted == reported(stronger_llm, REQUESTS["results"]) > 200


def texts() -> dict[str, str]:
    """Texts of the kinds that users send."""
    schema = json.loads((ROOT / "server/abstractcore_server/request_schemas.json").read_text())
    return {
        "prose": (ROOT / "docs/decisions/0083-decisions-before-a-call.md").read_text(),
        "code": (ROOT / "abstractcore/concurrency/time_limits.py").read_text(),
        "json": (ROOT / "providers/abstractcore_providers/catalogue/groq.jsonl").read_text()[:4000],
        "tools": json.dumps(schema)[:4000],
        "chinese": CHINESE,
    }


def counted(llm: LLM, text: str) -> int:
    return llm.count_tokens(f"{text} .") - llm.count_tokens(".")


def test_estimate_of_a_text_is_about_what_a_tokenizer_counts(small_llm: LLM):
    found = {name: text_tokens(text) / counted(small_llm, text) for name, text in texts().items()}

    assert all(0.4 < ratio < 2.5 for ratio in found.values()), found
