"""A server on this machine that plays a vendor: it refuses requests that are not of the published format."""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass, field
from email import message_from_bytes
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import urlsplit


@dataclass
class Request:
    """What a client sent."""

    method: str
    path: str
    query: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> dict[str, Any]:
        assert self.headers["content-type"] == "application/json"
        return json.loads(self.body)

    @property
    def form(self) -> dict[str, Any]:
        """The fields of a multipart form: texts, and of files their name, type and content."""
        head = f"content-type: {self.headers['content-type']}\r\n\r\n".encode()
        message = message_from_bytes(head + self.body)
        assert message.is_multipart()
        found: dict[str, Any] = {}
        for part in message.walk():
            if part.is_multipart():
                continue
            name = str(part.get_param("name", header="content-disposition"))
            content = part.get_payload(decode=True)
            assert isinstance(content, bytes)
            file = part.get_filename()
            found[name] = content.decode() if file is None else (file, part.get_content_type(), content)
        return found


@dataclass
class Answer:
    """What the server sends; `gate` is waited for before the last piece of a body."""

    status: int = 200
    body: Any = b""
    headers: dict[str, str] = field(default_factory=dict[str, str])


class VendorServer:
    """Answers each request by the handler of its method and path. `requests` are all, in order."""

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.handlers: dict[tuple[str, str], list[Any]] = {}
        self.key: tuple[str, str] | None = None
        self.problems: list[str] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = False
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def on(self, method: str, path: str, *answers: Any) -> None:
        """Answers a path by these answers, or functions of the request, in order; the last one again and again."""
        self.handlers[method, path] = list(answers)

    def sent(self, method: str, path: str) -> list[Request]:
        """The requests of a path."""
        return [each for each in self.requests if (each.method, each.path) == (method, path)]

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
        assert not self.problems, self.problems

    def answer(self, request: Request) -> Answer:
        self.requests.append(request)
        if self.key is not None and not request.path.startswith("/files/"):
            name, value = self.key
            if request.headers.get(name) != value:
                return Answer(401, {"error": {"message": "no key"}})
        handler = self.handlers.get((request.method, request.path))
        if handler is None:
            self.problems.append(f"{request.method} {request.path} is not of the format")
            return Answer(404, {"detail": "no such path"})
        made = handler.pop(0) if len(handler) > 1 else handler[0]
        if callable(made):
            made = made(request)
        return made if isinstance(made, Answer) else Answer(200, made)

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            def answer(self) -> None:
                body = self.rfile.read(int(self.headers.get("content-length", "0")))
                parts = urlsplit(self.path)
                headers = {name.lower(): value for name, value in self.headers.items()}
                request = Request(self.command, parts.path, parts.query, headers, body)
                try:
                    answer = server.answer(request)
                except Exception as error:  # told to the test at its end
                    server.problems.append(f"{type(error).__name__}: {error}")
                    answer = Answer(500, b"the fake failed")
                content = answer.body if isinstance(answer.body, bytes) else json.dumps(answer.body).encode()
                kind = "application/octet-stream" if isinstance(answer.body, bytes) else "application/json"
                self.send_response(answer.status)
                for name, value in {"content-type": kind, **answer.headers}.items():
                    self.send_header(name, value)
                self.send_header("content-length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            do_GET = do_POST = do_PUT = answer  # noqa: N815 - names of the library

            def log_message(self, format: str, *arguments: object) -> None: ...

        return Handler
