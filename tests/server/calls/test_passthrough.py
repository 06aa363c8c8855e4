"""Where client and provider speak one API, the bytes of both go through untouched; receipts say what was changed."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx2
import pytest
from typer.testing import CliRunner

from abstractcore import InvalidInputError
from abstractcore.schema import WireRequest
from abstractcore_cli.app import app
from abstractcore_providers.formats.openai_chat import OpenAIChat
from abstractcore_server import Settings
from abstractcore_server.calls.passthrough import ReadCall, Relay, changed_paths, with_text
from abstractcore_server.configuration.settings import ServerSettings
from abstractcore_server.records import ReceiptFolder
from tests.chaos_server import CUT, DONE, LAST_CHUNK, USAGE, chunk, delta, raw_answer, stream_head
from tests.leftovers import wait_until
from tests.server.serving import VENDOR_KEY, Served, serving

REPLIES: dict[str, Any] = {
    "openai-compatible": {
        "id": "chat-1",
        "object": "chat.completion",
        "created": 1_750_000_000,
        "choices": [{"index": 0, "message": {"role": "assistant", "content": "h\u00e9"}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5},
        "new_field": {"a": [1, 2.50]},
        "model": "m-1",
    },
    "anthropic": {
        "model": "claude-sonnet-4-5",
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "content": [
            {"type": "thinking", "thinking": "2+2", "signature": "c2ln"},
            {"type": "text", "text": "4", "citations": None},
        ],
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 12, "output_tokens": 8, "service_tier": "standard"},
    },
    "google": {
        "usageMetadata": {"promptTokenCount": 3, "candidatesTokenCount": 2, "totalTokenCount": 5},
        "candidates": [{"content": {"role": "model", "parts": [{"text": "4"}]}, "finishReason": "STOP", "index": 0}],
        "modelVersion": "gemini-3",
        "unknownField": 1,
    },
}
PATHS = {
    "openai-compatible": "/v1/chat/completions",
    "anthropic": "/v1/messages",
    "google": "/v1beta/models/google/gemini-3.5-flash:generateContent",
}
REQUESTS = {
    "openai-compatible": (
        b'{ "temperature":0.50, "model"  : "openai-compatible\\/m-1" ,\n"metadata": {"model": "inner"}, '
        b'"top_k_new": [1e2],"messages":[{"content":"h\\u00e9 \xc3\xa9","role":"user","model":"x"}] }'
    ),
    "anthropic": (
        b'{"messages": [{"role":"user","content":[{"text":"'
        + b"2+2? " * 2000
        + b'","type":"text","cache_control":{"type":"ephemeral"}}]},'
        b'{"role":"assistant","content":[{"type":"thinking","signature":"c2ln","thinking":"hm"},'
        b'{"type":"text","text":"4"}]},{"role":"user","content":[{"type":"text","text":"sure?"}]}],'
        b'"max_tokens":2048,  "thinking":{"budget_tokens":1024,"type":"enabled"},'
        b'"model":"anthropic/claude-sonnet-4-5"}'
    ),
    "google": b'{"contents":[{"parts":[{"text":"2+2?"}],"role":"user"}],  "generationConfig":{"maxOutputTokens":64}}',
}


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def post(http: httpx2.Client, path: str, body: bytes, **headers: str) -> httpx2.Response:
    return http.post(path, content=body, headers={"content-type": "application/json", **headers})


def receipt_of(response: httpx2.Response) -> dict[str, Any]:
    return json.loads(response.headers["x-abstractcore-receipt"])


@pytest.mark.parametrize("provider", REQUESTS)
def test_only_the_models_name_is_changed_in_the_bytes(provider: str, served: Served, http: httpx2.Client):
    reply = b" " + json.dumps(REPLIES[provider], indent=1).encode() + b"\n"
    served.vendor.script(raw_answer(reply))
    request = REQUESTS[provider]
    response = post(http, PATHS[provider], request, authorization="Bearer client-key-0123456789")
    assert response.status_code == 200
    (sent,) = served.vendor.requests
    given = {b"openai-compatible\\/m-1": b"m-1", b"anthropic/claude-sonnet-4-5": b"claude-sonnet-4-5"}
    expected = request
    for before, after in given.items():
        expected = expected.replace(before, after)
    assert sent.body == expected
    assert b"client-key" not in repr(sent.headers).encode()
    assert VENDOR_KEY in repr(sent.headers)
    changed = [] if provider == "google" else ["model"]
    model = {"google": "google/gemini-3.5-flash", "anthropic": "anthropic/claude-sonnet-4-5"}.get(
        provider, f"{provider}/m-1"
    )
    own = {"google": b"gemini-3", "anthropic": b"claude-sonnet-4-5"}.get(provider, b"m-1")
    renamed = reply.replace(b'"%s"' % own, b'"%s"' % model.encode())
    assert response.content == renamed
    call = {"model": model, "request": digest(expected), "changed": changed, "reply": digest(reply)}
    whole = {"request": digest(request), "calls": [call], "reply": digest(renamed), "reply_changed": ["model"]}
    assert receipt_of(response) == whole


def test_stream_goes_through_byte_for_byte(served: Served, http: httpx2.Client):
    events = [
        delta("4", unknown={"a": 1.0}),
        b"event: x\r\ndata: " + delta("2")[6:-2] + b"\r\n\r\n",
        delta(finish_reason="stop"),
    ]
    whole = b"".join((*events, USAGE, DONE))
    pieces = [whole[at : at + 37] for at in range(0, len(whole), 37)]
    served.vendor.script(stream_head() + b"".join(map(chunk, pieces)) + LAST_CHUNK)
    body = {"model": "openai-compatible/m-1", "messages": [{"role": "user", "content": "?"}]}
    request = json.dumps({**body, "stream": True, "stream_options": {"include_usage": True}}).encode()
    response = post(http, "/v1/chat/completions", request)
    assert response.content == renamed(whole)
    call = {"model": "openai-compatible/m-1", "request": digest(served.vendor.requests[0].body), "changed": ["model"]}
    receipt = {"request": digest(request), "calls": [call], "reply": None, "reply_changed": ["model"]}
    assert receipt_of(response) == receipt


def renamed(stream: bytes) -> bytes:
    """The vendor's stream, with the model's name that the client has sent."""
    return stream.replace(b'"model": "m-1"', b'"model": "openai-compatible/m-1"')


def test_error_in_a_stream_stands_between_its_events(served: Served, http: httpx2.Client):
    served.vendor.script(stream_head() + chunk(delta("4") + delta("2")[:20]), CUT)
    body = {"model": "openai-compatible/m-1", "messages": [{"role": "user", "content": "?"}]}
    request = json.dumps({**body, "stream": True, "stream_options": {"include_usage": True}}).encode()
    first, second, *_ = post(http, "/v1/chat/completions", request).content.split(b"\n\n")
    assert first + b"\n\n" == renamed(delta("4"))
    assert "error" in json.loads(second.removeprefix(b"data: "))


@pytest.mark.parametrize(
    ("more", "changed"),
    [
        ({"abstractcore": {}}, ["model", "abstractcore"]),
        ({"n": 2}, ["model", "n"]),
        ({"stream": True}, ["model", "stream_options"]),
    ],
)
def test_what_the_server_changes_is_in_the_receipt(
    more: dict[str, Any], changed: list[str], served: Served, http: httpx2.Client
):
    if "stream" in more:
        served.vendor.script(
            stream_head() + chunk(delta("4") + delta(finish_reason="stop") + USAGE + DONE) + LAST_CHUNK
        )
    else:
        for _ in range(more.get("n", 1)):
            served.vendor.script(raw_answer(json.dumps(REPLIES["openai-compatible"]).encode()))
    body = {"model": "openai-compatible/m-1", "messages": [{"role": "user", "content": "?"}], **more}
    response = post(http, "/v1/chat/completions", json.dumps(body).encode())
    assert response.status_code == 200
    calls = receipt_of(response)["calls"]
    assert [call["changed"] for call in calls] == [changed] * more.get("n", 1)
    assert [call["request"] for call in calls] == [digest(each.body) for each in served.vendor.requests]


def test_key_that_stands_twice_is_sent_once(served: Served, http: httpx2.Client):
    served.vendor.script(raw_answer(json.dumps(REPLIES["openai-compatible"]).encode()))
    request = (
        b'{"model":"openai-compatible/m-2","model":"openai-compatible/m-1","messages":[{"role":"user","content":"?"}]}'
    )
    assert post(http, "/v1/chat/completions", request).status_code == 200
    assert json.loads(served.vendor.requests[0].body)["model"] == "m-1"
    assert served.vendor.requests[0].body.count(b'"model"') == 1


class Chunks:
    """The body of an answer, in chunks."""

    status = 200
    headers: Mapping[str, str] = {}

    def __init__(self, *chunks: bytes) -> None:
        self._chunks = [*chunks]

    async def read(self) -> bytes:
        return self._chunks.pop(0) if self._chunks else b""

    async def close(self) -> None:
        """Does nothing."""

    def abort(self) -> None:
        """Does nothing."""


@pytest.mark.parametrize(("model", "untouched"), [('"model":"m",', True), ("", False)])
def test_request_with_a_model_is_rewritten_for_a_format_without_one(model: str, untouched: bool):
    """Claude on Vertex AI has the model in the URL: a body that names it is refused there."""
    ours = b'{"model": "m", "anthropic_version": "2026-10-21", "messages": [], "max_tokens": 5}'
    sent = f'{{{model}"anthropic_version":"2026-10-21","messages":[],"max_tokens":5}}'.encode()
    call: Any = object()
    attempt: Any = SimpleNamespace(encoded=call, number=1, request=WireRequest("/", {}, sent))
    relay = Relay(ours, json.loads(ours), ReadCall(call, OpenAIChat()))
    assert relay.body_for(attempt) == (ours if untouched else sent)
    assert relay.is_untouched == untouched


def test_retry_leaves_nothing_of_the_failed_attempt():
    relay = Relay(b"{}", {})

    async def read_all(number: int, *chunks: bytes) -> None:
        request: Any = SimpleNamespace(request=WireRequest("", {}, b"{}"), number=number)
        relay.body_for(request)
        body = relay.listen(Chunks(*chunks))
        while await body.read():
            pass

    asyncio.run(read_all(1, b"data: a\n\ndata", b": b"))
    assert relay.take_events() == b"data: a\n\n"
    asyncio.run(read_all(2, b"data: c\n\n"))
    assert (relay.answer, relay.take_events(), relay.take_rest()) == (b"data: c\n\n", b"data: c\n\n", b"")
    assert len(relay.calls) == 1


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b'{"model":"a"}', b'{"model":"b/\xc3\xa9"}'),
        (b'\t{ "x" : "\\"model\\"" , "model" :\n"a"}\r\n', b'\t{ "x" : "\\"model\\"" , "model" :\n"b/\xc3\xa9"}\r\n'),
        (b'{"mod\\u0065l":"a"}', b'{"mod\\u0065l":"b/\xc3\xa9"}'),
        (b'{"x":{"model":"a"},"model":"a","z":1E400}', b'{"x":{"model":"a"},"model":"b/\xc3\xa9","z":1E400}'),
        (b'{"y":["model","a"],"model":"a"}', b'{"y":["model","a"],"model":"b/\xc3\xa9"}'),
        (b'{"a":"\\ud83d\\ude00","model":"\\u0061"}', b'{"a":"\\ud83d\\ude00","model":"b/\xc3\xa9"}'),
        (b'{"a":"\\ud800","model":"a"}', None),
        (b'{"a":1}', None),
        (b'{"model":"a","mod\\u0065l":"a"}', None),
        (b'{"x":[{"y":1,"y":2}],"model":"a"}', None),
        ('{"model":"a"}'.encode("utf-16"), None),
    ],
)  # fmt: skip
def test_name_of_the_model_is_replaced_in_the_bytes(body: bytes, expected: bytes | None):
    assert with_text(body, ("model",), "b/é") == expected


@pytest.mark.parametrize(
    ("before", "after", "changed"),
    [
        ({"a": 1, "b": [1, {"c": None}]}, {"b": [1.0, {"c": None}], "a": 1}, ()),
        ({"a": 1}, {"a": True}, ("a",)),
        ({"a": {"b": [1, 2]}, "d": 1}, {"a": {"b": [1, 3]}, "c": 0}, ("a.b[1]", "d", "c")),
        ({"a": [1]}, {"a": [1, 2]}, ("a",)),
        ({"a": {}}, {"a": []}, ("a",)),
        ([], {}, ("",)),
    ],
)
def test_paths_of_changes(before: Any, after: Any, changed: tuple[str, ...]):
    assert changed_paths(before, after) == changed


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("server") / "receipts"


@pytest.fixture(scope="module")
def keeping(folder: Path) -> Iterator[Served]:
    with serving(Settings(server=ServerSettings(receipts=str(folder)))) as served:
        yield served


@pytest.fixture
def trace(keeping: Served, folder: Path) -> tuple[str, bytes, bytes]:
    """A trace with a receipt, its request and its reply."""
    keeping.begin_test()
    keeping.vendor.script(raw_answer(json.dumps(REPLIES["openai-compatible"]).encode()))
    with httpx2.Client(base_url=keeping.url, trust_env=False) as http:
        response = post(http, PATHS["openai-compatible"], REQUESTS["openai-compatible"])
    trace_id = response.headers["x-abstractcore-trace-id"]
    wait_until((folder / trace_id / "receipt.json").exists)  # it is written after the last byte of the answer
    return trace_id, REQUESTS["openai-compatible"], response.content


def verified(folder: Path, trace: str, *more: str) -> tuple[int, dict[str, tuple[bool, str]]]:
    """What `abstractcore verify` finds, with its exit code."""
    result = CliRunner().invoke(app, ["verify", trace, "--receipts", str(folder), "--json", *more])
    data = json.loads(result.stdout)
    assert data["exit_code"] == result.exit_code
    return result.exit_code, {each["what"]: (each["agrees"], each["note"]) for each in data["findings"]}


def test_receipt_is_verified(trace: tuple[str, bytes, bytes], folder: Path, tmp_path: Path):
    name, request, reply = trace
    (tmp_path / "request").write_bytes(request)
    (tmp_path / "reply").write_bytes(reply)
    own = ("--request", str(tmp_path / "request"), "--reply", str(tmp_path / "reply"))
    code, found = verified(folder, name, *own)
    assert code == 0
    assert found == {
        "request as received": (True, ""),
        "request of the client": (True, ""),
        "request as sent to openai-compatible/m-1": (True, ""),
        "changed paths": (True, "model"),
        "reply of openai-compatible/m-1": (True, ""),
        "reply as sent": (True, "changed: model"),
        "reply of the client": (True, ""),
    }
    shown = CliRunner().invoke(app, ["verify", name, "--receipts", str(folder)])
    assert shown.exit_code == 0
    assert "reply as sent\tagrees\tchanged: model" in shown.stdout


def test_bodies_are_for_their_owner_only(trace: tuple[str, bytes, bytes], folder: Path):
    for path in (folder / trace[0]).iterdir():
        assert path.stat().st_mode & 0o077 == 0
        assert VENDOR_KEY.encode() not in path.read_bytes()
    assert (folder / trace[0]).stat().st_mode & 0o077 == 0


def test_what_was_tampered_with_differs(trace: tuple[str, bytes, bytes], folder: Path, tmp_path: Path):
    name, request, reply = trace
    (folder / name / digest(reply)).write_bytes(reply + b" ")
    code, found = verified(folder, name)
    assert code == 1
    assert {what for what, (agrees, _) in found.items() if not agrees} == {"reply as sent"}
    (folder / name / digest(reply)).write_bytes(reply)
    file = folder / name / "receipt.json"
    data = json.loads(file.read_text())
    data["calls"][0]["changed"] = []
    file.write_text(json.dumps(data))
    (tmp_path / "other").write_bytes(request.replace(b"0.50", b"0.51"))
    code, found = verified(folder, name, "--request", str(tmp_path / "other"))
    assert code == 1
    assert {what for what, (agrees, _) in found.items() if not agrees} == {"changed paths", "request of the client"}


@pytest.mark.parametrize("trace_id", ["0" * 32, "../keys", ""])
def test_unknown_traces_are_named(trace_id: str, folder: Path):
    result = CliRunner().invoke(app, ["verify", trace_id, "--receipts", str(folder)])
    assert result.exit_code == 2
    assert "there is no receipt of" in result.stderr


def test_receipt_that_cannot_be_read_is_an_error(trace: tuple[str, bytes, bytes], folder: Path):
    (folder / trace[0] / "receipt.json").write_text('{"request": 1}')
    with pytest.raises(InvalidInputError, match="cannot be read"):
        ReceiptFolder(folder).verify(trace[0])


def test_receipt_folder_that_cannot_be_written_stops_no_answer(tmp_path: Path, caplog: pytest.LogCaptureFixture):
    (tmp_path / "file").write_text("")
    with serving(Settings(server=ServerSettings(receipts=str(tmp_path / "file" / "receipts")))) as served:
        served.vendor.script(raw_answer(json.dumps(REPLIES["openai-compatible"]).encode()))
        with httpx2.Client(base_url=served.url, trust_env=False) as http:
            assert post(http, PATHS["openai-compatible"], REQUESTS["openai-compatible"]).status_code == 200
    assert "was not written" in caplog.text
