"""A small server of cached contents on localhost, after https://ai.google.dev/api/caching."""

import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

NOW = datetime(2026, 1, 1, tzinfo=UTC)
MISSING = {"code": 403, "status": "PERMISSION_DENIED", "message": "CachedContent not found (or permission denied)"}
_FIELDS = {"model", "contents", "systemInstruction", "tools", "toolConfig", "displayName", "ttl"}
_TTL = re.compile(r"(\d+)s")


class CacheServer(ThreadingHTTPServer):
    """Keeps contents, ends them, and answers calls that use them. `seen` are the requests."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.seen: list[tuple[str, str, Any]] = []
        self.kept: dict[str, Any] = {}
        self.made = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def answer(self, method: str, path: str, body: Any) -> tuple[int, Any]:
        self.seen.append((method, path, body))
        place, _, query = path.partition("?")
        if place.endswith(":generateContent"):
            return self._generate(body)
        collection, _, id = place.partition("cachedContents/")
        parent = collection.removeprefix("/v1beta/").removeprefix("/v1/")
        if method == "POST":
            return self._create(parent.removesuffix("cachedContents"), body)
        name = f"{parent}cachedContents/{id}"
        if name not in self.kept:
            return 403, {"error": MISSING}
        if method == "DELETE":
            del self.kept[name]
            return 200, {}
        if method == "PATCH":
            assert query in ("", "updateMask=ttl")
            self.kept[name] |= self._end(body["ttl"])
        return 200, self.kept[name]

    def _create(self, parent: str, body: Any) -> tuple[int, Any]:
        if not {"model"} <= body.keys() <= _FIELDS:
            return 400, {"error": {"code": 400, "status": "INVALID_ARGUMENT", "message": "unknown name"}}
        self.made += 1
        name = f"{parent}cachedContents/c{self.made}"
        usage = {"usageMetadata": {"totalTokenCount": 5000}}
        shown = {field: body[field] for field in ("model", "displayName") if field in body}
        self.kept[name] = {"name": name, **shown, **usage, **self._end(body["ttl"])}
        return 200, self.kept[name]

    def _end(self, ttl: str) -> Any:
        found = _TTL.fullmatch(ttl)
        assert found is not None
        return {"expireTime": (NOW + timedelta(seconds=int(found[1]))).isoformat().replace("+00:00", "Z")}

    def _generate(self, body: Any) -> tuple[int, Any]:
        if body["cachedContent"] not in self.kept:
            return 403, {"error": MISSING}
        counts = {"promptTokenCount": 5003, "cachedContentTokenCount": 5000, "candidatesTokenCount": 1}
        content = {"role": "model", "parts": [{"text": "Yes."}]}
        return 200, {"candidates": [{"content": content, "finishReason": "STOP"}], "usageMetadata": counts}


class Handler(BaseHTTPRequestHandler):
    server: CacheServer  # type: ignore[assignment]

    def do_GET(self) -> None:
        self.do_POST()

    def do_PATCH(self) -> None:
        self.do_POST()

    def do_DELETE(self) -> None:
        self.do_POST()

    def do_POST(self) -> None:
        length = int(self.headers.get("content-length") or 0)
        body = json.loads(self.rfile.read(length)) if length else None
        status, answer = self.server.answer(self.command, self.path, body)
        data = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing."""


@contextmanager
def cache_server() -> Iterator[CacheServer]:
    """The server, as long as it is needed."""
    with CacheServer() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()
