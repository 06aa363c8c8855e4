"""A server on localhost built from a format's server side, for the vendors' clients."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from abstractcore.errors import AbstractCoreError, InvalidInputError
from abstractcore.ports import Transpiler
from abstractcore.schema import ModelCall, ModelReply, WireRequest, deltas_of

Answer = ModelReply | AbstractCoreError | tuple[ModelReply, AbstractCoreError]


class FormatServer(ThreadingHTTPServer):
    """Answers every call with what `answer` makes of it: a reply, an error, or a reply cut by an error."""

    daemon_threads = True

    def __init__(self, transpiler: Transpiler, stream_type: str, answer: Callable[[ModelCall], Answer]) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.transpiler = transpiler
        self.stream_type = stream_type
        self.answer = answer
        self.calls: list[ModelCall] = []
        self.paths: list[str] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    server: FormatServer  # type: ignore[assignment]

    def do_POST(self) -> None:
        transpiler = self.server.transpiler
        body = self.rfile.read(int(self.headers["content-length"]))
        self.server.paths.append(self.path)
        try:
            call = transpiler.parse(WireRequest(self.path, {}, body)).call
        except InvalidInputError as error:
            self._fail(error)
            return
        self.server.calls.append(call)
        answer = self.server.answer(call)
        if isinstance(answer, AbstractCoreError):
            self._fail(answer)
        elif call.stream:
            cut = answer if isinstance(answer, tuple) else (answer, None)
            self._send(200, {"content-type": self.server.stream_type}, stream_of(transpiler, *cut))
        else:
            assert isinstance(answer, ModelReply)
            self._send(200, {"content-type": "application/json"}, transpiler.render(answer).body)

    def _fail(self, error: AbstractCoreError) -> None:
        response = self.server.transpiler.render_error(error)
        self._send(response.status, dict(response.headers), response.body)

    def _send(self, status: int, headers: dict[str, str], body: bytes) -> None:
        self.send_response(status)
        for name, value in {**headers, "content-length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing."""


def stream_of(transpiler: Transpiler, reply: ModelReply, error: AbstractCoreError | None) -> bytes:
    """A stream of `reply`; with an error, of all but its end."""
    renderer, deltas = transpiler.renderer(), deltas_of(reply)
    if error is not None:
        return b"".join(map(renderer.feed, deltas[:-2])) + renderer.error(error)
    return b"".join(map(renderer.feed, deltas)) + renderer.finish()


@contextmanager
def serving(transpiler: Transpiler, stream_type: str, reply: ModelReply) -> Iterator[FormatServer]:
    """A server that answers `reply` until it is changed."""
    with FormatServer(transpiler, stream_type, lambda call: reply) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
