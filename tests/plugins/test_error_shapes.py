"""Errors in every shape that servers and gateways send, to the readers for pictures, music, voices and jobs."""

from __future__ import annotations

import json
import pkgutil
from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import Any

import abstractmusic.remote.formats
import abstractvision.remote.formats
from abstractcore.capabilities.http_errors import error_of as error_of_backend
from abstractcore.errors import ProviderError
from abstractcore.mediajobs import job_failed
from abstractcore.schema import WireResponse
from abstractvoice.remote.failures import error_of as error_of_voice
from tests.providers.formats.test_error_shapes import SAID, SHAPES

Reader = Callable[[WireResponse], ProviderError]


def readers_in(package: ModuleType) -> dict[str, Reader]:
    """The methods `error` of the classes in the modules of a package."""
    found: dict[str, Reader] = {}
    for module in pkgutil.iter_modules(package.__path__):
        for name, value in vars(import_module(f"{package.__name__}.{module.name}")).items():
            if isinstance(value, type) and hasattr(value, "error") and hasattr(value, "read"):
                found[f"{package.__name__}.{name}"] = value().error
    return found


READERS: dict[str, Reader] = {
    "backends": error_of_backend,
    "voices": error_of_voice,
    **readers_in(abstractmusic.remote.formats),
    **readers_in(abstractvision.remote.formats),
}
OTHERS: dict[str, Any] = {
    "an unknown shape": {"oops": SAID},
    "a code that is an object": {"error": {"message": SAID, "code": {"a": 1}, "type": [1]}, "name": {}, "title": 3},
}


def test_every_reader_finds_the_message_in_every_shape():
    walked = 0
    for reader, error_of in READERS.items():
        for shape, body in {**SHAPES, **OTHERS}.items():
            for status in (400, 401, 429, 500):
                error = error_of(WireResponse(status, {}, json.dumps(body).encode()))
                assert SAID in error.message, f"{reader}: {shape}: {error.message}"
                assert error.code is None or isinstance(error.code, str), f"{reader}: {shape}: {error.code!r}"
                walked += 1
    assert len(READERS) >= 15
    assert walked >= 1_600


def test_every_reader_shows_a_body_that_is_no_json_unless_it_is_a_page():
    for reader, error_of in READERS.items():
        assert "upstream is down" in error_of(WireResponse(502, {}, b"upstream is down")).message, reader
        assert "html" not in error_of(WireResponse(502, {}, b"<html>Bad Gateway</html>")).message, reader


def test_jobs_that_fail_say_why_in_every_shape():
    for shape, body in SHAPES.items():
        assert SAID in job_failed(body).message, shape
    assert job_failed(None).message == job_failed({}).message == "the job failed"
