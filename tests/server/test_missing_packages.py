"""Calls that need a package which is not installed, with the openai, anthropic and google-genai packages as clients.

The clients try again as they do by default: not after `x-should-retry: false` (`_should_retry` in their
`_base_client.py`).
"""

from __future__ import annotations

import asyncio
import base64
import sys
from collections.abc import Iterator
from typing import Any

import anthropic
import openai
import pytest
from google import genai
from google.genai import errors as google
from google.genai import types

from abstractcore import MissingExtraError
from abstractcore.registry import Registry
from abstractcore.registry.entry_points import found_plugins
from abstractcore_server import Settings, server_services
from abstractcore_server.stored_state import StoredState
from tests.documents import ROOT
from tests.server.serving import Served, serving

INVOICE = (ROOT / "examples/media/invoice.pdf").read_bytes()
PDF = base64.b64encode(INVOICE).decode()
INSTALL = (
    "pip install pypdfium2 (part of the extra 'documents'; in a checkout of AbstractCore: pip install '.[documents]')"
)


@pytest.fixture(scope="module")
def running() -> Iterator[Served]:
    """A server without plugins that speak or draw, and with one that is broken."""
    registry = Registry()
    for found in found_plugins():
        registry.add_plugin(found.name, found.load)
    registry.add_plugin("broken", _broken)
    with serving(services=server_services(Settings(), environment={}, registry=registry)) as served:
        yield served


def _broken() -> object:
    raise OSError("no such file: '/secret/folder'")


@pytest.fixture
def client(served: Served) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=f"{served.url}/v1", api_key="none") as client:
        yield client


def logged(caplog: pytest.LogCaptureFixture) -> str:
    """The only line of the log: requests were not sent again."""
    (record,) = [each for each in caplog.records if each.name == "abstractcore.server"]
    return record.getMessage()


@pytest.mark.parametrize("stream", [False, True])
def test_client_and_log_have_what_to_install(
    client: openai.OpenAI, stream: bool, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    monkeypatch.setitem(sys.modules, "pypdfium2", None)
    content: Any = [{"type": "file", "file": {"filename": "a.pdf", "file_data": f"data:application/pdf;base64,{PDF}"}}]
    with pytest.raises(openai.InternalServerError) as caught:
        client.chat.completions.create(model="scripted", messages=[{"role": "user", "content": content}], stream=stream)
    assert (caught.value.status_code, caught.value.type) == (501, "server_error")
    assert INSTALL in caught.value.message
    assert INSTALL in logged(caplog)


def test_error_has_the_shape_of_each_api(
    served: Served, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    monkeypatch.setitem(sys.modules, "pypdfium2", None)
    source: Any = {"type": "base64", "media_type": "application/pdf", "data": PDF}
    messages: Any = [{"role": "user", "content": [{"type": "document", "source": source}]}]
    with (
        anthropic.Anthropic(base_url=served.url, api_key="none") as client,
        pytest.raises(anthropic.InternalServerError, match="pip install pypdfium2") as caught,
    ):
        client.messages.create(model="scripted", max_tokens=9, messages=messages)
    body: Any = caught.value.body
    assert (caught.value.status_code, body["error"]["type"]) == (501, "api_error")
    assert INSTALL in logged(caplog)

    options = types.HttpOptions(base_url=served.url)
    with genai.Client(api_key="none", http_options=options) as gemini:
        part = types.Part.from_bytes(data=INVOICE, mime_type="application/pdf")
        with pytest.raises(google.ServerError, match="pip install pypdfium2") as failed:
            gemini.models.generate_content(model="scripted", contents=[part])
    assert (failed.value.code, failed.value.status) == (501, "UNIMPLEMENTED")


def test_missing_plugin_is_named_and_no_path_of_a_broken_one(client: openai.OpenAI, caplog: pytest.LogCaptureFixture):
    with pytest.raises(openai.InternalServerError) as caught:
        client.audio.speech.create(model="default", voice="default", input="Hello")
    assert caught.value.status_code == 501
    assert "no backend of llm.voice is installed" in caught.value.message
    assert "pip install ./plugins/abstractvoice" in caught.value.message
    assert "'broken' is broken: OSError: no such file: '(a path)'" in caught.value.message
    assert "/secret/folder" in logged(caplog)


def test_missing_plugin_of_images_and_music_is_named(client: openai.OpenAI):
    with pytest.raises(openai.InternalServerError, match=r"pip install \./plugins/abstractvision"):
        client.images.generate(model="default", prompt="a house")
    with pytest.raises(openai.InternalServerError, match=r"pip install \./plugins/abstractmusic"):
        client.post("/audio/music", body={"model": "default", "prompt": "a waltz"}, cast_to=object)
    with pytest.raises(openai.NotFoundError, match="There are: default"):
        client.audio.speech.create(model="local", voice="default", input="Hello")


def test_package_of_a_transport_is_named_and_not_a_missing_key(
    client: openai.OpenAI, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    monkeypatch.setattr("abstractcore.client.services.find_spec", lambda name: None)
    with pytest.raises(openai.InternalServerError, match="pip install aiohttp") as caught:
        client.chat.completions.create(model="openai/gpt-of-this-test", messages=[{"role": "user", "content": "Hi"}])
    assert caught.value.status_code == 501
    assert "pip install aiohttp" in logged(caplog)


def test_driver_of_a_database_is_named_and_the_database_is_not_called_down(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "pg8000", None)
    stored = StoredState("postgresql://127.0.0.1/none", 60)
    with pytest.raises(MissingExtraError, match="pip install pg8000"):
        asyncio.run(stored.run(lambda tables: None))
    stored.close()
