"""Types of tools in user code, for the type checker. Checked by `make check`; never run."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any, Literal, assert_type

from pydantic import BaseModel

from abstractcore import (
    AsyncStream,
    GenerateResponse,
    PendingCall,
    ProviderError,
    Stream,
    Tool,
    ToolContext,
    ToolFailed,
    ToolLoop,
    ToolOutput,
    ToolPolicy,
    ToolRetry,
    ToolSpec,
    create_llm,
    from_json,
    tool,
)
from abstractcore.testing import RecordedContext, tool_context


@dataclass
class Shop:
    prices: dict[str, int]


class City(BaseModel):
    name: str


@tool
def weather(city: str, unit: Literal["c", "f"] = "c") -> float:
    return 3.5


@tool(timeout=5, labels=("private",), read_only=True)
async def price(item: str, context: ToolContext[Shop]) -> int:
    assert_type(context.deps, Shop)
    context.progress(1, 2, "half")
    return context.deps.prices[item]


@tool
def search(query: str) -> ToolOutput:
    if not query:
        raise ToolRetry("the query is empty")
    if query == "x":
        raise ToolFailed("no such thing")
    return ToolOutput("two rows", data=[1, 2])


class Stall:
    @tool
    def buy(self, item: str) -> str:
        return item

    def sell(self, item: str) -> str:
        return item


assert_type(weather("Oslo", unit="f"), float)
assert_type(weather.spec, ToolSpec)
assert_type(tool_context(Shop({})), RecordedContext[Shop])
assert_type(tool_context(), RecordedContext[Any])
assert_type(Tool(City)(name="Oslo"), City)
weather(3)  # pyright: ignore[reportArgumentType]
weather("Oslo", unit="k")  # pyright: ignore[reportArgumentType]
tool(timout=5)  # pyright: ignore[reportCallIssue]
tool(labels=("secret",))  # pyright: ignore[reportArgumentType]

llm = create_llm("scripted", replies=[])
stall = Stall()
llm.generate(
    "hi", tools=[weather, price, search, stall.buy, stall.sell, City, Shop, functools.partial(stall.sell, "x")]
)
llm.generate("hi", tools=[ToolSpec("a"), "pack", len], run_tools=True, deps=Shop({}))
llm.generate("hi", tools=[3])  # pyright: ignore[reportArgumentType]
ToolPolicy(max_round=3)  # pyright: ignore[reportCallIssue]
ToolPolicy(max_rounds="3")  # pyright: ignore[reportArgumentType]
ToolOutput("text", dat=3)  # pyright: ignore[reportCallIssue]


def check(city: City) -> str | None:
    return None


def resumed(loop: ToolLoop) -> None:
    assert_type(from_json("{}", ToolLoop), ToolLoop)
    assert_type(from_json("{}"), object)
    assert_type(llm.resume(loop), GenerateResponse[None])
    llm.resume(ProviderError("busy").loop)
    llm.resume(llm.generate("hi", run_tools=True).loop, response_model=City)
    assert_type(llm.resume(llm.resume(loop), response_model=City).pending, tuple[PendingCall, ...])
    assert_type(llm.resume(loop, tools=[weather], response_model=City).output, City)
    assert_type(llm.resume(loop, response_model=list[City] | None).output, list[City] | None)
    assert_type(llm.resume(loop, response_model={"type": "object"}), GenerateResponse[Any])
    assert_type(llm.resume(loop, stream=True), Stream[None])
    assert_type(llm.resume(loop, stream=True, response_model=list[City]), Stream[list[City]])
    assert_type(llm.resume(loop, stream=True, response_model={"type": "object"}), Stream[Any])
    llm.resume(loop, response_model=City, output_check=check, validation_context={1}, output_retries=2)
    llm.resume(loop, temperature=1)  # pyright: ignore[reportCallIssue]


async def resumed_async(loop: ToolLoop) -> None:
    assert_type(await price("tea", tool_context(Shop({}))), int)
    await price("tea", tool_context())
    await price("tea", tool_context("shop"))  # pyright: ignore[reportArgumentType]
    assert_type(await llm.aresume(loop), GenerateResponse[None])
    assert_type(await llm.aresume(loop, response_model=City), GenerateResponse[City])
    assert_type(await llm.aresume(loop, response_model={"type": "object"}), GenerateResponse[Any])
    assert_type(await llm.aresume(loop, stream=True), AsyncStream[None])
    assert_type(await llm.aresume(loop, stream=True, response_model=City), AsyncStream[City])
    assert_type(await llm.aresume(loop, stream=True, response_model={"type": "object"}), AsyncStream[Any])
