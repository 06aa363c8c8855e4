"""Advisories of locked packages: found, none, and not looked up, each of which is said."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from release.advisories import main

pytestmark = pytest.mark.process


@contextmanager
def advisories(*vulnerable: str) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Yields the address of a service with the API of osv.dev, and what it was asked.

    Source: https://google.github.io/osv.dev/post-v1-querybatch/ and https://ossf.github.io/osv-schema/
    """
    asked: list[dict[str, Any]] = []

    class Service(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked.extend(json.loads(self.rfile.read(int(self.headers["Content-Length"])))["queries"])
            found = [{"vulns": [row]} if query["package"]["name"] in vulnerable else {} for query in asked]
            self.reply({"results": found})

        def do_GET(self) -> None:
            ranges = [{"type": "ECOSYSTEM", "events": [{"introduced": "0"}, {"fixed": "999"}]}]
            affected = [{"package": {"name": vulnerable[0], "ecosystem": "PyPI"}, "ranges": ranges}]
            self.reply({**row, "summary": "reads what it should not", "affected": affected})

        def reply(self, body: object) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            self.wfile.write(json.dumps(body).encode())

        def log_message(self, *arguments: object) -> None:
            """Not on the terminal."""

    row = {"id": "GHSA-1111-2222-3333", "modified": "2026-01-01T00:00:00Z"}
    with ThreadingHTTPServer(("127.0.0.1", 0), Service) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}", asked
        server.shutdown()
        thread.join()


def test_every_locked_package_is_looked_up_and_a_vulnerable_one_fails(capsys: pytest.CaptureFixture[str]):
    with advisories("idna") as (address, asked):
        assert main(["--service-url", address]) == 1
    assert {"idna", "httpx2", "pydantic", "a2a-sdk", "onnxruntime"} <= {query["package"]["name"] for query in asked}
    shown = capsys.readouterr().out
    assert "GHSA-1111-2222-3333: reads what it should not" in shown
    assert "Fixed in: 999" in shown


def test_no_advisory_is_said(capsys: pytest.CaptureFixture[str]):
    with advisories() as (address, asked):
        assert main(["--service-url", address]) == 0
    assert len(asked) > 200
    assert "no known vulnerabilities" in capsys.readouterr().out.lower()


def test_unreachable_service_is_said_and_fails_only_where_it_is_required(capsys: pytest.CaptureFixture[str]):
    with advisories() as (address, _):
        pass
    assert main(["--service-url", address]) == 0
    assert "NOT CHECKED: " in capsys.readouterr().err
    assert main(["--service-url", address, "--required"]) == 1
