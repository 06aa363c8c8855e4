"""The laws find faults of a transpiler, and accept losses with a warning."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st

from abstractcore import testing
from abstractcore.errors import (
    AbstractCoreError,
    InvalidInputError,
    ProviderError,
    RateLimitError,
    ServerError,
    UnsupportedContentError,
)
from abstractcore.schema import (
    CallWarning,
    Delta,
    Encoded,
    JSONValue,
    Message,
    ModelCall,
    ModelReply,
    OpaquePart,
    Parsed,
    Part,
    ReasoningPart,
    Rendered,
    Sampling,
    TextDelta,
    TextEnd,
    TextPart,
    ToolCall,
    ToolResult,
    ToolSpec,
    Usage,
    WireRequest,
    WireResponse,
    deltas_of,
)
from abstractcore.testing import (
    LAWS,
    Law,
    LawBrokenError,
    check_call_losses,
    check_encode_again,
    check_errors,
    check_laws,
    check_render_again,
    check_reply_losses,
    check_stream,
)
from abstractcore_providers.scripted.canonical_json import CanonicalDecoder, CanonicalJson, CanonicalRenderer

CALL = ModelCall(
    "m",
    (
        Message.user("hi"),
        Message.assistant("a", ToolCall("x", "f", '{"a": 1}'), OpaquePart("p", "k"), ToolCall("y", "g"), "b"),
        Message.tool(ToolResult.text("x", "one"), ToolResult.text("y", "two", is_error=True)),
    ),
    "scripted",
    tools=(ToolSpec("f"), ToolSpec("g", read_only=True)),
    sampling=Sampling(top_k=5, temperature=0.5),
    provider_options={"a.b": {"c[0]": 1}, "d": {"": 1}},
    tags={"only": "here"},
)
REPLY = ModelReply(
    (ReasoningPart("r", "sig"), TextPart("hello"), ToolCall("x", "f", "{}"), TextPart("bye")),
    "tool_calls",
    "raw",
    Usage(1, 2),
    "m",
    "scripted",
    "id",
    provider_metadata={"a": {"b": 1}},
)


def assistant(call: ModelCall, change: Callable[[tuple[Part, ...]], tuple[Part, ...]]) -> ModelCall:
    """`call` with other parts in its assistant's turns."""
    messages = [
        Message("assistant", change(message.parts)) if message.role == "assistant" else message
        for message in call.messages
    ]
    return call.with_(messages=tuple(messages))


class Toy(CanonicalJson):
    """A format that loses nothing, with one thing changed about it."""

    def __init__(
        self,
        change: Callable[[ModelCall], ModelCall] = lambda call: call,
        *paths: str,
        warnings: tuple[CallWarning, ...] = (),
        reply: Callable[[ModelReply], ModelReply] = lambda reply: reply,
    ) -> None:
        self._change, self._reply = change, reply
        self._warnings = (*warnings, *(CallWarning("left_out", path, "left out") for path in paths))

    def encode(self, call: ModelCall) -> Encoded:
        return Encoded(super().encode(self._change(call)).request, self._warnings)

    def render(self, reply: ModelReply) -> Rendered:
        return Rendered(super().render(self._reply(reply)).body, self._warnings)


def broken(check: Callable[..., None], *arguments: Any) -> LawBrokenError:
    with pytest.raises(LawBrokenError) as caught:
        check(*arguments)
    assert str(caught.value).startswith(f"{caught.value.law} ({LAWS[caught.value.law]}): ")
    return caught.value


# Losses of calls

WITHOUT_TOP_K = Sampling(temperature=0.5)


def with_text(call: ModelCall, text: str) -> ModelCall:
    return call.with_(messages=(Message.user(text), *call.messages[1:]))


def merged(parts: tuple[Part, ...]) -> tuple[Part, ...]:
    """Two tool calls as one, the results of both with it."""
    first, second = (part for part in parts if isinstance(part, ToolCall))
    both = ToolCall(first.id, first.name, first.arguments_text + second.arguments_text)
    return tuple(both if part is first else part for part in parts)


def swapped(parts: tuple[Part, ...]) -> tuple[Part, ...]:
    ids = {"x": "y", "y": "x"}
    return tuple(replace(part, id=ids[part.id]) if isinstance(part, ToolCall) else part for part in parts)


def sorted_texts_first(parts: tuple[Part, ...]) -> tuple[Part, ...]:
    return tuple(sorted(parts, key=lambda part: not isinstance(part, TextPart)))


MOVED = CallWarning("reordered", "messages[1].parts[4]", "moved", 4, 1)


@pytest.mark.parametrize(
    ("toy", "says"),
    [
        (Toy(lambda call: call.with_(sampling=WITHOUT_TOP_K)), r"without a warning: sampling.top_k: 5 became None"),
        (Toy(lambda call: call.with_(thinking="low")), "without a warning: thinking: None became 'low'"),
        (Toy(lambda call: with_text(call, "ho")), r"messages\[0\].parts\[0\].text: 'hi' became 'ho'"),
        (Toy(lambda call: call.with_(messages=call.messages[1:])), "messages: 3 became 2"),
        (Toy(lambda call: assistant(call, merged)), r"arguments_text: '\{\"a\": 1\}' became"),
        (Toy(lambda call: assistant(call, swapped)), r"messages\[2\]"),
        (Toy(lambda call: assistant(call, sorted_texts_first)), r"messages\[1\].parts"),
        (Toy(lambda call: call, "sampling.top_k"), "without a warning: sampling.top_k: None became 5"),
        (Toy(lambda call: call, "thinking"), "a false warning: thinking was None before"),
        (Toy(lambda call: call, "messages[2].parts[0].is_error"), "is_error was False before"),
        (Toy(lambda call: call, "messages[9]"), r"there is nothing at 'messages\[9\]'"),
        (Toy(lambda call: call, "messages[0]x"), "there is nothing at"),
        (Toy(lambda call: call, "sampling.warmth"), "there is nothing at 'sampling.warmth'"),
        (Toy(lambda call: call.with_(sampling=WITHOUT_TOP_K), "sampling"), "sampling.temperature: None became 0.5"),
        (
            Toy(lambda call: call.with_(sampling=WITHOUT_TOP_K), "sampling.top_k", "sampling.top_k"),
            "has two warnings",
        ),
        (Toy(lambda call: call.with_(sampling=Sampling()), "sampling", "sampling.top_k"), "lies within sampling"),
        (Toy(lambda call: call, "messages[1].parts[1].name"), "it is invalid: .*name: missing"),
        (Toy(lambda call: call, warnings=(MOVED,)), r"messages\[1\].parts"),
        (
            Toy(lambda call: call, warnings=(CallWarning("x", "sampling.top_k", "x", 5, 5),)),
            "sampling.top_k was 5 before",
        ),
        (Toy(lambda call: call, warnings=(CallWarning("reordered", "sampling", "x", 1, 0),)), "cannot move to 0"),
    ],
    ids=[
        "drops a field",
        "invents a field",
        "changes a text",
        "drops a message",
        "merges two calls",
        "swaps the results of two calls",
        "reorders in silence",
        "warns of what it sends",
        "warns of what was not asked",
        "warns of a flag that is off",
        "warns of no place",
        "warns of no path",
        "warns of no field",
        "warns of too much",
        "warns twice",
        "warns of a loss inside a loss",
        "leaves out what must be there",
        "warns of a move that is none",
        "warns of a change that is none",
        "moves what has no place in a list",
    ],
)
def test_call_that_differs_from_its_warnings_breaks_the_law(toy: Toy, says: str):
    with pytest.raises(LawBrokenError, match=says) as caught:
        check_call_losses(toy, CALL)
    assert caught.value.law == "call_losses"


@pytest.mark.parametrize(
    "toy",
    [
        Toy(),
        Toy(lambda call: call.with_(sampling=WITHOUT_TOP_K), "sampling.top_k"),
        Toy(lambda call: call.with_(sampling=Sampling()), "sampling"),
        Toy(
            lambda call: call.with_(sampling=Sampling(top_k=4, temperature=0.5)),
            warnings=(CallWarning("clamped", "sampling.top_k", "at most 4", 5, 4),),
        ),
        Toy(lambda call: call.with_(provider_options={"d": {"": 1}}), "provider_options.a.b"),
        Toy(lambda call: call.with_(provider_options={"d": {"": 1}}), "provider_options.a.b.c[0]"),
        Toy(lambda call: call.with_(provider_options={"a.b": {"c[0]": 1}}), "provider_options.d."),
        Toy(lambda call: assistant(call, lambda parts: (*parts[:2], *parts[3:])), "messages[1].parts[2]"),
        Toy(lambda call: call.with_(messages=call.messages[1:]), "messages[0].parts[0]"),
        Toy(lambda call: call.with_(messages=call.messages[1:]), "messages[0]"),
        Toy(
            lambda call: with_text(call, "[hi]"),
            warnings=(CallWarning("x", "messages[0].parts[0]", "x", None, {"type": "text", "text": "[hi]"}),),
        ),
        Toy(lambda call: assistant(call, sorted_texts_first), warnings=(MOVED,)),
        Toy(
            lambda call: assistant(call, lambda parts: (parts[0], parts[4], parts[1], parts[3])),
            "messages[1].parts[2]",
            warnings=(MOVED,),
        ),
        Toy(lambda call: call.with_(tags={}, strict=True, tools=(ToolSpec("f"), ToolSpec("g")))),
    ],
    ids=[
        "nothing",
        "a field",
        "a group of fields",
        "a value",
        "a key with a dot",
        "a key with a bracket",
        "an empty key",
        "a part",
        "the last part of a message",
        "a message",
        "a part replaced",
        "a part moved",
        "a part moved, another left out",
        "what is never sent",
    ],
)
def test_loss_with_a_warning_satisfies_the_law(toy: Toy):
    check_call_losses(toy, CALL)


def test_ids_may_be_renamed_if_results_follow_their_calls():
    class Renaming(CanonicalJson):
        def encode(self, call: ModelCall) -> Encoded:
            request = super().encode(call).request
            body = request.body.replace(b'"x"', b'"call-x"').replace(b'"y"', b'"call-y"')
            return Encoded(WireRequest(request.url, request.headers, body))

    check_call_losses(Renaming(), CALL)
    assert b'"call-x"' in Renaming().encode(CALL).request.body


def test_refused_call_loses_nothing():
    class Refusing(CanonicalJson):
        def encode(self, call: ModelCall) -> Encoded:
            raise UnsupportedContentError("no")

    check_call_losses(Refusing(), CALL)
    check_encode_again(Refusing(), CALL)
    error = broken(check_laws, Refusing(), "scripted")
    assert "the plainest call is refused: no" in str(error)


def test_format_that_cannot_parse_its_own_request_breaks_the_law():
    class Illegible(CanonicalJson):
        def parse(self, request: WireRequest) -> Parsed:
            raise InvalidInputError("no", path="model")

    for check, law in ((check_call_losses, "call_losses"), (check_encode_again, "encode_again")):
        error = broken(check, Illegible(), CALL)
        assert error.law == law
        assert "its own request cannot be read: model: no" in str(error)


# Encoding again


class Forgetful(CanonicalJson):
    """Leaves out the last tool, and says so, each time."""

    def encode(self, call: ModelCall) -> Encoded:
        last = len(call.tools) - 1
        if last < 0:
            return super().encode(call)
        request = super().encode(call.with_(tools=call.tools[:-1])).request
        return Encoded(request, (CallWarning("left_out", f"tools[{last}]", "one too many"),))


def test_format_that_loses_something_at_each_round_trip_breaks_the_law():
    check_call_losses(Forgetful(), CALL)
    error = broken(check_encode_again, Forgetful(), CALL)
    assert error.law == "encode_again"
    assert "a second loss: one too many" in str(error)


def test_format_that_encodes_the_same_call_differently_breaks_the_law():
    class Growing(CanonicalJson):
        def encode(self, call: ModelCall) -> Encoded:
            encoded = super().encode(call)
            padding = b" " * len(call.tags)
            return Encoded(WireRequest("/call", {}, encoded.request.body + padding))

        def parse(self, request: WireRequest) -> Parsed:
            return Parsed(super().parse(request).call.with_(tags={}))

    check_call_losses(Growing(), CALL)
    error = broken(check_encode_again, Growing(), CALL)
    assert error.law == "encode_again"
    assert "became" in str(error)


def test_format_that_refuses_a_parsed_call_breaks_the_law():
    class Fussy(CanonicalJson):
        def encode(self, call: ModelCall) -> Encoded:
            if not call.tags:
                raise UnsupportedContentError("no")
            return super().encode(call.with_(tags={}))

    assert broken(check_encode_again, Fussy(), CALL).law == "encode_again"


# Losses of replies


def first_text(reply: ModelReply, text: str) -> ModelReply:
    return replace(reply, parts=(reply.parts[0], TextPart(text), *reply.parts[2:]))


@pytest.mark.parametrize(
    ("toy", "says"),
    [
        (Toy(reply=lambda reply: replace(reply, usage=Usage())), "usage.input: 1 became None"),
        (Toy(reply=lambda reply: first_text(reply, "hell")), "'hello' became 'hell'"),
        (Toy(reply=lambda reply: replace(reply, finish_reason="stop")), "finish_reason: 'tool_calls' became 'stop'"),
        (Toy(reply=lambda reply: replace(reply, parts=reply.parts[:-1])), "parts: 4 became 3"),
        (Toy(lambda call: call, "parts[0].signature"), r"parts\[0\].signature: None became 'sig'"),
        (Toy(lambda call: call, "parts[1].citations"), r"parts\[1\].citations was \[\] before"),
    ],
    ids=[
        "drops a count",
        "drops a letter",
        "changes the reason",
        "drops a part",
        "warns of what it says",
        "warns of nothing",
    ],
)
def test_reply_that_differs_from_its_warnings_breaks_the_law(toy: Toy, says: str):
    with pytest.raises(LawBrokenError, match=says) as caught:
        check_reply_losses(toy, REPLY)
    assert caught.value.law == "reply_losses"


@pytest.mark.parametrize(
    "toy",
    [
        Toy(),
        Toy(lambda call: call, "usage.output", reply=lambda reply: replace(reply, usage=Usage(1))),
        Toy(
            lambda call: call, "provider_metadata.a.b", reply=lambda reply: replace(reply, provider_metadata={"a": {}})
        ),
        Toy(reply=lambda reply: replace(reply, raw_finish_reason="another", warnings=(CallWarning("a", "b", "c"),))),
        Toy(
            warnings=(CallWarning("x", "finish_reason", "x", "tool_calls", "stop"),),
            reply=lambda reply: replace(reply, finish_reason="stop"),
        ),
        Toy(
            warnings=(CallWarning("reordered", "parts[3]", "x", 3, 2),),
            reply=lambda reply: replace(reply, parts=(*reply.parts[:2], reply.parts[3], reply.parts[2])),
        ),
    ],
    ids=["nothing", "a count", "metadata", "what does not count", "a reason", "a part moved"],
)
def test_reply_loss_with_a_warning_satisfies_the_law(toy: Toy):
    check_reply_losses(toy, REPLY)


def test_reply_that_loses_something_at_each_round_trip_breaks_the_law():
    class Shrinking(CanonicalJson):
        def render(self, reply: ModelReply) -> Rendered:
            last = len(reply.parts) - 1
            body = super().render(replace(reply, parts=reply.parts[:-1])).body
            return Rendered(body, (CallWarning("left_out", f"parts[{last}]", "one too many"),) if last >= 0 else ())

    check_reply_losses(Shrinking(), REPLY)
    error = broken(check_render_again, Shrinking(), REPLY)
    assert error.law == "render_again"
    assert "a second loss" in str(error)


def test_reply_rendered_differently_the_second_time_breaks_the_law():
    class Stamping(CanonicalJson):
        def render(self, reply: ModelReply) -> Rendered:
            return Rendered(super().render(reply).body + (b" " if reply.warnings else b""))

        def decode(self, response: WireResponse) -> ModelReply:
            return replace(super().decode(response), warnings=(CallWarning("a", "b", "c"),))

    assert broken(check_render_again, Stamping(), REPLY).law == "render_again"


# Streams


class Deaf(CanonicalRenderer):
    def feed(self, delta: Delta) -> bytes:
        return b"" if isinstance(delta, TextDelta) and delta.text == "bye" else super().feed(delta)


class Impatient:
    """A framer that takes what comes in one read for whole lines."""

    def feed(self, data: bytes) -> list[bytes]:
        return [line for line in data.split(b"\n") if line]

    def finish(self) -> list[bytes]:
        return []


class Careless:
    """A framer that loses a byte, where a read begins with a line's end."""

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, data: bytes) -> list[bytes]:
        lines = (self._rest + data.removeprefix(b"\n")).split(b"\n")
        self._rest = lines.pop()
        return lines

    def finish(self) -> list[bytes]:
        return [self._rest] if self._rest else []


class Merging(CanonicalDecoder):
    """Takes all blocks for one."""

    def feed(self, frame: bytes) -> list[Delta]:
        deltas = super().feed(frame)
        for delta in deltas:
            if hasattr(delta, "block"):
                delta.block = 0  # type: ignore[union-attr]
        return deltas


class Hasty(CanonicalDecoder):
    """Takes the end of a part for the end of the reply."""

    def feed(self, frame: bytes) -> list[Delta]:
        deltas = super().feed(frame)
        self.complete = self.complete or isinstance(deltas[0], TextEnd)
        return deltas


@pytest.mark.parametrize(
    ("parts", "says"),
    [
        ({"renderer": Deaf}, "parts: 4 became 3"),
        ({"decoder": Merging}, "parts: 4 became 1"),
        ({"decoder": Hasty}, "parts: 4 became 2"),
        ({"framer": Impatient}, "when every byte arrives alone"),
        ({"framer": Careless}, "when it is split at byte|when every byte arrives alone"),
    ],
    ids=["drops a delta", "merges blocks", "ends too early", "takes reads for lines", "loses a byte at a split"],
)
def test_stream_that_does_not_accumulate_to_its_reply_breaks_the_law(parts: dict[str, Any], says: str):
    toy = CanonicalJson()
    for name, made in parts.items():
        setattr(toy, name, made)
    with pytest.raises(LawBrokenError, match=says) as caught:
        check_stream(toy, REPLY)
    assert caught.value.law == "stream"


def test_stream_may_have_chunks_of_any_size():
    check_stream(CanonicalJson(), REPLY)
    check_stream(CanonicalJson(), REPLY, deltas_of(REPLY))
    long = replace(REPLY, parts=(TextPart("x" * 5000),))
    check_stream(CanonicalJson(), long)


def test_framer_bug_at_a_single_split_is_found():
    class Picky(Careless):
        """Loses the line's end only where more follows it in the same read."""

        def feed(self, data: bytes) -> list[bytes]:
            return super().feed(b"\n" + data if len(data) < 2 else data)

    toy = CanonicalJson()
    toy.framer = Picky  # type: ignore[method-assign, assignment]
    assert "when it is split at byte" in str(broken(check_stream, toy, REPLY))


# Errors


class Blunt(CanonicalJson):
    def render_error(self, error: AbstractCoreError) -> WireResponse:
        return super().render_error(ServerError(error.message, retry_after=error.retry_after))


class Hasty(CanonicalJson):
    """Tells of half the wait, or of a wait where there is none."""

    def error(self, response: WireResponse) -> ProviderError:
        error = super().error(response)
        error.retry_after = 0.0 if error.retry_after is None else error.retry_after / 2
        return error


class Silent(CanonicalJson):
    def error(self, response: WireResponse) -> ProviderError:
        error = super().error(response)
        error.retry_after = None
        return error


@pytest.mark.parametrize(
    ("toy", "error", "says"),
    [
        (Blunt(), RateLimitError("no"), "RateLimitError became ServerError"),
        (Hasty(), RateLimitError("no", retry_after=3.0), r"retry_after 3.0 became 1.5"),
        (Hasty(), RateLimitError("no"), r"retry_after None became 0.0"),
        (Silent(), RateLimitError("no", retry_after=3.0), r"retry_after 3.0 became None"),
    ],
)
def test_error_that_changes_its_class_breaks_the_law(toy: CanonicalJson, error: ProviderError, says: str):
    with pytest.raises(LawBrokenError, match=says) as caught:
        check_errors(toy, error)
    assert caught.value.law == "errors"


def test_retry_after_may_be_rounded_up_to_a_second():
    class Rounding(CanonicalJson):
        def error(self, response: WireResponse) -> ProviderError:
            error = super().error(response)
            error.retry_after = None if error.retry_after is None else float(int(error.retry_after) + 1)
            return error

    check_errors(Rounding(), RateLimitError("no", retry_after=3.5))


# All of them


class DropsTopK(CanonicalJson):
    def encode(self, call: ModelCall) -> Encoded:
        return super().encode(call.with_(sampling=replace(call.sampling, top_k=None)))


class DropsIds(CanonicalJson):
    def render(self, reply: ModelReply) -> Rendered:
        return super().render(replace(reply, id=None))


class DeafFormat(CanonicalJson):
    def renderer(self) -> CanonicalRenderer:
        class Quiet(CanonicalRenderer):
            def feed(self, delta: Delta) -> bytes:
                return b"" if isinstance(delta, TextDelta) else super().feed(delta)

        return Quiet()


@pytest.fixture
def _as_found() -> Iterator[None]:
    """A failing case is not made smaller, which takes longer than finding it."""
    settings.register_profile("as found", settings(), phases=[Phase.generate])
    before = settings.get_current_profile_name()
    settings.load_profile("as found")
    yield
    settings.load_profile(before)


@pytest.mark.exhaustive
@pytest.mark.usefixtures("_as_found")
@pytest.mark.parametrize(
    ("toy", "law"),
    [
        (DropsTopK(), "call_losses"),
        (Forgetful(), "encode_again"),
        (DropsIds(), "reply_losses"),
        (DeafFormat(), "stream"),
        (Blunt(), "errors"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_generated_cases_find_a_violation_of_each_law(toy: CanonicalJson, law: Law):
    # The laws before it hold: they need not be tried with 120 cases each.
    before: dict[str, Any] = {} if law in ("call_losses", "encode_again") else {"calls": st.just(CALL)}
    if law == "errors":
        before["replies"] = st.just(REPLY)
    with pytest.raises(LawBrokenError) as caught:
        check_laws(toy, "scripted", max_examples=120, **before)
    assert caught.value.law == law


def test_each_law_has_a_check_and_all_names_are_public():
    checks = [name for name in testing.__all__ if name.startswith("check_") and name != "check_laws"]
    assert sorted(name.removeprefix("check_") for name in checks) == sorted(LAWS)
    assert all(hasattr(testing, name) for name in testing.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = testing.nothing


@pytest.mark.process
def test_laws_can_be_imported_without_hypothesis():
    program = "import sys, abstractcore.testing; print(json.dumps(sorted(sys.modules)))"
    run = subprocess.run([sys.executable, "-c", f"import json; {program}"], capture_output=True, text=True, check=True)
    loaded: list[JSONValue] = json.loads(run.stdout)
    assert "abstractcore.testing.laws" in loaded
    assert "hypothesis" not in loaded
