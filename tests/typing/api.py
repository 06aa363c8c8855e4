"""Types of user code, for the type checker. Checked by `make check`; never run."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any, Literal, Optional, Union, assert_type

import abstractcore
from abstractcore import AsyncStream, GenerateResponse, MapResults, ModelCall, Stream, StreamEvent, create_llm


@dataclass
class City:
    name: str


class Colour(Enum):
    RED = "red"


llm = create_llm("openai", model="gpt-5", temperature=0.2, media_policy={"audio": "fallback_only"})
create_llm("local", context_size=2048, threads=1)
create_llm("scripted", replies=["hello"])

assert_type(llm.generate("hi"), GenerateResponse[None])
assert_type(llm.generate("hi", response_model=None), GenerateResponse[None])
assert_type(llm.generate("hi", response_model=City), GenerateResponse[City])
assert_type(llm.generate("hi", response_model=City).output.name, str)
assert_type(llm.generate("hi", stream=True), Stream[None])
assert_type(llm.stream("hi", response_model=City).response.output, City)
assert_type(llm.generate("hi", response_model=list[City]).output, list[City])
assert_type(llm.generate("hi", response_model=City | None).output, City | None)
assert_type(llm.generate("hi", response_model=Union[City, int]).output, City | int)  # noqa: UP007
assert_type(llm.generate("hi", response_model=Optional[City]).output, City | None)  # noqa: UP045
assert_type(llm.generate("hi", response_model=Literal["yes", "no"]).output, Literal["yes", "no"])
assert_type(llm.generate("hi", response_model=Colour).output, Colour)
assert_type(llm.stream("hi", response_model=dict[str, int]).response.output, dict[str, int])
assert_type(llm.generate("hi", response_model=list[int], stream=True), Stream[list[int]])
assert_type(llm.build("hi", response_model=list[City] | None), ModelCall)
assert_type(llm.build("hi", media=["a.pdf", b"bytes"]), ModelCall)
assert_type(llm.build("hi", media="a.pdf"), ModelCall)
assert_type(llm.build("hi", media=b"bytes"), ModelCall)
llm.build("hi", media=5)  # pyright: ignore[reportArgumentType]

for delta in llm.stream("hi"):
    assert_type(delta, StreamEvent)
    if delta.type == "text_delta":
        print(delta)

llm.generate("hi", response_model=City("Ulm"))  # pyright: ignore[reportCallIssue, reportArgumentType]
assert_type(llm.generate("hi", response_model={"type": "object"}), GenerateResponse[Any])
assert_type(llm.stream("hi", response_model={"type": "object"}), Stream[Any])
abstractcore.create_lmm("openai")  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
llm.generate("hi", temprature=1)  # pyright: ignore[reportCallIssue]
llm.generate("hi", temperature="hot")  # pyright: ignore[reportArgumentType]
llm.generate("hi", media_policy={"audio": "always"})  # pyright: ignore[reportArgumentType]
create_llm("openai", modle="gpt-5")  # pyright: ignore[reportCallIssue]


async def asynchronous() -> None:
    assert_type(await llm.agenerate("hi"), GenerateResponse[None])
    assert_type((await llm.agenerate("hi", response_model=City)).output, City)
    assert_type(await llm.agenerate("hi", stream=True), AsyncStream[None])
    assert_type(await llm.agenerate("hi", stream=True, response_model=City), AsyncStream[City])
    assert_type((await llm.agenerate("hi", response_model=list[City])).output, list[City])
    assert_type(llm.astream("hi", response_model=City | int), AsyncStream[City | int])
    assert_type(llm.astream("hi"), AsyncStream[None])
    async with llm.astream("hi", response_model=City) as stream:
        async for text in stream.text():
            assert_type(text, str)
        assert_type(stream.response.output, City)


session = llm.session(system_prompt="Be brief.", fill=0.7, compact="drop", temperature=0.2)
assert_type(session, abstractcore.Session)
assert_type(session.ask("hi"), GenerateResponse[None])
assert_type(session.ask("hi", response_model=City).output, City)
assert_type(session.stream("hi", response_model=list[City]).response.output, list[City])
assert_type(session.astream("hi"), AsyncStream[None])

assert_type(llm.map(["a", ("b", {"media": "c.pdf"})]), MapResults[None])
assert_type(llm.map(["a"], response_model=City, on_progress=lambda done, total: None), MapResults[City])
assert_type(llm.map(["a"], response_model=City).outputs, list[City | None])
llm.map(["a"], temprature=1)  # pyright: ignore[reportCallIssue]
