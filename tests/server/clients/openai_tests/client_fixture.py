"""The `conftest.py` under which openai-python's own tests run: a client of the server under test.

The tests name objects of OpenAI's examples, as "resp_123". The client makes each of them first, and asks for that one.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import openai
import pytest
from openai._models import FinalRequestOptions

from abstractcore_server.context import RouteTable
from abstractcore_server.requests import RequestHead
from abstractcore_server.routes import ROUTES

_URL = os.environ["TEST_API_BASE_URL"]
_MEDIA = Path(os.environ["TEST_MEDIA"])
_ROUTES = RouteTable(ROUTES)
_FILES: dict[str, Any] = {
    "/audio/transcriptions": [("file", ("a.wav", (_MEDIA / "meeting.wav").read_bytes()))],
    "/images/edits": [("image", ("a.jpg", (_MEDIA / "receipt.jpg").read_bytes()))],
}
"""Files in place of those of the tests, which are texts."""
_LEFT_OUT: dict[str, dict[str, Any]] = {
    "/images/edits": {"model": "gpt-image-1"},
    "/images/generations": {"model": "gpt-image-1"},
    "/responses": {"input": "hi"},
    "/responses/compact": {"input": "hi"},
    "/responses/input_tokens": {"input": "hi"},
}
"""Fields without which a request asks nothing, and a model that draws quickly."""
_OPERATIONS = ("input_tokens", "compact")


class Examples:
    """Makes the objects that the tests name."""

    def __init__(self, client: openai.OpenAI) -> None:
        self._client = client
        self._makers = {
            "responses": self._response,
            "conversations": self._conversation,
            "files": self._file,
            "uploads": self._upload,
        }

    def in_path(self, path: str) -> str:
        """Returns a path with objects that exist."""
        _, kind, *ids = path.split("/")
        if kind not in self._makers or not ids or ids[0] in _OPERATIONS:
            return path
        ids[0] = self._makers[kind]()
        if ids[1:2] == ["items"] and len(ids) == 3:
            (item,) = self._client.conversations.items.list(ids[0])
            ids[2] = item.id or ""
        return "/".join(["", kind, *ids])

    def _response(self) -> str:
        return self._client.responses.create(model="scripted", input="hi", background=True).id

    def _conversation(self) -> str:
        return self._client.conversations.create(items=[{"role": "user", "content": "hi"}]).id

    def _file(self) -> str:
        return self._client.files.create(file=("a.txt", b"hello"), purpose="user_data").id

    def part_of(self, upload: str) -> str:
        """Returns the only part of an upload."""
        return self._client.uploads.parts.create(upload, data=b"hello there.").id

    def _upload(self) -> str:
        return self._client.uploads.create(bytes=12, filename="a.txt", mime_type="text/plain", purpose="user_data").id


class ExampleClient(openai.OpenAI):
    """Asks for objects that exist. A test of a route that the server does not have is skipped."""

    examples: Examples

    def _prepare_options(self, options: FinalRequestOptions) -> FinalRequestOptions:
        path = options.url
        found = _ROUTES.find(RequestHead(options.method.upper(), f"/v1{path}", "", {}))
        if found is None or found.handler is None:
            pytest.skip(f"no route: {options.method.upper()} {path}")
        print(f"route: {found.route.path}")  # noqa: T201 - for the report
        options.url = self.examples.in_path(path)
        if options.url in _LEFT_OUT and isinstance(options.json_data, dict):
            options.json_data = {**_LEFT_OUT[options.url], **cast("dict[str, Any]", options.json_data)}
        if options.url.endswith("/complete") and isinstance(options.json_data, dict):
            part = self.examples.part_of(options.url.split("/")[2])
            options.json_data = {**cast("dict[str, Any]", options.json_data), "part_ids": [part]}
        if options.url in _FILES:
            options.files = _FILES[options.url]
        return super()._prepare_options(options)


@pytest.fixture(scope="session")
def client(request: pytest.FixtureRequest) -> Iterator[openai.OpenAI]:
    """A client that refuses replies which are not of its types."""
    options: Any = {"base_url": _URL, "api_key": "none", "max_retries": 0}
    with openai.OpenAI(**options) as plain, ExampleClient(**options, _strict_response_validation=True) as client:
        client.examples = Examples(plain)
        yield client


@pytest.fixture
def respx2_mock() -> None:
    """Skips tests that answer themselves."""
    pytest.skip("no server: the test has a mock of its own")
