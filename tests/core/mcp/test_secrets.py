"""Credentials that a server was sent are in no error, also where the server or a library quotes them."""

from __future__ import annotations

import http.server
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from abstractcore import AbstractCoreError, InvalidInputError, MCPTools, ToolServerError, create_llm

SECRET = "sk-4f9a0c27b1d84e6f"
PRINTS_ITS_KEY = [sys.executable, "-c", "import os, sys; sys.exit('invalid key ' + os.environ['API_KEY'])"]


class Quoting(http.server.BaseHTTPRequestHandler):
    """Refuses each request with an error that quotes its credentials."""

    def do_POST(self) -> None:
        """Answers a request."""
        self.rfile.read(int(self.headers.get("content-length", 0)))
        quoted = self.headers.get("authorization", "") + self.path.partition("?")[2]
        body = b'{"jsonrpc": "2.0", "id": 0, "error": {"code": -32000, "message": "invalid: %s"}}' % quoted.encode()
        self.send_response(400)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *arguments: object) -> None:
        """Prints nothing."""


@pytest.fixture
def quoting_url() -> Iterator[str]:
    """The address of a server that quotes credentials."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Quoting) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/mcp"
        server.shutdown()
        thread.join()


def shown(call: Callable[[], object], kind: type[AbstractCoreError]) -> str:
    """The error of a call with its traceback, without lines of code."""
    with pytest.raises(kind) as caught:
        call()
    return "".join(traceback.TracebackException.from_exception(caught.value, lookup_lines=False).format())


def test_credential_of_a_header_is_not_in_an_error_that_quotes_it(quoting_url: str, mode: Any):
    with MCPTools(url=quoting_url, headers={"Authorization": f"Bearer {SECRET}"}, mode=mode) as tools:
        text = shown(tools.list_tools, ToolServerError)
    assert "invalid: Bearer [scrubbed]" in text
    assert SECRET not in text


def test_credential_of_a_url_is_not_in_an_error_that_quotes_it(quoting_url: str):
    with MCPTools(url=f"{quoting_url}?api_key={SECRET}") as tools:
        text = shown(tools.list_tools, ToolServerError)
    assert "[scrubbed]" in text
    assert SECRET not in text
    assert SECRET not in shown(lambda: MCPTools(url=f"htp://user:{SECRET}@example.com/mcp"), InvalidInputError)


@pytest.mark.process
def test_credential_of_the_environment_is_not_in_the_output_that_errors_and_warnings_show():
    with MCPTools(command=PRINTS_ITS_KEY, env={"API_KEY": SECRET}, name="shop", required=False) as tools:
        [warning] = create_llm("scripted", replies=["x"]).generate("hi", tools=[tools]).warnings
    assert "invalid key [scrubbed]" in warning.message
    with MCPTools(command=PRINTS_ITS_KEY, env={"API_KEY": SECRET}) as tools:
        text = shown(tools.list_tools, ToolServerError)
    assert "invalid key [scrubbed]" in text
    assert SECRET not in text


def test_header_that_cannot_be_sent_is_refused_without_its_value(quoting_url: str):
    with MCPTools(url=quoting_url, headers={"authorization": f"Bearer {SECRET}\x00"}) as tools:
        text = shown(tools.list_tools, InvalidInputError)
    assert "headers.authorization: the value has characters that are not allowed" in text
    assert SECRET not in text
