"""Types of tools in user code, for the type checker. Checked by `make check`; never run."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Literal, assert_type

from pydantic import BaseModel

from abstractcore import Tool, ToolContext, ToolFailed, ToolOutput, ToolRetry, ToolSpec, create_llm, tool


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
