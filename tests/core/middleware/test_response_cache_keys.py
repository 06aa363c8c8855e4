"""What separates the answers of a cache: everything that may change an answer, and nothing else."""

from __future__ import annotations

import subprocess
import sys
from decimal import Decimal
from typing import Any

import pytest
from pydantic import BaseModel

from abstractcore import Budget, Message, Price, ResponseCache, create_llm, tool
from abstractcore.middleware.response_cache.entries import key_of
from abstractcore.schema import ModelReply, TextPart
from tests.chaos_server import PATIENCE_SECONDS

PNG = bytes.fromhex("89504e470d0a1a0a")
PIXELS = [
    PNG + bytes.fromhex(rest)
    for rest in (
        "0000000d4948445200000001000000010802000000907753de0000000c4944415478da63f8cfc000000301010018dd8db0"
        "0000000049454e44ae426082",
        "0000000d4948445200000001000000010802000000907753de0000000c4944415478da6360606000000004000127c7a0e1"
        "0000000049454e44ae426082",
    )
]


class ReasonFirst(BaseModel):
    reason: str
    answer: str


class AnswerFirst(BaseModel):
    answer: str
    reason: str


AnswerFirst.__name__ = AnswerFirst.__qualname__ = ReasonFirst.__name__


@tool
def weather(city: str) -> str:
    """Returns the weather."""
    return city


@tool(name="weather")
def weather_of_day(city: str, day: str) -> str:
    """Returns the weather."""
    return city + day


@tool(name="weather")
def weather_with_days_first(day: str, city: str) -> str:
    """Returns the weather."""
    return city + day


def scripted(cache: ResponseCache, *replies: Any, **options: Any):
    return create_llm("scripted", model="small", replies=list(replies), middleware=[cache], **options)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({}, {"system_prompt": "Be brief."}),
        ({"system_prompt": "Be brief."}, {"system_prompt": "Be brief. "}),
        ({"temperature": 0.1}, {"temperature": 0.2}),
        ({"seed": 1}, {"seed": 2}),
        ({"top_p": 0.5}, {"top_p": 0.6}),
        ({"stop": ["a"]}, {"stop": ["b"]}),
        ({"max_output_tokens": 5}, {"max_output_tokens": 6}),
        ({"thinking": "low"}, {"thinking": "high"}),
        ({"provider_options": {"scripted": {"mode": 1}}}, {"provider_options": {"scripted": {"mode": 2}}}),
        ({"headers": {"x-user": "ann"}}, {"headers": {"x-user": "bob"}}),
        ({"headers": {"authorization": "Bearer aaaaaaaaaaaa"}}, {"headers": {"authorization": "Bearer bbbbbbbbbbbb"}}),
        ({}, {"tools": [weather]}),
        ({"tools": [weather]}, {"tools": [weather_of_day]}),
        ({"tools": [weather_of_day]}, {"tools": [weather_with_days_first]}),
        ({"tools": [weather]}, {"tools": [weather], "tool_choice": "required"}),
        ({"media_policy": {"video": "native"}}, {"media_policy": {"video": "refuse"}}),
        ({"strict": False}, {"strict": True}),
    ],
    ids=str,
)
def test_options_of_calls_separate_answers(one: dict[str, Any], other: dict[str, Any]):
    llm = scripted(ResponseCache(), "first", "second", "third")
    assert [llm.generate("hi", **each).content for each in (one, other, one, other)] == [
        "first", "second", "first", "second",
    ]  # fmt: skip


def test_types_of_answers_separate_them_also_by_the_order_of_their_fields():
    text = '{"reason": "%s", "answer": "x"}'
    llm = scripted(ResponseCache(), text % 1, text % 2, text % 3)
    models = (ReasonFirst, AnswerFirst, dict[str, str], ReasonFirst, AnswerFirst)
    found = [llm.generate("hi", response_model=each).output for each in models]
    reasons = [each["reason"] if isinstance(each, dict) else each.reason for each in found]
    assert reasons == ["1", "2", "3", "1", "2"]
    assert type(found[3]) is ReasonFirst


def test_files_separate_answers_by_their_content_and_not_by_their_place(tmp_path):
    llm = scripted(ResponseCache(), "first", "second", accepts=["image"])
    file, moved = tmp_path / "a.png", tmp_path / "elsewhere"
    moved.mkdir()
    file.write_bytes(PIXELS[0])
    assert llm.generate("hi", media=[file]).content == "first"
    file.write_bytes(PIXELS[1])
    assert llm.generate("hi", media=[file]).content == "second"
    (moved / "a.png").write_bytes(PIXELS[0])
    assert llm.generate("hi", media=[moved / "a.png"]).content == "first"


def test_texts_of_turns_are_not_joined_to_one_question():
    llm = scripted(ResponseCache(), "first", "second", "third")
    user, assistant = Message.user, Message.assistant
    conversations = [
        [user("a"), assistant("b"), user("c")],
        [user("a"), assistant("bc"), user("c")],
        [user("a"), assistant("b"), user("d")],
    ]
    assert [llm.generate(messages=each).content for each in conversations] == ["first", "second", "third"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"base_url": "https://a.example/v1"}, {"base_url": "https://b.example/v1"}),
        ({"api_key": "key-of-one-account"}, {"api_key": "key-of-another-one"}),
        ({"facts": {"context_tokens": 4096}}, {"facts": {"context_tokens": 8192}}),
        ({"accepts": ["image"]}, {"accepts": ["audio"]}),
        ({"vision_model": "openai/gpt-5.4-mini"}, {"vision_model": "openai/gpt-5.4"}),
        ({"video_frames": 2}, {"video_frames": 3}),
        ({"headers": {"openai-organization": "a"}}, {"headers": {"openai-organization": "b"}}),
        ({"temperature": 0.1}, {"temperature": 0.2}),
    ],
    ids=str,
)
def test_settings_of_llms_separate_answers(one: dict[str, Any], other: dict[str, Any]):
    first, second, third = (key_of_a_call(**each) for each in (one, other, one))
    assert first != second
    assert first == third


@pytest.mark.parametrize(
    ("provider", "variable", "one", "other"),
    [
        ("openai", "OPENAI_BASE_URL", "https://a.example/v1", "https://b.example/v1"),
        ("openai", "OPENAI_API_KEY", "key-of-one-account", "key-of-another-one"),
        ("ollama", "OLLAMA_HOST", "a.example:1", "b.example:1"),
        ("bedrock", "AWS_REGION", "us-east-1", "eu-west-1"),
        ("vertex", "GOOGLE_CLOUD_LOCATION", "us-east1", "europe-west4"),
    ],
)
def test_servers_and_accounts_of_the_environment_separate_answers(
    monkeypatch: pytest.MonkeyPatch, provider: str, variable: str, one: str, other: str
):
    monkeypatch.setenv("OPENAI_API_KEY", "k" * 20)
    monkeypatch.setenv("GOOGLE_CLOUD_PROJECT", "project")
    found: list[str] = []
    for value in (one, other, one):
        monkeypatch.setenv(variable, value)
        found.append(key_of_a_call(provider, api_key=None))
    assert found[0] != found[1]
    assert found[0] == found[2]


def test_models_for_files_separate_answers_by_their_settings():
    def captioned_by(url: str) -> str:
        return key_of_a_call(vision_model=create_llm("openai", model="m", api_key="k" * 20, base_url=url))

    assert captioned_by("https://a.example/v1") == captioned_by("https://a.example/v1")
    assert captioned_by("https://a.example/v1") != captioned_by("https://b.example/v1")


@pytest.mark.process
def test_keys_are_the_same_in_other_processes():
    program = (
        "from tests.core.middleware.test_response_cache_keys import key_of_a_call\n"
        "print(key_of_a_call(facts={'context_tokens': 5}, accepts={'image', 'audio', 'video'}))"
    )
    found = {
        subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=PATIENCE_SECONDS
        ).stdout
        for _ in range(2)
    }
    assert len(found) == 1


def test_how_requests_are_sent_does_not_separate_answers():
    keys = {
        key_of_a_call(**each)
        for each in ({}, {"timeout": 5}, {"max_retries": 0}, {"proxy": "http://proxy.example"}, {"verify": False})
    }
    assert len(keys) == 1


def test_functions_that_only_this_process_knows_are_of_one_llm():
    cache = ResponseCache()
    first = create_llm("scripted", replies=[lambda call: "one"], middleware=[cache])
    second = create_llm("scripted", replies=[lambda call: "two"], middleware=[cache])
    assert [first.generate("hi").content, second.generate("hi").content] == ["one", "two"]
    assert first.generate("hi").cached_at is not None


class Prefix:
    """Middleware inside a cache that changes what is asked."""

    def __init__(self, text: str) -> None:
        self.text = text

    async def around_call(self, context, next):
        context.call = context.call.with_(messages=[Message.user(self.text)])
        return await next(context)


def test_answer_to_what_inner_middleware_asked_instead_is_not_kept():
    cache = ResponseCache()
    french = create_llm("scripted", replies=["bonjour"], middleware=[cache, Prefix("In French")])
    german = create_llm("scripted", replies=["guten Tag"], middleware=[cache, Prefix("In German")])
    assert [french.generate("hi").content, german.generate("hi").content] == ["bonjour", "guten Tag"]


class Tagging:
    """Middleware inside a cache that changes nothing of the question."""

    async def around_call(self, context, next):
        context.call = context.call.with_(tags={"team": "a"})
        return await next(context)


def test_inner_middleware_that_only_adds_tags_keeps_the_answer():
    llm = create_llm("scripted", replies=["one"], middleware=[ResponseCache(), Tagging()])
    assert [llm.generate("hi").content, llm.generate("hi").content] == ["one", "one"]


def test_answer_of_the_model_that_a_budget_chose_is_not_kept(call_style):
    cache = ResponseCache()
    cheap = create_llm("scripted", model="small", replies=["cheap"], price=Price(input=0, output=0))
    price = {"price": Price(input=1_000_000, output=1_000_000)}
    limited = [Budget(usd=Decimal("0.000001"), on_exceeded=cheap)]
    poor = scripted(cache, "dear", budgets=limited, **price)
    rich = scripted(cache, "dear", **price)
    assert call_style.generate(poor, "hi").content == "cheap"
    assert call_style.generate(rich, "hi").content == "dear"
    assert call_style.generate(poor, "hi").content == "dear"


def key_of_a_call(provider: str = "openai", **options: Any) -> str:
    """Returns the key of a call of an LLM with these options."""
    keys: list[str] = []

    class Keys:
        def for_settings(self, digest):
            self.digest = digest
            return self

        async def around_call(self, context, next):
            keys.append(key_of(context, self.digest()))
            return ModelReply((TextPart("answer"),), "stop")

    llm = create_llm(provider, model="m", middleware=[Keys()], **{"api_key": "k" * 20, **options})
    llm.generate("hi")
    return keys[0]


def test_span_of_a_call_does_not_separate_answers(call_style):
    cache = ResponseCache()
    llm = create_llm("scripted", replies=["one", "two"], middleware=[cache])
    spans = [f"00-{'1' * 32}-{number:016x}-01" for number in (1, 2)]
    found = [
        call_style.generate(llm, "hi", headers={"traceparent": span, "tracestate": f"vendor={span}"}) for span in spans
    ]
    assert [each.content for each in found] == ["one", "one"]
    assert call_style.generate(llm, "hi", headers={"x-other": "1"}).content == "two"
