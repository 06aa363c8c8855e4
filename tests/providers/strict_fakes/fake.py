"""`Fake`: what a strict fake of a wire format knows, and the server that answers with it."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Fake:
    """`refusal` returns the vendor's message for a request that the model of a row refuses, None for a good one.

    `sent` returns the options of a call in a request, by our names, with thinking in our words. `options` are those
    that the format can express. `answer` returns the content type and body of an answer, plain or streamed, whose text
    is `TEXT`; `error` the body of a refusal. `thinking` are the values for it that the format has, None
    if there is a value that it has not.
    """

    refusal: Callable[[Row, str, Any], str | None]
    sent: Callable[[Any], dict[str, Any]]
    options: frozenset[str]
    answer: Callable[[bool], tuple[str, bytes]]
    error: Callable[[str], Any]
    is_streamed: Callable[[str, Any], bool]
    thinking: tuple[Any, ...]
    refusal_by_headers: Callable[[Row, str, Any, Mapping[str, str]], str | None] | None = None
    """As `refusal`, where it also depends on header fields, by names in lower case."""


TEXT = '{"name": "Rome"}'
"""The answer to every call, so that one with a schema is answered, too."""


class StrictVendor:
    """Answers calls for the model of `row`, or refuses them with status 400. `bodies` are the requests."""

    def __init__(self, fake: Fake) -> None:
        self.fake = fake
        self.row: Row = {}
        self.bodies: list[Any] = []

    def answer(self, path: str, headers: Mapping[str, str], content: bytes) -> tuple[int, str, bytes]:
        """Returns the status, content type and body of the answer; header names are in lower case."""
        body, fake = json.loads(content), self.fake
        self.bodies.append(body)
        refusal = fake.refusal(self.row, path, body)
        if refusal is None and fake.refusal_by_headers is not None:
            refusal = fake.refusal_by_headers(self.row, path, body, headers)
        if refusal is not None:
            return 400, "application/json", json.dumps(fake.error(refusal)).encode()
        return 200, *fake.answer(fake.is_streamed(path, body))


class StrictServer(StrictVendor, ThreadingHTTPServer):
    """A strict vendor at an address."""

    daemon_threads = True

    def __init__(self, fake: Fake) -> None:
        StrictVendor.__init__(self, fake)
        ThreadingHTTPServer.__init__(self, ("127.0.0.1", 0), Handler)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    """Answers with what its server says."""

    server: Any
    protocol_version = "HTTP/1.1"
    wbufsize = -1
    """Head and body are one packet: a second one would wait for the acknowledgement of the first."""

    def do_POST(self) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        status, content_type, body = self.server.answer(
            self.path, headers, self.rfile.read(int(headers["content-length"]))
        )
        self.send_response(status)
        self.send_header("content-type", content_type)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing."""


@contextmanager
def strict_server(fake: Fake) -> Iterator[StrictServer]:
    """Runs a server in a thread."""
    server = StrictServer(fake)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def refused(row: Row, options: Mapping[str, Any]) -> list[str]:
    """The options that a row refuses always or in these values: those it names, and those out of range."""
    found = [name for name in options if name in row.get("refused", ())]
    for name, (lowest, highest) in row.get("ranges", {}).items():
        if name in options and not lowest <= options[name] <= highest:
            found.append(name)
    most = row.get("max_output_tokens")
    if most is not None and options.get("max_output_tokens", 0) > most:
        found.append("max_output_tokens")
    return found


def thinking_refusal(row: Row, thinking: Any) -> str | None:
    """Why a row refuses a value for thinking: "off", a level, or a budget."""
    takes = row.get("thinking")
    if takes is None or thinking is None:
        return None
    levels, budget = takes.get("levels", []), takes.get("budget")
    if not levels and budget is None:
        return "Thinking is not enabled for this model."
    if thinking == "off":
        return None if takes.get("can_be_off", True) else "Budget 0 is invalid. This model only works in thinking mode."
    if isinstance(thinking, int):
        if budget is None:
            return "Thinking budget is not supported for this model."
        return None if budget[0] <= thinking <= budget[1] else f"The thinking budget {thinking} is invalid."
    return None if thinking in levels else f"Thinking level {thinking} is not supported for this model."
