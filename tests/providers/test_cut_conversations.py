"""Conversations that are cut anywhere, repaired, and sent on: no vendor refuses the next call.

The vendors are strict fakes, which refuse calls and results that do not match.
"""

from __future__ import annotations

import base64
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from abstractcore import (
    LLM,
    Blob,
    HostedToolCall,
    HostedToolResult,
    ImagePart,
    Message,
    Part,
    ReasoningPart,
    Session,
    TextPart,
    ToolCall,
    ToolResult,
    create_llm,
    tool,
)
from abstractcore.schema import check_pairs, repair_pairs
from tests.providers.catalogue_rows import rows
from tests.providers.strict_fakes import anthropic_messages, bedrock_converse, gemini, openai_chat, openai_responses
from tests.providers.strict_fakes.fake import TEXT, Fake, Row
from tests.providers.strict_fakes.in_memory import InMemoryVendors
from tests.providers.strict_fakes.pairs import CHECKS

FAKES: Mapping[str, Fake] = {
    "openai": openai_chat.fake("openai"),
    "openai-responses": openai_responses.FAKE,
    "anthropic": anthropic_messages.FAKE,
    "google": gemini.FAKE,
    "bedrock": bedrock_converse.FAKE,
}
MODELS = {
    "openai": "gpt-5.4-mini",
    "openai-responses": "gpt-5.4-mini",
    "anthropic": "claude-haiku-5-5",
    "google": "gemini-2.5-flash",
    "bedrock": "amazon.nova-pro",
}
PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


def _refusing(provider: str, fake: Fake) -> Fake:
    """Returns a fake that also refuses what does not match in a conversation."""

    def refusal(row: Row, path: str, body: Any) -> str | None:
        return next(CHECKS[provider](body), None) or fake.refusal(row, path, body)

    return replace(fake, refusal=refusal)


@pytest.fixture(scope="module")
def llms() -> Iterator[Mapping[str, LLM]]:
    """A model of each vendor."""
    services = InMemoryVendors({name: _refusing(name, fake) for name, fake in FAKES.items()})
    for name, vendor in services.vendors.items():
        vendor.row = rows(name)[MODELS[name]]
    places: dict[str, Any] = {"bedrock": {"region": "us-east-1"}}
    yield {
        name: create_llm(
            name,
            model=model,
            base_url=services.url(name),
            api_key="k",
            services=services,
            max_retries=0,
            timeout=None,
            media_policy="native",
            **places.get(name, {}),
        )
        for name, model in MODELS.items()
    }
    services.close()


@tool
def look(x: int = 0) -> str:
    """Looks."""
    return str(x)


class Generator:
    """Makes conversations of a user with a model of `origin`: parallel calls, rounds, reasoning, images, errors."""

    def __init__(self, seed: int, origin: str) -> None:
        self._random = random.Random(seed)
        self._origin = f"{origin}/{MODELS[origin]}"
        self._count = 0

    def conversation(self) -> tuple[Message, ...]:
        """Returns one to four exchanges."""
        return tuple(message for _ in range(self._random.randint(1, 4)) for message in self._exchange())

    def _exchange(self) -> Iterator[Message]:
        photo = ImagePart(Blob.from_bytes(PNG, "image/png"))
        yield Message.user("look", *([photo] if self._happens(0.2) else []))
        for _ in range(self._random.choice([0, 0, 1, 1, 2, 3])):
            calls = [self._call() for _ in range(self._random.choice([1, 1, 2, 3]))]
            yield Message("assistant", (*self._thoughts(), *self._text(), *calls))
            yield Message.tool(*(self._result(call) for call in calls))
        if self._happens(0.1):
            self._count += 1
            yield Message(
                "assistant", (HostedToolCall(f"h{self._count}", "web_search"), *self._hosted(), *self._said())
            )
        elif self._happens(0.95):
            yield Message("assistant", (*self._thoughts(), *self._said()))

    def _happens(self, probability: float) -> bool:
        return self._random.random() < probability

    def _call(self) -> ToolCall:
        self._count += 1
        return ToolCall(f"call_{self._count}", "look", f'{{"x": {self._count}}}')

    def _result(self, call: ToolCall) -> ToolResult:
        if self._happens(0.2):
            return call.result("it failed", is_error=True)
        return call.result(f"result {self._count}")

    def _thoughts(self) -> Sequence[Part]:
        if self._happens(0.5):
            return ()
        signature = self._random.choice([None, "c2lnbmVk"])
        return (ReasoningPart("I think", signature=signature, origin=self._origin),)

    def _text(self) -> Sequence[Part]:
        return (TextPart("let me see"),) if self._happens(0.3) else ()

    def _said(self) -> Sequence[Part]:
        return (TextPart("so it is"),)

    def _hosted(self) -> Sequence[Part]:
        return (HostedToolResult(f"h{self._count}", (TextPart("found"),)),)


def cuts(messages: Sequence[Message], chance: random.Random) -> Iterator[tuple[Message, ...]]:
    """Yields what is left of a conversation that is cut at each place, and once more somewhere; the same rest once."""
    count, found = len(messages), set[tuple[int, ...]]()
    for place in range(count + 1):
        begin = chance.randint(0, count)
        for left in (
            range(place, count),
            range(place),
            (*range(place), *range(max(place, begin), count)),
            range(min(place, begin), max(place, begin)),
        ):
            if (*left,) not in found:
                found.add((*left,))
                yield tuple(messages[index] for index in left)


def send(llm: LLM, messages: Sequence[Message]) -> None:
    """Makes the next call: open calls get results first."""
    session = llm.session(tools=[look], compact=None)
    session.add(*repair_pairs(messages, complete=True)[0])
    assert session.ask("and now?").content == TEXT


@pytest.mark.parametrize("share", [pytest.param(97, marks=pytest.mark.smoke), 1])
@pytest.mark.exhaustive
def test_next_call_after_every_cut_is_accepted(llms: Mapping[str, LLM], share: int):
    providers = [*MODELS]
    sent = 0
    for seed in range(0, 2_000, share):
        messages = Generator(seed, providers[seed % 5]).conversation()
        assert check_pairs(messages) == ()
        for part in cuts(messages, random.Random(seed)):
            repaired, notes = repair_pairs(part)
            assert check_pairs(repaired) == ()
            assert (notes == ()) == (repaired == part)
            if repaired and (share > 1 or sent % 7 == 0):
                send(llms[providers[sent % 5]], repaired)
            sent += 1
    assert sent > 40_000 / share


def test_every_vendor_refuses_conversations_that_are_not_repaired(llms: Mapping[str, LLM]):
    call = ToolCall("c", "look")
    for name, llm in llms.items():
        with pytest.raises(Exception, match=r"call|function|tool"):
            llm.generate("x", messages=[Message.user("a"), Message.assistant(call), Message.user("b")], tools=[look])
        assert name in CHECKS


def test_moved_through_all_formats_saved_loaded_and_forked_nothing_is_lost(llms: Mapping[str, LLM], tmp_path: Path):
    for seed in range(12):
        messages = Generator(seed, "anthropic").conversation()
        session = llms["anthropic"].session(tools=[look], compact=None)
        session.add(*messages)
        for number, name in enumerate((*MODELS, "anthropic")):
            session = session.with_llm(llms[name])
            session.ask("and now?")
            path = tmp_path / f"{seed}-{number}.json"
            session.save(path)
            loaded = Session.load(path, llms[name], tools=[look], compact=None)
            assert loaded.messages == session.messages
            session = loaded.fork(tmp_path / f"{seed}-{number}.session")
            session.close()
            session = Session.open(tmp_path / f"{seed}-{number}.session", llms[name], tools=[look], compact=None)
            assert session.messages == loaded.messages
            session.close()
            session = loaded
        assert session.messages[: len(messages)] == messages
        assert len(session.messages) == len(messages) + 2 * (len(MODELS) + 1)
