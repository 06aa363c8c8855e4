"""Errors quote their cause and stay short, however large the input."""

import base64
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from abstractcore import (
    AbstractCoreError,
    Blob,
    CallRecord,
    MediaError,
    Message,
    ModelCall,
    SchemaError,
    TextPart,
    ToolCall,
    ToolSpec,
    accumulate,
    canonical_json,
    create_llm,
    digest,
    from_json,
    record,
    replay,
    subscribe,
    to_json,
)
from abstractcore.client.options import CALL_OPTIONS, REQUEST_FIELDS
from abstractcore.errors import ServerError
from abstractcore.schema import WireResponse, freeze
from abstractcore.schema.base_error import shortened, shown
from abstractcore.stores.models import FileModelStore
from abstractcore.telemetry import Subscription
from abstractcore.testing import ScriptedReply
from abstractcore_providers.formats.registered import FORMATS

pytestmark = pytest.mark.exhaustive

LONGEST = 2000
LONG = "A" * 100_000
PICTURE = base64.b64encode(b"\x89PNG\r\n\x1a\n" + bytes(75_000)).decode()
HUGE: dict[str, Any] = {
    "text": LONG,
    "words": "word " * 4_000,
    "base64": PICTURE,
    "bytes": b"\xff" * 100_000,
    "bytearray": bytearray(100_000),
    "data-url": f"data:image/png;base64,{PICTURE}",
    "broken-data-url": f"data:image/png;base64,{PICTURE}*",
    "url": f"http://{LONG}",
    "path": Path(f"/{LONG}"),
    "folders": "a/" * 50_000,
    "surrogate": f"{LONG}\ud800",
    "null-character": f"{LONG}\0",
    "list": [LONG],
    "numbers": list(range(20_000)),
    "mapping": {LONG: LONG},
    "nested": {"a": [{"b": (LONG,)}]},
    "message": {"role": LONG, "content": LONG},
    "record": Message.user(LONG),
    "number": 10**100_000,
}


def as_text(thing: Any) -> str:
    return thing if isinstance(thing, str) else LONG


def doors() -> dict[str, Callable[[Any], Any]]:
    """Each public door, as a function of one thing."""
    llm = create_llm("scripted", replies=["x"] * 1000)
    found: dict[str, Callable[[Any], Any]] = {
        "provider": create_llm,
        "replies": lambda thing: create_llm("scripted", replies=[thing]).generate("hi"),
        "ScriptedReply.text": ScriptedReply.text,
        "ScriptedReply.tool_call": lambda thing: ScriptedReply.tool_call(thing, thing),
        "option name": lambda thing: llm.build("hi", **{as_text(thing): 1}),
        "run": llm.run,
        "capability": llm.capability,
        "generate": lambda thing: llm.generate("hi", media=[thing]),
        "plan": lambda thing: llm.plan("hi", media=[thing]),
        "Message": lambda thing: Message(thing, thing),
        "Message.user": Message.user,
        "TextPart": lambda thing: TextPart(thing, thing),
        "ModelCall": lambda thing: ModelCall("m", (Message.user("hi"),), thinking=thing, tags=thing),
        "ToolSpec": lambda thing: ToolSpec(thing, thing, thing),
        "ToolCall": lambda thing: ToolCall(thing, thing, thing),
        "ToolCall.of": lambda thing: ToolCall.of("c", "t", {as_text(thing): float("nan")}),
        "Blob.from_bytes": lambda thing: Blob.from_bytes(thing, thing),
        "Blob.from_url": lambda thing: Blob.from_url(thing, thing),
        "Blob": lambda thing: Blob(thing, thing, location=thing),
        "from_json": from_json,
        "from_json: version": lambda thing: from_json(f'{{"schema_version": "{as_text(thing)[:9]}{LONG}"}}'),
        "from_json: type": lambda thing: from_json(f'{{"schema_version": 1, "type": "{LONG}"}}'),
        "from_json: field": lambda thing: from_json(f'{{"schema_version": 1, "type": "text", "{LONG}": 1}}'),
        "to_json": to_json,
        "canonical_json": lambda thing: canonical_json([thing, object()]),
        "digest": lambda thing: digest({as_text(thing): object()}),
        "accumulate": accumulate,
        "record": record,
        "replay": replay,
        "subscribe": subscribe,
        "FileModelStore.path": lambda thing: FileModelStore().path(thing),
        "FileModelStore": lambda thing: FileModelStore(packaged=thing),
    }
    for name in sorted({"prompt", "response_model", *REQUEST_FIELDS}):
        found[f"build: {name}"] = lambda thing, name=name: llm.build(**{"prompt": "hi", name: thing})
        found[f"build: [{name}]"] = lambda thing, name=name: llm.build(**{"prompt": "hi", name: [thing]})
        found[f"build: {{{name}}}"] = lambda thing, name=name: llm.build(**{"prompt": "hi", name: {LONG: thing}})
    for name in sorted({"model", "base_url", "api_key", "accepts", "middleware"} | CALL_OPTIONS):
        given = {"model": "m", "base_url": "http://host.test"}
        found[f"create_llm: {name}"] = lambda thing, name=name, given=given: create_llm(
            "openai-compatible", **{**given, name: thing}
        )
    return found


def raised(door: Callable[[Any], Any]) -> Iterator[tuple[str, AbstractCoreError]]:
    """The errors of a door, by the name of what it was given."""
    for name, thing in HUGE.items():
        try:
            made = door(thing)
        except AbstractCoreError as error:
            yield name, error
        else:
            if isinstance(made, Subscription):
                made.close()


@pytest.mark.parametrize("door", sorted(doors()))
def test_error_messages_do_not_grow_with_the_input(door: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    lengths = {name: (len(str(error)), len(repr(error))) for name, error in raised(doors()[door])}
    assert {name: size for name, size in lengths.items() if max(size) >= LONGEST} == {}


def test_base64_passed_as_path_is_shortened_with_a_hint():
    with pytest.raises(MediaError) as caught:
        create_llm("scripted", replies=[]).generate("hi", media=[PICTURE])
    assert len(str(caught.value)) < 400
    assert PICTURE[:50] in str(caught.value)
    assert "data:image/png;base64," in str(caught.value)


def test_missing_file_with_a_long_name_is_an_os_error_with_a_short_message():
    with pytest.raises(OSError, match="too long") as caught:
        Blob.from_file(LONG, "text/plain")
    assert len(str(caught.value)) < LONGEST
    with pytest.raises(FileNotFoundError):
        Blob.from_file("there is no such file", "text/plain")


BODIES = {
    "words": b"too many words " * 10_000,
    "one-word": b"x" * 200_000,
    "page": b"<html><body>" + b"<p>sorry</p>" * 10_000,
    "json-text": b'"' + b"a" * 200_000 + b'"',
    "error": b'{"error": {"message": "' + b"why " * 50_000 + b'", "type": "' + b"t" * 100_000 + b'", "code": 400}}',
    "message": b'{"message": "' + b"why " * 50_000 + b'", "__type": "' + b"t" * 100_000 + b'"}',
    "list": b'[{"error": {"message": "' + b"w" * 200_000 + b'", "status": "' + b"S" * 100_000 + b'"}}]',
    "error-text": b'{"error": "' + b"why " * 50_000 + b'"}',
}


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("name", sorted(FORMATS))
def test_long_vendor_error_is_shortened(name: str, body: str):
    transpiler = FORMATS[name]()
    for status in (400, 401, 404, 429, 500):
        error = transpiler.error(WireResponse(status, {"content-type": "application/json"}, BODIES[body]))
        assert len(str(error)) < LONGEST
        assert len(repr(error)) < LONGEST
    with pytest.raises(AbstractCoreError) as caught:
        transpiler.decode(WireResponse(200, {"content-type": "application/json"}, BODIES[body]))
    assert len(str(caught.value)) < LONGEST


def test_record_contains_only_the_message_of_an_error(services):
    records: list[CallRecord] = []

    class Failing:
        async def around_call(self, context: Any, next: Any) -> Any:
            raise RuntimeError(LONG)

    llm = create_llm("scripted", replies=["x"], middleware=[Failing()], services=services)
    with services.records.subscribe(records.append, "full"), pytest.raises(Exception, match="A"):
        llm.generate("hi")
    assert len(records) == 1
    assert records[0].error is not None
    assert 0 < len(records[0].error.message) < LONGEST


@pytest.mark.parametrize("name", HUGE)
def test_only_the_beginning_of_a_large_value_is_formatted(name: str):
    peaks: list[int] = []
    for _ in range(5):  # threads of other tests may allocate beside one of them
        tracemalloc.start()
        try:
            text = shown(HUGE[name])
            peaks.append(tracemalloc.get_traced_memory()[1])
        finally:
            tracemalloc.stop()
        assert len(text) <= 83
    assert min(peaks) < 50_000 or name == "path"  # a path writes itself


class Counted(list[Any]):
    """Counts how many of its items are looked at."""

    looked_at = 0

    def __iter__(self) -> Iterator[Any]:
        for item in super().__iter__():
            self.looked_at += 1
            yield item


def test_only_the_first_items_of_a_long_list_are_visited():
    many = Counted(range(100_000))
    assert shown(many).endswith("...")
    assert many.looked_at < 90


@pytest.mark.parametrize(
    "value",
    [
        [1, (2,), {3}, frozenset({4}), {"a": None}],
        (),
        set(),
        {},
        "it's",
        b"x",
        1.5,
        10**70,
        TextPart("a"),
        freeze([{}]),
    ],
    ids=repr,
)
def test_small_value_is_formatted_like_repr(value: Any):
    assert shown(value) == (repr(value) if len(repr(value)) <= 80 else f"{repr(value)[:80]}...")


def test_number_of_omitted_characters_is_shown():
    text = " ".join(str(number) for number in range(1000))
    cut = shortened(text, 100)
    assert cut.startswith("0 1 2")
    assert cut.endswith("998 999")
    assert f"[... {len(text) - 100:,} characters ...]" in cut
    assert shortened("short", 100) == "short"


def test_error_with_a_long_message_keeps_hint_and_path():
    error = ServerError("why " * 1_000_000, hint="Try again.", provider="p", model="m", status=500)
    assert str(error).startswith("p/m: why why")
    assert str(error).endswith("Try again.")
    assert SchemaError(LONG, "a.b").path == "a.b"
