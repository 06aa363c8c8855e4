"""A registry of npm on this machine: descriptions of versions and tarballs, in the published format."""

from __future__ import annotations

import base64
import gzip
import hashlib
import io
import json
import tarfile
import threading
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote


def tarball_of(files: Mapping[str, bytes], folder: str = "package") -> bytes:
    """A package as `npm pack` makes it."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for path, content in {"package.json": b"{}", **files}.items():
            member = tarfile.TarInfo(f"{folder}/{path}")
            member.size, member.mtime = len(content), 499162500
            archive.addfile(member, io.BytesIO(content))
    return gzip.compress(packed.getvalue(), mtime=0)


@dataclass
class NpmServer:
    """What the registry has, by name@version, and how it behaves; the requests that it got."""

    tarballs: dict[str, bytes]
    url: str = ""
    served: dict[str, bytes] = field(default_factory=dict)
    """What is sent instead of a tarball."""
    descriptions: dict[str, bytes] = field(default_factory=dict)
    """What is sent instead of a description."""
    dist: dict[str, Any] = field(default_factory=dict)
    """Fields of descriptions that are different."""
    cuts: list[int] = field(default_factory=list)
    """After how many bytes the next answers with a tarball end."""
    ranges: bool = True
    status: int = 200
    token: str | None = None
    redirect: str | None = None
    """Where tarballs are redirected to, with {path} for the path."""
    requests: list[tuple[str, dict[str, str]]] = field(default_factory=list)

    def described(self, package: str) -> bytes:
        """The description of a version, as `GET /NAME/VERSION` returns it."""
        name, _, version = package.rpartition("@")
        tarball = self.tarballs[package]
        dist = {
            "integrity": "sha512-" + base64.b64encode(hashlib.sha512(tarball).digest()).decode(),
            "shasum": hashlib.sha1(tarball, usedforsecurity=False).hexdigest(),
            "tarball": f"{self.url}{name}/-/{name.rpartition('/')[2]}-{version}.tgz",
            "fileCount": 3,
            "unpackedSize": 42,
            "signatures": [{"keyid": "SHA256:jl3bwswu80PjjokCgh0o2w5c2U4LhQAE57gj9cz1kzA", "sig": "MEUCIQ"}],
        }
        document = {
            "name": name,
            "version": version,
            "license": "Apache-2.0",
            "_id": package,
            "dist": {**dist, **self.dist},
        }
        return self.descriptions.get(package, json.dumps(document).encode())

    def tarball(self, path: str) -> bytes | None:
        """What `GET /NAME/-/FILE.tgz` returns."""
        for package, tarball in self.tarballs.items():
            name, _, version = package.rpartition("@")
            if path == f"/{name}/-/{name.rpartition('/')[2]}-{version}.tgz":
                return self.served.get(package, tarball)
        return None


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    npm: NpmServer

    def do_GET(self) -> None:
        npm, path = self.npm, unquote(self.path)
        npm.requests.append((path, {name.lower(): value for name, value in self.headers.items()}))
        if npm.status != 200:
            return self.answer(npm.status, b'{"error":"unavailable"}')
        if npm.token and self.headers["Authorization"] != f"Bearer {npm.token}":
            return self.answer(401, b'{"error":"unauthorized"}')
        package = "@".join(path[1:].rsplit("/", 1))
        if package in npm.tarballs:
            return self.answer(200, npm.described(package))
        tarball = npm.tarball(path)
        if tarball is None:
            return self.answer(404, b'{"error":"Not found"}')
        if npm.redirect is not None:
            return self.answer(302, b"", location=npm.redirect.format(path=path))
        return self.send_tarball(tarball)

    def send_tarball(self, tarball: bytes) -> None:
        start, status = 0, 200
        if self.npm.ranges and "Range" in self.headers:
            start, status = int(self.headers["Range"].removeprefix("bytes=").removesuffix("-")), 206
            if start >= len(tarball):
                return self.answer(416, b"")
        body = tarball[start:]
        if not self.npm.cuts:
            return self.answer(status, body)
        self.answer(status, body[: self.npm.cuts.pop(0)], length=len(body))
        self.close_connection = True
        return None

    def answer(self, status: int, body: bytes, length: int | None = None, location: str | None = None) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body) if length is None else length))
        if location is not None:
            self.send_header("Location", location)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        pass


@contextmanager
def npm_registry_of(packages: Mapping[str, Mapping[str, bytes]]) -> Generator[NpmServer]:
    """Serves packages: their files by name@version."""
    npm = NpmServer({package: tarball_of(files) for package, files in packages.items()})
    handler = type("Registry", (Handler,), {"npm": npm})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        npm.url = f"http://127.0.0.1:{server.server_port}/"
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield npm
        server.shutdown()
        thread.join()
