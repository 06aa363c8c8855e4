"""One value of valid JSON replaced by junk, everywhere: typed errors with their path.

The values are those in vendors' published examples and in what the renderers
write; of paths that look alike, one is tried.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import pytest

from abstractcore.errors import InvalidInputError, ProviderError
from abstractcore.ports import Transpiler
from abstractcore.schema import (
    Message,
    ModelCall,
    ModelReply,
    OutputSchema,
    Sampling,
    ToolChoice,
    ToolSpec,
    WireRequest,
    WireResponse,
    accumulate,
    deltas_of,
    to_json,
)
from abstractcore.testing.strategies import PROVIDER_ERRORS
from abstractcore_providers.formats.gemini import Gemini, GenerateContentDialect
from abstractcore_providers.formats.openai_chat import OpenAIChat
from abstractcore_providers.formats.registered import FORMATS
from abstractcore_providers.vendors.openai_compatible import VENDORS
from tests.providers.damage import JUNK, Trail, distinct_paths, with_junk, with_value
from tests.providers.formats.test_fuzz import payload_of, requests, with_payload
from tests.providers.operations import operations_of
from tests.providers.probes import probes
from tests.providers.published import (
    aws_message,
    decoded,
    fixtures,
    frames_of,
    provider_of,
    request_of,
    response_of,
    stream_of,
)
from tests.tiers import smoke

pytestmark = pytest.mark.exhaustive

every_format = pytest.mark.parametrize("format", smoke(FORMATS, ["ollama"]))


# Requests


def path_of(trail: Trail) -> str:
    """Returns the path as in errors."""
    return "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in trail).removeprefix(".")


def in_camel_case(path: str) -> str:
    """Google's servers take names in either case."""
    return re.sub("_([a-z])", lambda found: found[1].upper(), path)


def is_in(path: str, expected: str) -> bool:
    return not expected or path == expected or path.startswith((f"{expected}.", f"{expected}["))


def names_the_path(path: str, trail: Trail) -> bool:
    """Whether an error's path is that of the junk, one below or above it, or a neighbour's whose meaning it decides."""
    found, expected, parent = map(in_camel_case, (path, path_of(trail), path_of(trail[:-1])))
    return is_in(found, expected) or is_in(expected, found) or (parent != "" and is_in(found, parent))


OF_A_RESULT = re.compile("no such (tool )?call|without a result")
"""A result whose call the junk has made another is where the error is then."""


def refusal(transpiler: Transpiler, request: WireRequest) -> InvalidInputError | None:
    try:
        transpiler.parse(request)
    except InvalidInputError as error:
        return error
    return None


def check_requests(transpiler: Transpiler, given: Iterable[WireRequest]) -> None:
    by_url: dict[str, list[Any]] = {}
    for request in given:
        by_url.setdefault(request.url, []).append(json.loads(request.body))
    for url, bodies in by_url.items():
        for trail, junk, body in with_junk(bodies):
            error = refusal(transpiler, WireRequest(url, {}, body))
            if error is not None and not OF_A_RESULT.search(error.message):
                assert names_the_path(error.path, trail), f"{path_of(trail)} = {junk!r:.40}: {error}"


@every_format
def test_junk_in_a_request_is_an_error_with_its_path(format):
    printed = [request_of(fixture) for fixture in fixtures("request") if fixture.format == format]
    check_requests(FORMATS[format](), [*requests(format), *printed])


DIALECTS: Mapping[str, Callable[[], Transpiler]] = {
    **{preset.name: lambda preset=preset: OpenAIChat(preset.dialect) for preset in VENDORS if preset.dialect.has_chat},
    "vertex": lambda: Gemini(GenerateContentDialect(provider="vertex", publisher="google")),
}
SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}}
ASKED = ModelCall(
    "m",
    (Message.user("hi"),),
    tools=(ToolSpec("f", "F.", SCHEMA),),
    sampling=Sampling(
        max_output_tokens=10,
        temperature=0.5,
        top_p=0.5,
        top_k=5,
        seed=7,
        stop=("END",),
        presence_penalty=0.1,
        frequency_penalty=0.1,
        top_logprobs=3,
    ),
)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_junk_in_a_dialect_request_is_an_error_with_its_path(dialect):
    """Options have other names with some vendors."""
    transpiler = DIALECTS[dialect]()
    calls = [
        ASKED,
        ASKED.with_(output=OutputSchema("answer", SCHEMA)),
        ASKED.with_(tool_choice=ToolChoice("tool", "f")),
    ]
    check_requests(transpiler, [transpiler.encode(call).request for call in calls])


# Replies, streams, errors


def check_read(read: Callable[[], Any]) -> None:
    """The result can be written, or it is a provider error with a message. Any other error propagates."""
    try:
        value = read()
    except ProviderError as error:
        shown_text = str(error)
    else:
        shown_text = to_json(value) if isinstance(value, ModelReply) else str(value)
    assert shown_text


def replies(format: str) -> list[ModelReply]:
    """A reply with every part that the format can show."""
    messages = [message for probe in probes(format).values() for message in probe.call.messages]
    said = [message.parts for message in messages if message.role == "assistant"]
    return [ModelReply(parts, "stop", model="m", provider=provider_of(format)) for parts in said]


@every_format
def test_junk_in_a_reply_is_read_or_a_typed_error(format):
    transpiler = FORMATS[format]()
    bodies = [fixture.read() for fixture in fixtures("reply") if fixture.format == format]
    bodies += [json.loads(transpiler.render(reply).body) for reply in replies(format)]
    for _, _, body in with_junk(bodies):
        check_read(lambda body=body: transpiler.decode(WireResponse(200, {}, body)))


@every_format
def test_junk_in_a_stream_is_read_or_a_typed_error(format):
    transpiler = FORMATS[format]()
    streams = [stream_of(transpiler, fixture.read()) for fixture in fixtures("stream") if fixture.format == format]
    for reply in replies(format):
        renderer = transpiler.renderer()
        streams.append(b"".join(map(renderer.feed, deltas_of(reply))) + renderer.finish())
    seen: set[Any] = set()
    for stream in streams:
        frames = frames_of(transpiler, [stream])
        for index, frame in enumerate(frames):
            for odd in odd_frames(frame, seen):
                whole = [*frames[:index], odd, *frames[index + 1 :]]
                check_read(lambda whole=whole: accumulate(decoded(transpiler, whole)))


def odd_frames(frame: Any, seen: set[Any]) -> Iterator[Any]:
    """Yields the frame with junk at every path in turn; nothing for a frame that is not JSON."""
    if payload_of(frame).startswith(b"{"):
        value = json.loads(payload_of(frame))
        for trail in distinct_paths(value, seen):
            for junk in JUNK:
                yield with_payload(frame, json.dumps(with_value(value, trail, junk)).encode())


@every_format
def test_junk_in_an_error_is_a_typed_error(format):
    """Under its own status, and under one of success."""
    transpiler = FORMATS[format]()
    printed = [fixture.read() for fixture in fixtures("error") if fixture.format == format]
    shown_text = [response_of(each["body"], each["status"], each.get("headers", {})) for each in printed]
    for response in [
        *shown_text,
        *(transpiler.render_error(error("no", retry_after=1.5)) for error in PROVIDER_ERRORS),
    ]:
        for _, _, body in with_junk([json.loads(response.body)]):
            odd = replace(response, body=body)
            assert str(transpiler.error(odd))
            transpiler.render_error(transpiler.error(odd))
            check_read(lambda odd=odd: transpiler.decode(replace(odd, status=200)))


@every_format
@pytest.mark.parametrize("name", ["retry-after", "retry-after-ms", "date", "x-amzn-errortype", "request-id"])
def test_junk_in_a_header_is_a_typed_error(format, name):
    transpiler = FORMATS[format]()
    for value in ("", "x", "-1", "nan", "inf", "1e999", "9" * 400, "Wed, 99 Foo", "\ud800", ":", "#", "\x00"):
        headers = {"retry-after": "Wed, 21 Oct 2026 07:28:05 GMT", name: value}
        error = transpiler.error(WireResponse(429, headers, b"{}"))
        assert error.retry_after is None or 0 <= error.retry_after < float("inf")
        transpiler.render_error(error)


@pytest.mark.parametrize("format", [name for name in FORMATS if "count_tokens" in operations_of(FORMATS[name]())])
def test_junk_in_a_count_is_a_typed_error(format):
    transpiler: Any = FORMATS[format]()
    for _, _, body in with_junk([dict.fromkeys(("input_tokens", "inputTokens", "totalTokens"), 5)]):
        check_read(lambda body=body: transpiler.operations["count_tokens"].decode(WireResponse(200, {}, body), None))


# What was found


def test_ollama_empty_format_means_none():
    body = {"model": "m", "messages": [{"role": "user", "content": "hi"}], "format": ""}
    parsed = FORMATS["ollama"]().parse(WireRequest("/api/chat", {}, json.dumps(body).encode()))
    assert (parsed.call.output, parsed.warnings) == (None, ())


def test_unsupported_values_are_reported_with_their_path_in_the_request():
    """Wherever it fails: here in writing a result's JSON as text."""
    part = {"functionResponse": {"name": "f", "response": {"temp": "\ud800"}}}
    call = {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {}}}]}
    contents = [{"role": "user", "parts": [{"text": "hi"}]}, call, {"role": "user", "parts": [part]}]
    request = WireRequest("/models/m:generateContent", {}, json.dumps({"contents": contents}).encode())
    with pytest.raises(InvalidInputError, match="lone surrogate") as caught:
        FORMATS["gemini"]().parse(request)
    assert caught.value.path == "contents[2].parts[0].functionResponse.response.temp"


def test_amazon_stream_exception_may_contain_any_value():
    for junk in JUNK:
        frames = frames_of(FORMATS["bedrock_converse"](), [aws_message({"throttlingException": {"message": junk}})])
        with pytest.raises(ProviderError):
            list(decoded(FORMATS["bedrock_converse"](), frames))
