"""Every documented option with values of its type. Checked by `make check`; never run.

`tests/core/client/test_signatures.py` compares the names here with those of the code.
"""

from __future__ import annotations

import io
from decimal import Decimal
from pathlib import Path
from typing import Any, assert_type

import httpx2
import PIL.Image
from openai.types.chat import ChatCompletionMessage, ChatCompletionMessageParam

from abstractcore import (
    Budget,
    CallOptions,
    CallRequest,
    HostedTool,
    Interruption,
    Limits,
    LLMOptions,
    Member,
    Message,
    MessageInput,
    OverloadedError,
    Price,
    Routing,
    TextPart,
    ToolChoice,
    ToolPolicy,
    ToolResult,
    ToolSpec,
    create_llm,
)
from abstractcore.ports import Answer, CallContext, CallNext
from abstractcore.testing import ScriptedReply


class Quiet:
    """A middleware."""

    async def around_call(self, context: CallContext, next: CallNext) -> Answer:
        return await next(context)


async def token() -> str:
    return "token"


llm = create_llm(
    "openai",
    model="m",
    base_url="https://host.test/v1",
    api_key="key",
    accepts=["image"],
    facts={"context_tokens": 65536, "refused": ["top_k"]},
    price=Price(input=2, output="0.5", cached=Decimal("0.25")),
    limits=Limits(requests_per_minute=60, tokens_per_minute=100_000, parallel=8, name="a", store=Path("limits.db")),
    budgets=[Budget(usd=5, per="day", by="tag:user", on_exceeded="openai/gpt-5.4-mini", warn_at=0.8, on_warning=print)],
    max_retries=0,
    middleware=[Quiet()],
    proxy="http://proxy.test",
    verify="/etc/authorities.pem",
    max_connections=10,
    transport="fast",
    http_client=None,
    transcription_model="tiny",
    transcription_language="en",
    transcription_terms=["Kubernetes"],
    transcription_words=True,
    transcription_isolated=True,
    transcription_speakers=True,
    video_frames=8,
    video_contact_sheets=True,
    glyphs=True,
    vision_model="openai/gpt-5.4-mini",
    embed_cache="vectors.db",
    voice_backend="abstractvoice:local",
    audio_backend="local",
    vision_backend="abstractvision:scenes",
    music_backend="abstractmusic:scores",
    max_output_tokens=100,
    temperature=0.5,
    top_p=0.9,
    top_k=40,
    seed=1,
    stop="END",
    presence_penalty=0.1,
    frequency_penalty=0.1,
    top_logprobs=2,
    thinking="high",
    cache=True,
    tool_choice="required",
    parallel_tool_calls=False,
    tool_format="hermes",
    tool_search="client",
    rescue=False,
    modalities=["text", "audio"],
    media_policy="native",
    media_history="text",
    file_store="always",
    provider_options={"openai": {"store": False}},
    headers={"X-Team": "search"},
    tags={"team": "a"},
    prompt_name="p@1",
    parent_id="p",
    trace_context={"traceparent": "00-0-0-00"},
    timeout=None,
    priority=1,
    strict=True,
    output_retries=1,
    output_mode="tool",
)
create_llm(
    ["openai/gpt-5.4-mini", Member("openai/gpt-5.4-mini", key="key", base_url="https://eu.test/v1"), llm],
    routing=Routing(order="cheapest", fall_back_on=["refusal", OverloadedError], cooldown=60, hedge_after="p95"),
    timeout=30,
)
create_llm([{"model": "openai/gpt-5.4-mini"}], routing={"order": "spread"})
create_llm("auto")
create_llm("openai", model="m", verify=False, transport="httpx2", http_client=httpx2.Client())
create_llm("openai", model="m", http_client=httpx2.AsyncClient())
create_llm("openai", model="m", system_prompt="Be brief.")
create_llm("local", context_size=2048, threads=1)
create_llm("ollama", model="m", context_size=2048)
create_llm("bedrock", model="m", region="us-east-1", profile="p", credentials={"aws_access_key_id": "a"})
create_llm("vertex", model="m", project="p", location="europe-west4", access_token="t")
create_llm("vertex", model="m", project="p", access_token=lambda: "t")
create_llm("vertex", model="m", project="p", access_token=token)
create_llm("azure", model="m", resource="r")
create_llm("azure", model="m", azure_endpoint="https://r.test", api_version="2024-10-21", access_token=token)
create_llm(
    "scripted",
    replies=["text", ScriptedReply.text("text"), OverloadedError("busy"), lambda call: call.messages[-1].text],
)

llm.generate(
    "hi",
    messages=[Message.user("one"), {"role": "assistant", "content": "two"}],
    system_prompt="Be brief.",
    media=["a.pdf", b"bytes"],
    tools=[ToolSpec("t"), HostedTool("web_search"), "pack"],
    run_tools=ToolPolicy(max_rounds=4),
    deps=object(),
    on_media_progress=lambda progress: print(progress.done),
    interruption=Interruption(),
    options={"temperature": 0.5},
    max_output_tokens=100,
    temperature=1,
    top_p=0.9,
    top_k=40,
    seed=1,
    stop=["END"],
    presence_penalty=0.1,
    frequency_penalty=0.1,
    top_logprobs=2,
    thinking=1000,
    cache=True,
    tool_choice=ToolChoice("tool", "t"),
    parallel_tool_calls=False,
    tool_format="native",
    tool_search="hosted",
    rescue=True,
    modalities=("text",),
    media_policy={"audio": "fallback_only"},
    media_history={"image": "text"},
    file_store="never",
    provider_options={"openai": {"store": False}},
    headers={"X-Team": "search"},
    tags={"team": "a"},
    prompt_name="p@1",
    parent_id="p",
    trace_context={},
    timeout=5,
    priority=-1,
    strict=False,
    output_retries=0,
    output_mode="native",
    validation_context={"year": 2026},
    evidence=True,
    verify=False,
    output_check=lambda output: None,
)
with open("a.pdf", "rb") as file, open("a.txt") as text:
    llm.generate("hi", media=[file, text, io.BytesIO(b"bytes"), PIL.Image.new("RGB", (1, 1)), Path("a.png")])
llm.generate("hi", media=[3])  # pyright: ignore[reportArgumentType]
llm.generate("hi", temperature=None, media=None, messages=None, tools=None, system_prompt=None, options=None)
llm.generate(messages=(Message("user", (TextPart("hi"),)),))

asked: list[ChatCompletionMessageParam] = [{"role": "user", "content": [{"type": "text", "text": "hi"}]}]
llm.generate(messages=asked)
history: list[MessageInput] = [Message.user("hi"), {"role": "user", "content": [{"type": "text", "text": "hi"}]}]
response = llm.generate(messages=[*history, *asked])
assert_type(response.message, Message)
results = [call.result("sunny") for call in response.tool_calls]
assert_type(results, list[ToolResult])
llm.generate(messages=[*history, response, *results])
llm.generate(messages=[*history, response.message, Message.tool("id", "sunny"), Message.tool(*results)])
llm.generate(messages=[*history, ChatCompletionMessage(role="assistant", content="hi")])
llm.generate(messages=["hi"])  # pyright: ignore[reportArgumentType]

of_a_plugin: dict[str, Any] = {"hello_word": "Hi"}
create_llm("hello", model="m", **of_a_plugin)

request: CallRequest = {"messages": [Message.user("hi")], "temperature": 0.5}
defaults: CallOptions = {"temperature": 0.5}
reached: LLMOptions = {"base_url": "https://host.test", "temperature": 0.5}
llm.stream(**request)
llm.build("hi", **request)
llm.plan("hi", response_model=int, stream=True, **request)
llm.count_tokens("hi", response_model=int, stream=True, **request)
llm.generate("hi", **defaults)
create_llm("openai", model="m", **reached)

create_llm("bedrock", model="m", region=1)  # pyright: ignore[reportArgumentType]
create_llm("bedrock", model="m", regio="us-east-1")  # pyright: ignore[reportCallIssue]
llm.generate("hi", region="us-east-1")  # pyright: ignore[reportCallIssue]


async def a_key() -> str:
    """Returns a key, as from a vault."""
    return "key"


create_llm("openai/m", api_key=a_key, limits={"requests_per_minute": 60})
create_llm("openai/m", api_key=lambda: "key", limits="learn")
