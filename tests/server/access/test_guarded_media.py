"""Guards of images, speech, music, transcripts and moderations: the openai package is the client, and a mock vendor has
what it would have been sent.
"""

from __future__ import annotations

import asyncio
import base64
import io
import json
import re
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

import httpx2
import openai
import pytest
from PIL import Image

from abstractcore import Blob, CallRecord, ImagePart, Message, ModelCall, ModelReply, TextPart, Usage
from abstractcore.ports import Edit, GuardContext, Refusal, TextPiece, with_texts
from abstractcore_server import GuardSettings, ServerSettings, Settings, server_services
from tests.chaos_server import PATIENCE_SECONDS, answer, raw_answer
from tests.documents import ROOT
from tests.leftovers import wait_until
from tests.server.accounts import Accounts
from tests.server.guard_doubles import FAILURES, Double, allowed, always, leaving, reset
from tests.server.serving import FORMATS, Served, serving

ANN = "ann@example.org"
EMAIL = re.compile(r"[\w.]+@[\w.]+\w")
MEETING = (ROOT / "examples/media/meeting.wav").read_bytes()
MODERATION: dict[str, Any] = {"id": "m", "model": "omni-moderation-latest", "results": []}
SEGMENTS = [" Call me at 555-", " 1234 now.", " Bye."]
DOUBLES = {
    "calls": Double("calls", ("check_call",)),
    "replies": Double("replies", ("check_reply",)),
    "texts": Double("texts", ("check_text",)),
    "looks": Double("looks", ("check_call", "check_text"), read_only=True),
}
KEYS = {"changing": ("calls", "texts"), "whole": ("replies",), "two": ("calls", "texts", "looks")}
"""The guards of the clients with these keys."""


def png(color: str) -> bytes:
    file = io.BytesIO()
    Image.new("RGB", (4, 4), color).save(file, "PNG")
    return file.getvalue()


RED, BLUE = png("red"), png("blue")
IMAGES = {"created": 1, "data": [{"b64_json": base64.b64encode(RED).decode()}]}


@dataclass(frozen=True)
class Route:
    """One route: how a client asks for it, how the vendor answers, and where a guard's text is in its request."""

    ask: Callable[[openai.OpenAI, str], Any]
    operation: str
    model: str
    answer: bytes | None = None
    more: Mapping[str, Any] = field(default_factory=dict[str, Any])


def heard() -> bytes:
    segments = [{"id": index, "start": index, "end": index + 1, "text": text} for index, text in enumerate(SEGMENTS)]
    words = [
        {"word": word, "start": index, "end": index + 1} for index, text in enumerate(SEGMENTS) for word in text.split()
    ]
    return answer(
        {"text": "".join(SEGMENTS), "language": "english", "duration": 7.0, "segments": segments, "words": words}
    )


ROUTES = {
    "speech": Route(
        lambda client, text: client.audio.speech.create(
            model="tts-1", voice="alloy", input=text, instructions=f"Say {text}", response_format="wav"
        ),
        "tts_stream",
        "voice/openai/tts-1",
        answer(MEETING, content_type="audio/wav"),
    ),
    "images": Route(
        lambda client, text: client.images.generate(model="gpt-image-1.5", prompt=text),
        "t2i",
        "vision/openai/gpt-image-1.5",
        answer(IMAGES),
    ),
    "edits": Route(
        lambda client, text: client.images.edit(model="gpt-image-1.5", image=("a.png", RED), prompt=text),
        "i2i",
        "vision/openai/gpt-image-1.5",
        answer(IMAGES),
    ),
    "transcripts": Route(
        lambda client, text: client.audio.transcriptions.create(
            model="whisper-1", file=("a.wav", MEETING), prompt=f"{text}, Otto"
        ),
        "transcribe",
        "audio/openai/whisper-1",
        heard(),
    ),
    "moderations": Route(
        lambda client, text: client.moderations.create(input=[text, "two"]),
        "moderate",
        "openai/omni-moderation-latest",
        answer(MODERATION),
    ),
    "music": Route(
        lambda client, text: (
            client.post(
                "/audio/music",
                body={"model": "rules", "prompt": text, "mood": "calm", "seconds": 2, "format": "wav", "seed": 1},
                cast_to=httpx2.Response,
            ).content
        ),
        "t2m",
        "music/rules",
    ),
}


@pytest.fixture(scope="module")
def accounts() -> Accounts:
    return Accounts()


@pytest.fixture(scope="module")
def audit(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("guarded_media") / "audit.jsonl"


@pytest.fixture(scope="module")
def running(accounts: Accounts, audit: Path) -> Iterator[Served]:
    guards = {
        f"{key}-{name}": GuardSettings(name, keys=(key,), timeout_seconds=60)
        for key, names in KEYS.items()
        for name in names
    }
    guards |= {name: GuardSettings(name, keys=(name,), on_failure="open", timeout_seconds=60) for name in DOUBLES}
    guards["hasty"] = GuardSettings("calls", keys=("hasty",), on_failure="open", timeout_seconds=0.1)
    guards["of music"] = GuardSettings("calls", models=("music/*",), keys=("of music",))
    settings = Settings(ServerSettings(audit_log=str(audit)), guards=guards)
    services = server_services(settings, environment={}, random=lambda: 0.0)
    for double in DOUBLES.values():
        services.registry.add_guard(double)
    with serving(settings, access=accounts, services=services, vendors={**FORMATS, "mistral": "/v1"}) as served:
        yield served


@pytest.fixture(autouse=True)
def fresh(accounts: Accounts) -> Iterator[None]:
    accounts.clear()
    yield
    reset(DOUBLES.values())


@pytest.fixture
def client(served: Served) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=f"{served.url}/v1", api_key="none", max_retries=0) as client:
        yield client


def let_in(accounts: Accounts, key: str) -> None:
    accounts.grant = replace(accounts.grant, key_id=key)


def expect(served: Served, route: Route) -> None:
    if route.answer is not None:
        served.vendor.script(route.answer)


def hide(call: ModelCall, context: GuardContext) -> ModelCall:
    return with_texts(call, lambda text, kind: EMAIL.sub("[e-mail]", text))


def last_line(audit: Path) -> dict[str, Any]:
    """That of the last request; empty before the first one is written."""
    lines = audit.read_text().splitlines() if audit.exists() else []
    return json.loads(lines[-1]) if lines else {}


def decisions(audit: Path) -> list[tuple[str, str, str]]:
    """Those of the last request in the audit log."""
    return [(each["guard"], each["checked"], each["outcome"]) for each in last_line(audit).get("guards", [])]


@pytest.mark.process
@pytest.mark.parametrize("name", ROUTES)
def test_what_a_backend_is_told_is_changed(
    served: Served, client: openai.OpenAI, accounts: Accounts, audit: Path, name: str
):
    route, contexts = ROUTES[name], list[GuardContext]()

    def check(call: ModelCall, context: GuardContext) -> ModelCall:
        contexts.append(context)
        return hide(call, context)

    accounts.grant = replace(accounts.grant, key_id="changing", tags={"team": "a"})
    DOUBLES["calls"].do = check
    expect(served, route)
    records: list[CallRecord] = []
    with served.application.state.services.records.subscribe(records.append):
        made = route.ask(client, f"Write to {ANN}")
        recorded = (route.operation, {"team": "a", "guard.changing-calls": "changed"})
        assert wait_until(lambda: recorded in [(record.operation, record.tags) for record in records])
    (context,) = contexts
    assert (context.operation, context.model, context.key) == (route.operation, route.model, "changing")
    if route.answer is None:  # the composer of this machine writes the same for the same words
        accounts.grant = replace(accounts.grant, key_id=None)
        assert route.ask(client, "Write to [e-mail]") == made
        assert route.ask(client, f"Write to {ANN}") != made
        return
    (request,) = served.vendor.requests
    assert ANN.encode() not in request.body
    assert b"[e-mail]" in request.body
    decided = last_line(audit)["guards"][0]
    assert (decided["guard"], decided["checked"], decided["outcome"]) == ("changing-calls", "call", "changed")
    assert decided["model"] == route.model
    assert "messages[0].parts[0].text" in decided["changed"]
    assert accounts.wait().outcome == "done"


@pytest.mark.parametrize(("name", "kinds"), [("edits", ["text", "image"]), ("transcripts", ["text", "audio"])])
def test_files_that_a_client_sends_are_shown_and_cannot_be_changed(
    served: Served, client: openai.OpenAI, accounts: Accounts, audit: Path, name: str, kinds: list[str]
):
    def other_file(call: ModelCall, context: GuardContext) -> ModelCall:
        assert context.call is call
        part = ImagePart(Blob.from_bytes(BLUE, "image/png"))
        return call.with_(messages=(Message.user(call.messages[0].text, part),))

    let_in(accounts, "calls")
    DOUBLES["calls"].do = other_file
    served.vendor.script(ROUTES[name].answer or b"")
    ROUTES[name].ask(client, "a house")
    (call,) = DOUBLES["calls"].seen
    assert [part.type for part in call.messages[0].parts] == kinds
    assert call.messages[0].parts[1].blob.read() == (RED if name == "edits" else MEETING)
    assert BLUE not in served.vendor.requests[0].body
    assert decisions(audit) == [("calls", "call", "failed_open")]
    if name == "transcripts":
        DOUBLES["calls"].do = allowed
        served.vendor.script(heard())
        transcribed(client, "json")
        assert [part.type for part in DOUBLES["calls"].seen[-1].messages[0].parts] == ["audio"]
        with pytest.raises(openai.BadRequestError, match="unsupported file type"):
            client.audio.transcriptions.create(model="whisper-1", file=("a.wav", b"\0\1\2" * 99))


@pytest.mark.parametrize("name", ROUTES)
def test_refusal_is_the_clients_own_exception(
    served: Served, client: openai.OpenAI, accounts: Accounts, audit: Path, name: str
):
    let_in(accounts, "changing")
    DOUBLES["calls"].do = always(Refusal("not this"))
    with pytest.raises(openai.BadRequestError, match="refused the request: not this") as refused:
        ROUTES[name].ask(client, "a house")
    assert refused.value.code == "content_filter"
    assert not served.vendor.requests
    (settled,) = accounts.settled
    assert (settled.outcome, settled.usage) == ("failed", Usage(0, 0))
    assert decisions(audit) == [("changing-calls", "call", "refused")]


@pytest.mark.parametrize("name", ROUTES)
def test_guard_that_fails_closes_or_opens(
    served: Served, client: openai.OpenAI, accounts: Accounts, audit: Path, name: str
):
    route = ROUTES[name]
    DOUBLES["calls"].do = FAILURES["raises"]
    let_in(accounts, "changing")
    with pytest.raises(openai.InternalServerError, match="nothing is answered without it") as failed:
        route.ask(client, "a house")
    assert failed.value.status_code == 503
    assert not served.vendor.requests
    let_in(accounts, "calls")
    expect(served, route)
    assert route.ask(client, "a house")
    assert decisions(audit) == [("calls", "call", "failed_open")]


@pytest.mark.parametrize("failure", [*FAILURES, "more messages", "a file", "other model"])
def test_every_failure_is_counted_as_a_warning(
    served: Served, client: openai.OpenAI, accounts: Accounts, audit: Path, failure: str
):
    def changes(call: ModelCall, context: GuardContext) -> ModelCall:
        more = {
            "more messages": {"messages": (Message.system("Be kind."), *call.messages)},
            "a file": {"messages": (Message.user(ImagePart(Blob.from_bytes(RED, "image/png"))),)},
            "other model": {"model": "gpt-image-1"},
        }
        return call.with_(**more[failure])

    DOUBLES["calls"].do = FAILURES.get(failure, changes)
    let_in(accounts, "hasty" if failure == "hangs" else "calls")
    served.vendor.script(answer(IMAGES))
    raw = client.images.with_raw_response.generate(model="gpt-image-1.5", prompt="a house")
    assert raw.headers["x-abstractcore-warnings"] == "1"
    assert served.vendor.requests[0].json["prompt"] == "a house"
    assert decisions(audit)[0][1:] == ("call", "failed_open")


def number(piece: TextPiece, context: GuardContext) -> list[Edit]:
    return [Edit(*found.span(), "[number]") for found in re.finditer(r"555- 1234", piece.text)]


def number_of_reply(reply: ModelReply, context: GuardContext) -> ModelReply:
    return with_texts(reply, lambda text, kind: text.replace("555- 1234", "[number]"))


def transcribed(client: openai.OpenAI, shape: Any, **more: Any) -> Any:
    asked: Any = {"model": "whisper-1", "file": ("a.wav", MEETING), "response_format": shape, **more}
    return cast("Any", client.audio.transcriptions.create(**asked))


@pytest.mark.parametrize("guard", ["texts", "replies"])
def test_what_was_heard_is_changed_in_each_format(
    served: Served, client: openai.OpenAI, accounts: Accounts, audit: Path, guard: str
):
    let_in(accounts, guard)
    if guard == "texts":
        DOUBLES["texts"].do = number
    else:
        DOUBLES["replies"].do = number_of_reply
    served.vendor.script(heard())
    assert transcribed(client, "json").text == "Call me at [number] now. Bye."
    assert last_line(audit)["guards"][0]["changed"] == ["parts[0].text"]
    served.vendor.script(heard())
    verbose = transcribed(client, "verbose_json", timestamp_granularities=["word", "segment"])
    assert [(each.text, each.start, each.end) for each in verbose.segments] == [
        ("Call me at [number] now.", 0, 2),
        ("Bye.", 2, 3),
    ]
    assert [word.word for word in verbose.words] == ["Bye."]
    served.vendor.script(heard())
    assert "Call me at [number] now." in transcribed(client, "srt")
    served.vendor.script(heard())
    events = list(transcribed(client, "json", stream=True))
    assert "".join(event.delta for event in events[:-1]) == events[-1].text == "Call me at [number] now. Bye."
    assert "1234" not in repr(events)
    assert [settled.outcome for settled in accounts.settled] == ["done"] * 4


@pytest.mark.parametrize("guard", ["texts", "replies"])
def test_what_was_heard_is_refused_and_costs_what_it_costs(
    served: Served, client: openai.OpenAI, accounts: Accounts, audit: Path, guard: str
):
    let_in(accounts, {"texts": "changing", "replies": "whole"}[guard])
    DOUBLES[guard].do = always(Refusal("a number"))
    for stream in (False, True):
        served.vendor.script(heard())
        with pytest.raises(openai.BadRequestError, match="refused the answer: a number") as refused:
            transcribed(client, "json", stream=stream)
        assert "1234" not in refused.value.response.text
    assert [settled.outcome for settled in accounts.settled] == ["done"] * 2
    for check in (always(replace(ModelReply(), parts=(ImagePart(Blob.from_bytes(RED, "image/png")),))), always(7)):
        DOUBLES[guard].do = check
        served.vendor.script(heard())
        with pytest.raises(openai.InternalServerError):
            transcribed(client, "text")
    assert decisions(audit)[-1][1:] == ("reply", "failed_closed")


def test_silence_is_no_text_to_look_at(served: Served, client: openai.OpenAI, accounts: Accounts, audit: Path):
    let_in(accounts, "texts")
    served.vendor.script(answer({"text": "", "language": "english", "duration": 7.0, "segments": []}))
    assert transcribed(client, "json").text == ""
    assert decisions(audit) == []


@pytest.mark.parametrize("name", ["images", "edits", "music"])
def test_files_that_were_made_are_shown_as_a_reply(
    served: Served, client: openai.OpenAI, accounts: Accounts, name: str
):
    route = ROUTES[name]
    let_in(accounts, "whole")
    expect(served, route)
    route.ask(client, "a house")
    (seen,) = DOUBLES["replies"].seen
    assert [part.type for part in seen.parts] == ["audio" if name == "music" else "image"]
    DOUBLES["replies"].do = always(Refusal("not this"))
    expect(served, route)
    with pytest.raises(openai.BadRequestError, match="refused the answer: not this"):
        route.ask(client, "a house")
    assert [settled.outcome for settled in accounts.settled] == ["done"] * 2


def test_image_is_replaced_by_another_one_and_by_nothing_else(
    served: Served, client: openai.OpenAI, accounts: Accounts
):
    let_in(accounts, "whole")
    blue = ImagePart(Blob.from_bytes(BLUE, "image/png"))
    DOUBLES["replies"].do = always(ModelReply((blue,), "stop"))
    served.vendor.script(answer(IMAGES))
    (image,) = client.images.generate(model="gpt-image-1.5", prompt="a house").data or []
    assert base64.b64decode(image.b64_json or "") == BLUE
    elsewhere = ImagePart(Blob.from_url("https://example.org/a.png", "image/png"))
    for parts in ((), (TextPart("no"),), (blue, TextPart("no")), (elsewhere,)):
        DOUBLES["replies"].do = always(ModelReply(parts, "stop"))
        served.vendor.script(answer(IMAGES))
        with pytest.raises(openai.InternalServerError, match="nothing is answered without it"):
            client.images.generate(model="gpt-image-1.5", prompt="a house")


def test_second_guard_sees_what_the_first_has_left(
    served: Served, client: openai.OpenAI, accounts: Accounts, audit: Path
):
    let_in(accounts, "two")
    DOUBLES["calls"].do = hide
    DOUBLES["texts"].do = number
    served.vendor.script(heard())
    assert ROUTES["transcripts"].ask(client, ANN).text == "Call me at [number] now. Bye."
    call, piece = DOUBLES["looks"].seen
    assert call.messages[0].text == "[e-mail], Otto"
    assert piece.text == "Call me at [number] now. Bye."
    DOUBLES["looks"].do = refuse_texts
    served.vendor.script(heard())
    with pytest.raises(openai.BadRequestError, match="the guard 'two-looks' refused the answer"):
        ROUTES["transcripts"].ask(client, ANN)
    assert [each[2] for each in decisions(audit)] == ["changed", "allowed", "changed", "refused"]


def refuse_texts(subject: object, context: GuardContext) -> Refusal | None:
    return Refusal("no") if isinstance(subject, TextPiece) else None


@pytest.mark.parametrize("path", ["/v1/audio/speech", "/v1/images/generations", "/v1/moderations"])
def test_client_that_leaves_while_a_guard_looks_is_sent_nothing(
    served: Served, accounts: Accounts, audit: Path, path: str
):
    asked = threading.Event()

    async def check(call: ModelCall, context: GuardContext) -> None:
        asked.set()
        await asyncio.Event().wait()

    let_in(accounts, "changing")
    DOUBLES["calls"].do = check
    bodies: dict[str, dict[str, Any]] = {
        "/v1/audio/speech": {"model": "tts-1", "input": "a house", "voice": "alloy"},
        "/v1/images/generations": {"model": "gpt-image-1.5", "prompt": "a house"},
        "/v1/moderations": {"input": "a house"},
    }
    with leaving(served, bodies[path], path):
        assert asked.wait(PATIENCE_SECONDS)
    assert accounts.wait().outcome == "cancelled"
    assert wait_until(lambda: decisions(audit) == [("changing-calls", "call", "cancelled")])
    assert not served.vendor.requests


def test_client_that_leaves_while_a_guard_looks_at_what_was_heard_pays_for_it(
    served: Served, accounts: Accounts, audit: Path, client: openai.OpenAI
):
    asked = threading.Event()

    async def check(reply: ModelReply, context: GuardContext) -> None:
        asked.set()
        await asyncio.Event().wait()

    let_in(accounts, "whole")
    DOUBLES["replies"].do = check
    served.vendor.script(answer(IMAGES))
    with leaving(served, {"model": "gpt-image-1.5", "prompt": "a house"}, "/v1/images/generations"):
        assert asked.wait(PATIENCE_SECONDS)
    assert accounts.wait().outcome == "done"
    assert wait_until(lambda: decisions(audit) == [("whole-replies", "reply", "cancelled")])


def test_guard_of_one_capability_sees_no_other(served: Served, client: openai.OpenAI, accounts: Accounts):
    let_in(accounts, "of music")
    for name in ("speech", "music"):
        expect(served, ROUTES[name])
        ROUTES[name].ask(client, "a house")
    assert [call.model for call in DOUBLES["calls"].seen] == ["rules"]
    assert [message.text for message in DOUBLES["calls"].seen[0].messages] == ["a house", "calm"]


def swap(call: ModelCall, context: GuardContext) -> ModelCall:
    return call.with_(messages=call.messages[::-1])


IMAGE = {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}
INPUTS: list[tuple[dict[str, Any], Callable[..., Any], dict[str, Any] | None]] = [
    ({"input": ANN}, hide, {"input": "[e-mail]"}),
    ({"input": ""}, hide, None),
    ({"input": ["", ANN, " "]}, hide, {"input": ["", "[e-mail]", " "]}),
    ({"input": ["a", "b"]}, swap, {"input": ["b", "a"]}),
    ({"input": [IMAGE]}, hide, None),
    (
        {"input": [{"type": "text", "text": ANN}, IMAGE]},
        hide,
        {"input": [{"type": "text", "text": "[e-mail]"}, IMAGE]},
    ),
    ({"input": [{"type": "text", "text": "a", "note": ANN}]}, allowed, {"input": [{"type": "text", "text": "a"}]}),
    ({"input": "a", "note": {"x": [ANN]}}, allowed, {"input": "a"}),
    ({"input": "a", "note": 1.5}, allowed, None),
]


@pytest.mark.process
@pytest.mark.parametrize(("body", "check", "sent"), INPUTS)
def test_moderation_is_sent_as_guards_have_left_it(
    served: Served,
    http: httpx2.Client,
    accounts: Accounts,
    body: dict[str, Any],
    check: Callable[..., Any],
    sent: dict[str, Any] | None,
):
    let_in(accounts, "changing")
    DOUBLES["calls"].do = check
    reply = json.dumps(MODERATION, indent=3).encode()
    served.vendor.script(raw_answer(reply))
    content = json.dumps(body, indent=2).encode()
    response = http.post("/v1/moderations", content=content, headers={"content-type": "application/json"})
    assert (response.status_code, response.content) == (200, reply)
    (request,) = served.vendor.requests
    if sent is None:
        assert request.body == content
    else:
        assert request.json == {**sent, "model": "omni-moderation-latest"}
        assert "changed" in response.headers["x-abstractcore-receipt"]
