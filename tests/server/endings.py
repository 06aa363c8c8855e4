"""Every way in which a call ends, for the walk over all limits in `test_settlements.py`."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

import httpx2
from websockets.sync.client import connect

from abstractcore import Message, ModelCall
from abstractcore.files.token_estimates import estimated_tokens
from tests.chaos_server import (
    CUT,
    DONE,
    HANG,
    LAST_CHUNK,
    PATIENCE_SECONDS,
    RESET,
    answer,
    chunk,
    completion,
    completion_body,
    delta,
    event,
    failure,
    raw_answer,
    stream_head,
    streamed,
)
from tests.documents import ROOT
from tests.server.multipart import form
from tests.server.serving import Served

TEXT = "What is it? " * 138
ASKED_TOKENS = int(estimated_tokens(ModelCall("m", (Message.user(TEXT),))))
"""The tokens of what clients ask, as an estimate: about 400."""
MODEL = "openai-compatible/m"
ASK: dict[str, Any] = {"model": MODEL, "messages": [{"role": "user", "content": TEXT}]}
PATHS: Mapping[str, dict[str, Any]] = {
    "/v1/chat/completions": ASK,
    "/v1/messages": {**ASK, "max_tokens": 100},
    "/v1/responses": {"model": MODEL, "input": TEXT},
}
"""One client whose bytes go through to the vendor, and two that are translated."""
SPEECH = {"model": "tts-1", "input": "Good morning.", "voice": "alloy", "response_format": "pcm"}
IMAGE = {"model": "gpt-image-1.5", "prompt": TEXT}
MEETING = (ROOT / "examples/media/meeting.wav").read_bytes()
TOOLS = [{"type": "mcp", "server_label": "shop"}]
BEGUN = (stream_head(), chunk(delta("Bonjour")))
FUNCTION = {"name": "price", "arguments": '{"item": "tea"}'}
TOOL_CALL = {"id": "call_1", "type": "function", "function": FUNCTION}


@dataclass
class Client:
    """A client with a key of the server."""

    served: Served
    key: str

    @property
    def headers(self) -> dict[str, str]:
        """The headers of its requests."""
        return {"authorization": f"Bearer {self.key}"}

    def post(self, path: str, body: dict[str, Any], **more: Any) -> httpx2.Response:
        """Sends a request, and reads the response."""
        given: dict[str, Any] = more or {"json": body}
        headers = {**self.headers, **given.pop("headers", {})}
        with httpx2.Client(base_url=self.served.url, trust_env=False, timeout=PATIENCE_SECONDS) as http:
            return http.post(path, headers=headers, **given)

    def get(self, path: str) -> Any:
        """Returns the JSON at a path."""
        return httpx2.get(self.served.url + path, headers=self.headers).json()

    @contextmanager
    def asking(self, path: str, body: dict[str, Any], *, after: bytes = b"", requests: int = 1) -> Generator[None]:
        """Sends a request, and waits until the vendor has so many and, if given, the client has read `after`; leaves
        at the end of `with`.
        """
        content = json.dumps(body).encode()
        host, port = self.served.url.removeprefix("http://").split(":")
        head = f"POST {path} HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {self.key}\r\n"
        with socket.create_connection((host, int(port)), PATIENCE_SECONDS) as client:
            client.sendall(f"{head}content-length: {len(content)}\r\n\r\n".encode() + content)
            self.served.vendor.wait_for_requests(requests)
            read = b""
            while after not in read:
                piece = client.recv(65536)
                assert piece, read
                read += piece
            yield


@dataclass(frozen=True)
class Ending:
    """One ending: what `drive` does. It has so many `calls`, and at the `least` so many tokens have reached a vendor:
    of those that cost nothing, none.
    """

    drive: Callable[[Client], object]
    least: int = 1
    calls: int = 1


def scripted(*steps: Any, path: str, more: dict[str, Any] | None = None, calls: int = 1) -> Callable[[Client], object]:
    """A request that is answered as the vendor's script says."""

    def drive(client: Client) -> None:
        for _ in range(calls):
            client.served.vendor.script(*steps)
        client.post(path, {**PATHS[path], **(more or {})})
        client.served.vendor.wait_for_requests(calls)  # one that arrives later would take the script of another test

    return drive


def left(*steps: Any, path: str, body: dict[str, Any], after: bytes = b"") -> Callable[[Client], object]:
    """A client that leaves."""

    def drive(client: Client) -> None:
        client.served.vendor.script(*steps)
        with client.asking(path, body, after=after):
            pass

    return drive


def of_chat(path: str) -> dict[str, Ending]:
    """The endings of a chat on a path."""
    stream, own = {"stream": True}, {"abstractcore": {"timeout": 0.5}}
    unreported = answer({name: value for name, value in completion_body().items() if name != "usage"})
    broken = event({"error": {"message": "no", "type": "server_error"}})
    whole: dict[str, tuple[tuple[Any, ...], int]] = {
        "answered": ((completion(),), 1),
        "answered without usage": ((unreported,), 1),
        "refused by the vendor": ((failure(400),), 0),
        "failed by the vendor": ((failure(500),), 0),
        "cut amid the answer": ((completion()[:-9], CUT), 1),
        "cut before the answer": ((RESET,), 1),
        "answered with something else": ((raw_answer(b"[]"),), 1),
    }
    streams: dict[str, tuple[tuple[Any, ...], int]] = {
        "answered": ((streamed("Bonjour"),), 1),
        "answered without usage": (
            (*BEGUN, chunk(delta(finish_reason="stop") + DONE), LAST_CHUNK),
            1,
        ),
        "failed by the vendor": ((failure(500),), 0),
        "error as the first event": ((stream_head(), chunk(broken), LAST_CHUNK), 1),
        "error amid the answer": ((*BEGUN, chunk(broken), LAST_CHUNK), 1),
        "cut amid the answer": ((*BEGUN, CUT), 1),
        "cut before the first event": ((stream_head(), CUT), 1),
    }
    body = PATHS[path]
    endings = {
        **{f"whole, {name}": Ending(scripted(*steps, path=path), least) for name, (steps, least) in whole.items()},
        **{
            f"stream, {name}": Ending(scripted(*steps, path=path, more=stream), least)
            for name, (steps, least) in streams.items()
        },
        "whole, no time left": Ending(scripted(HANG, path=path, more=own)),
        "stream, no time left before the first event": Ending(scripted(HANG, path=path, more={**own, **stream})),
        "stream, no time left amid the answer": Ending(scripted(*BEGUN, HANG, path=path, more={**own, **stream})),
        "whole, the client leaves": Ending(left(HANG, path=path, body=body)),
        "stream, the client leaves before the first event": Ending(left(HANG, path=path, body={**body, **stream})),
        "stream, the client leaves amid the answer": Ending(
            left(*BEGUN, HANG, path=path, body={**body, **stream}, after=b"Bonjour")
        ),
    }
    return {f"{path}: {name}": ending for name, ending in endings.items()}


def refused_request(client: Client) -> None:
    """A guard refuses the request."""
    client.post("/v1/chat/completions", {**ASK, "model": "guarded-calls"})


def refused_answer(*, stream: bool) -> Callable[[Client], None]:
    """A guard refuses the answer."""

    def drive(client: Client) -> None:
        client.served.vendor.script(streamed("12345678", "bomb", "12345678") if stream else completion("bomb"))
        client.post("/v1/chat/completions", {**ASK, "model": "guarded-answers", "stream": stream})

    return drive


def next_model(client: Client) -> None:
    """The first model has no time left, and the next one answers."""
    client.served.vendor.script(stream_head(), CUT)
    client.served.vendor.script(streamed("Bonjour"))
    client.post("/v1/chat/completions", {**ASK, "model": "either", "stream": True})


def tried_again(client: Client) -> None:
    """The answer to the first attempt is cut, and the provider is asked again."""
    client.served.vendor.script(completion()[:-9], CUT)
    client.served.vendor.script(answer(RESPONSE))
    client.post("/v1/responses", {"model": "openai-responses/gpt-5.6", "input": TEXT})


def one_of_two_fails(client: Client) -> None:
    """Of two answers one fails, which cancels the other."""
    client.served.vendor.script(HANG)
    client.served.vendor.script(failure(500))
    client.post("/v1/chat/completions", {**ASK, "n": 2})


def in_background(how: str) -> Callable[[Client], None]:
    """A response that is made in the background, and ends as `how` says."""

    def drive(client: Client) -> None:
        client.served.vendor.script(completion() if how == "done" else HANG)
        id = client.post("/v1/responses", {"model": MODEL, "input": TEXT, "background": True}).json()["id"]
        client.served.vendor.wait_for_requests(1)
        if how == "cancelled":
            client.post(f"/v1/responses/{id}/cancel", {})
        elif how == "deleted":
            httpx2.delete(f"{client.served.url}/v1/responses/{id}", headers=client.headers)

    return drive


def over_websocket(*, leaves: bool) -> Callable[[Client], None]:
    """A response over WebSocket."""

    def drive(client: Client) -> None:
        client.served.vendor.script(*((*BEGUN, HANG) if leaves else (streamed("Bonjour"),)))
        url = client.served.url.replace("http", "ws") + "/v1/responses"
        with connect(url, additional_headers=client.headers, proxy=None) as connection:
            connection.send(json.dumps({"type": "response.create", "model": MODEL, "input": TEXT, "store": False}))
            last = "response.output_text.delta" if leaves else "response.completed"
            while json.loads(connection.recv(PATIENCE_SECONDS, decode=True))["type"] != last:
                pass
            if leaves:
                connection.socket.shutdown(socket.SHUT_WR)

    return drive


def counted(client: Client) -> None:
    """A count of tokens, for which no vendor charges."""
    client.post("/v1/messages/count_tokens", ASK)


def transcribed(client: Client) -> None:
    """A recording is transcribed."""
    client.served.vendor.script(answer({"text": "Good morning."}))
    fields = [("model", None, b"whisper-1"), ("prompt", None, TEXT.encode()), ("file", "a.wav", MEETING)]
    content, kind = form(fields)
    client.post("/v1/audio/transcriptions", {}, content=content, headers={"content-type": kind})


def of_media() -> dict[str, Ending]:
    """The endings of what is not a chat."""
    sound = stream_head(content_type="audio/pcm")
    pictures = answer({"created": 1, "data": [{"b64_json": "iVBORw0KGgo="}]})
    vectors = answer({"data": [{"index": 0, "embedding": [1.0]}], "model": "m", "usage": {"prompt_tokens": 9}})
    moderation = answer({"id": "m", "model": "omni-moderation-latest", "results": []})
    bodies = {
        "/v1/audio/speech": (SPEECH, (sound, chunk(bytes(48_000)), LAST_CHUNK)),
        "/v1/images/generations": (IMAGE, (pictures,)),
        "/v1/moderations": ({"input": TEXT}, (moderation,)),
        "/v1/embeddings": ({"input": TEXT, "model": "openai/text-embedding-3-small"}, (vectors,)),
    }
    endings: dict[str, Ending] = {"transcribed": Ending(transcribed)}
    for path, (body, steps) in bodies.items():

        def made(client: Client, path: str = path, body: dict[str, Any] = body, steps: Any = steps) -> None:
            client.served.vendor.script(*steps)
            client.post(path, body)

        def failed(client: Client, path: str = path, body: dict[str, Any] = body) -> None:
            client.served.vendor.script(failure(400))
            client.post(path, body)

        endings[f"{path}: made"] = Ending(made)
        endings[f"{path}: refused by the vendor"] = Ending(failed, least=0)
        endings[f"{path}: the client leaves"] = Ending(left(HANG, path=path, body=body))
    amid = left(sound, chunk(bytes(480_000)), HANG, path="/v1/audio/speech", body=SPEECH, after=b"\r\n\r\n")
    cut = (sound, chunk(bytes(48_000)), CUT)

    def broken(client: Client) -> None:
        client.served.vendor.script(*cut)
        with suppress(httpx2.HTTPError):  # the sound is cut off
            client.post("/v1/audio/speech", SPEECH)

    return {**endings, "speech: the client leaves amid": Ending(amid), "speech: cut amid": Ending(broken)}


def called_tool() -> bytes:
    """An answer that calls a tool, whose usage is not reported."""
    message = {"role": "assistant", "content": None, "tool_calls": [TOOL_CALL]}
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls"}
    return answer({"id": "c", "object": "chat.completion", "model": "m-1", "choices": [choice]})


def rounds(*last: Any, leaves: bool = 0) -> Callable[[Client], None]:
    """A call whose tools the server runs; the second round ends as the vendor's script says."""

    def drive(client: Client) -> None:
        client.served.vendor.script(called_tool())
        client.served.vendor.script(*last)
        body = {"model": MODEL, "input": TEXT, "tools": TOOLS}
        if not leaves:
            client.post("/v1/responses", body)
            return
        with client.asking("/v1/responses", body, requests=2):
            pass

    return drive


RESPONSE: dict[str, Any] = {
    "id": "resp_1",
    "object": "response",
    "created_at": 1,
    "model": "gpt-5.6",
    "status": "completed",
    "output": [
        {
            "type": "message",
            "id": "msg_1",
            "role": "assistant",
            "status": "completed",
            "content": [{"type": "output_text", "text": "hello", "annotations": []}],
        }
    ],
    "usage": {"input_tokens": 7, "output_tokens": 3, "total_tokens": 10},
}
ENDINGS: dict[str, Ending] = {
    **{name: ending for path in PATHS for name, ending in of_chat(path).items()},
    **of_media(),
    "guard refuses the request": Ending(refused_request, least=0),
    "guard refuses the answer": Ending(refused_answer(stream=False)),
    "guard refuses the answer amid a stream": Ending(refused_answer(stream=True)),
    "next model answers": Ending(next_model, ASKED_TOKENS, calls=2),
    "tried again": Ending(tried_again, 407),
    "one of two answers fails": Ending(one_of_two_fails, calls=2),
    "two answers": Ending(scripted(completion(), path="/v1/chat/completions", more={"n": 2}, calls=2), calls=2),
    "background, done": Ending(in_background("done")),
    "background, cancelled": Ending(in_background("cancelled")),
    "background, deleted": Ending(in_background("deleted")),
    "WebSocket, done": Ending(over_websocket(leaves=False)),
    "WebSocket, the client leaves": Ending(over_websocket(leaves=True)),
    "tokens counted": Ending(counted, least=0),
}
ROUNDS: dict[str, Ending] = {
    "rounds, answered": Ending(rounds(completion()), ASKED_TOKENS),
    "rounds, cut": Ending(rounds(completion()[:-9], CUT), 800),
    "rounds, refused by the vendor": Ending(rounds(failure(400)), ASKED_TOKENS),
    "rounds, the client leaves": Ending(rounds(HANG, leaves=True), 800),
}
