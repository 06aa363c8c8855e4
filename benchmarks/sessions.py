"""What sessions cost: `ask` beside the call that it makes, and opening, appending to and forking long ones."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from rounds import Row, Setup, best

from abstractcore import LLM, GenerateResponse, Message, Session, Usage, create_llm
from abstractcore.concurrency import drive
from abstractcore.engine import Prepared
from abstractcore.schema import ModelCall, Sampling
from abstractcore.sessions import SessionExchange
from abstractcore.sessions.file import SessionFile

_MESSAGES = 10_000
_TEXT = "Light in a vacuum travels 299,792,458 metres in a second, which is how the metre is defined."


def sessions(setup: Setup) -> list[Row]:
    """`ask` over a call with 0, 100 and 1,000 messages, and a session of 10,000 messages in a file."""
    rows = [_asked(count, setup) for count in (0, 100, 1_000)]
    with tempfile.TemporaryDirectory() as folder:
        return [*rows, *_in_file(Path(folder), setup)]


def _asked(count: int, setup: Setup) -> Row:
    """What `ask` adds to its call, whose own time is subtracted: the model answers at once."""
    response = create_llm("scripted", replies=["ok"]).generate("hi")
    llm = _InstantModel(create_llm("scripted", replies=[]), response)
    messages = _conversation(count)
    session = Session(llm)
    session.add(*messages)
    pipeline = llm.pipeline(sync=True)
    asks = 50 if setup.quick else 200

    def asked() -> float:
        begin = time.perf_counter()
        for _ in range(asks):
            session.ask("hi")
        seconds = time.perf_counter() - begin
        for _ in range(asks):
            session.undo()
        return seconds / asks

    def called() -> float:
        begin = time.perf_counter()
        for _ in range(asks):
            drive(llm.prepared("hi", {"messages": messages}).response(pipeline))
        return (time.perf_counter() - begin) / asks

    times = best({"ask": asked, "call": called}, 5 * setup.rounds)
    return Row(f"ask over generate, {count:,} messages", times["ask"] - times["call"], goal=50e-6)


class _InstantModel(LLM):
    """A model whose calls take no time: what is left is the work of the session."""

    def __init__(self, llm: LLM, response: GenerateResponse[Any]) -> None:
        vars(self).update(vars(llm))
        self._response = response

    def prepared(self, prompt: str | None, request: Any, *, stream: bool = False) -> Any:
        """Returns a request that is answered when it has been built."""
        call = SimpleNamespace(messages=(*request["messages"], Message.user(prompt or "")), sampling=Sampling())
        built: Any = Prepared(ModelCall("m", (Message.user(prompt or ""),)))
        object.__setattr__(built, "input", call)
        return _Request(lambda: built, self._response)


class _Request(SimpleNamespace):
    def __init__(self, build: Callable[[], Any], response: GenerateResponse[Any]) -> None:
        async def prepare(runtime: object) -> Any:
            return SimpleNamespace(call=build().input)

        super().__init__(prepare=prepare)
        self._response = response

    def _replace(self, prepare: Any) -> _Request:
        self.prepare = prepare
        return self

    async def response(self, pipeline: Any) -> GenerateResponse[Any]:
        await self.prepare(pipeline.runtime)
        return self._response


def _in_file(folder: Path, setup: Setup) -> list[Row]:
    path, llm = folder / "talk.session", create_llm("scripted", replies=[])
    with Session.open(path, llm) as session:
        session.add(*_conversation(_MESSAGES))
    answered = folder / "answered.session"
    file = SessionFile(answered)
    file.write([_answered(number) for number in range(1, _MESSAGES // 2 + 1)], ends_loop=True)
    file.close()
    forks = iter(range(1_000_000))

    def opened(path: Path) -> float:
        begin = time.perf_counter()
        Session.open(path, llm).close()
        return time.perf_counter() - begin

    def appended() -> float:
        with Session.open(path, llm) as session:
            begin = time.perf_counter()
            for _ in range(20):
                session.add(Message.user(_TEXT), Message.assistant(_TEXT))
            seconds = (time.perf_counter() - begin) / 20
            for _ in range(20):
                session.undo()
            return seconds

    def forked(place: Callable[[], Path | None]) -> float:
        with Session.open(path, llm) as session:
            begin = time.perf_counter()
            fork = session.fork(place())
            seconds = time.perf_counter() - begin
            fork.close()
            return seconds

    times = best(
        {
            "open": lambda: opened(path),
            "open, with usage and costs": lambda: opened(answered),
            "append": appended,
            "fork": lambda: forked(lambda: None),
            "fork to a file": lambda: forked(lambda: folder / f"{next(forks)}.session"),
        },
        2 * setup.rounds,
    )
    goals = {"open": 50e-3, "append": 2e-3, "fork": 10e-3, "fork to a file": 10e-3}
    return [Row(f"{_MESSAGES:,} messages: {name}", seconds, goal=goals.get(name)) for name, seconds in times.items()]


def _answered(number: int) -> SessionExchange:
    messages = (Message.user(_TEXT), Message.assistant(_TEXT))
    usage, cost = Usage(input=30 * number, output=25, cached=10 * number), Decimal(number) / 1_000_000
    return SessionExchange(number, messages, 1, usage, 1, cost, provider="openai", model="m", tokens=55)


def _conversation(count: int) -> list[Message]:
    return [(Message.user, Message.assistant)[place % 2](f"{place}: {_TEXT}") for place in range(count)]
