"""As much of a Hugging Face hub as its client asks for: one repository, owner/repo."""

from __future__ import annotations

import hashlib
import json
import re
import threading
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

_COMMIT = "a" * 40


class _Hub(BaseHTTPRequestHandler):
    files: Mapping[str, bytes] = {}

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        name = re.sub(f"^/owner/repo/resolve/(main|{_COMMIT})/", "", path)
        if path.startswith("/api/models/owner/repo/tree/"):
            rows = [
                {"type": "file", "path": key, "size": len(body), "oid": "0" * 40} for key, body in self.files.items()
            ]
            self.answer(200, json.dumps(rows).encode())
        elif path.startswith("/api/models/owner/repo"):
            siblings = [{"rfilename": key} for key in self.files]
            body = {
                "id": "owner/repo",
                "sha": _COMMIT,
                "siblings": siblings,
                "private": False,
                "downloads": 0,
                "tags": [],
            }
            self.answer(200, json.dumps(body).encode())
        elif name in self.files:
            body = self.files[name]
            tag = f'"{hashlib.sha256(body).hexdigest()}"'
            self.answer(200, body, {"ETag": tag, "X-Repo-Commit": _COMMIT, "Accept-Ranges": "bytes"})
        else:
            self.answer(404, b"{}", {"X-Error-Code": "RepoNotFound"})

    do_HEAD = do_GET  # noqa: N815

    def answer(self, status: int, body: bytes, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        pass


@contextmanager
def hub_of(files: Mapping[str, bytes]) -> Generator[str]:
    """Serves `files` on a free port, and yields the URL of the hub."""
    handler = type("Hub", (_Hub,), {"files": files})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()
