"""The tests of openai-python's API resources, which stand in its source distribution (Apache-2.0), on this server.

They were written for a mock of the API: `openai_tests/client_fixture.py` makes the objects of their examples.
"""

from __future__ import annotations

import base64
import hashlib
import io
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import urllib.request
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from xml.etree import ElementTree

import pytest

from abstractcore_server import ModelSettings, ServerSettings, Settings
from tests.chaos_server import ReceivedRequest, Step, answer, completion
from tests.packages import ROOT
from tests.server.serving import Served, serving

pytestmark = pytest.mark.process

FIXTURE = Path(__file__).parent / "openai_tests" / "client_fixture.py"
FOLDERS = ("audio", "chat", "conversations", "responses", "uploads")
NAMES = ("completions", "conversations", "files", "images", "models", "moderations", "responses", "uploads")
MODELS = ("gpt-3.5-turbo-instruct", "gpt-6-astra")

SYNC = "strict and not Async and not path_params"
"""One client of the four that each test is for: their requests are the same."""
REFUSED = {
    "test_completions.TestCompletions.test_method_create_with_all_params_*": "suffix: it is not supported here",
    "chat.test_completions.*.test_method_create_with_all_params_*": "max_completion_tokens: must be at least 1",
    "*.test_method_list_with_all_params": "limit: expected a number from 1",
    "test_images.*.test_method_*_with_all_params_*": "response_format: images are sent as b64_json",
    "test_responses.*.test_method_create_with_all_params_*": "it cannot be given together with conversation",
    "responses.test_input_tokens.*.test_method_count_with_all_params": "it cannot be given together with conversation",
    "test_responses.*.test_method_compact_with_all_params": "there is no response 'resp_123' here",
    "test_responses.*.test_*_compact": "invalid for expected schema",
    "audio.test_transcriptions.*.test_method_create_with_all_params_*": "language: expected a language code",
    "test_uploads.*.test_method_complete_with_all_params": "md5: expected 32 hexadecimal digits",
    "audio.test_translations.*": "no transcriber of this server translates",
}
"""Tests whose request the server refuses, with the reason that it gives: the examples of the API's file have values
that the API itself forbids, and fields that exclude each other. The client's type of the items of a compaction has no
messages of the user, which the API's file has.
"""
ASKED = {
    "/v1/audio/transcriptions",
    "/v1/chat/completions",
    "/v1/completions",
    "/v1/conversations",
    "/v1/conversations/{id}",
    "/v1/conversations/{id}/items",
    "/v1/conversations/{id}/items/{item}",
    "/v1/files",
    "/v1/files/{id}",
    "/v1/files/{id}/content",
    "/v1/images/edits",
    "/v1/images/generations",
    "/v1/models",
    "/v1/models/{model}",
    "/v1/moderations",
    "/v1/responses",
    "/v1/responses/input_tokens",
    "/v1/responses/{id}",
    "/v1/responses/{id}/cancel",
    "/v1/responses/{id}/input_items",
    "/v1/uploads",
    "/v1/uploads/{id}/cancel",
    "/v1/uploads/{id}/complete",
    "/v1/uploads/{id}/parts",
}
"""Routes that answer tests which pass."""


@pytest.fixture(scope="module")
def own_tests() -> Path:
    """The folder with the tests of the locked version, which later runs keep."""
    (package,) = (each for each in tomllib.loads((ROOT / "uv.lock").read_text())["package"] if each["name"] == "openai")
    url, digest = package["sdist"]["url"], package["sdist"]["hash"]
    kept = Path(os.environ.get("ABSTRACTCORE_CACHE") or ROOT / ".cache") / "openai" / digest.partition(":")[2][:16]
    if not kept.exists():
        with urllib.request.urlopen(url) as response:  # as locked: uv unpacks no source distribution without a build
            content = response.read()
        assert f"sha256:{hashlib.sha256(content).hexdigest()}" == digest
        with tarfile.open(fileobj=io.BytesIO(content)) as archive:
            archive.extractall(kept, filter="data")
    (folder,) = kept.iterdir()
    return folder / "tests"


def vendor(request: ReceivedRequest) -> list[Step]:
    """What the vendor behind the server answers."""
    if "/images/" in request.target:
        return [answer({"created": 1, "data": [{"b64_json": base64.b64encode(b"\x89PNG\r\n\x1a\n").decode()}]})]
    if "/audio/transcriptions" in request.target:
        return [answer({"text": "Hello."})]
    if "/moderations" in request.target:
        return [answer({"id": "modr-1", "model": "omni-moderation-latest", "results": []})]
    if "/input_tokens" in request.target:
        return [answer({"object": "response.input_tokens", "input_tokens": 7})]
    return [completion()]


@pytest.fixture(scope="module")
def running() -> Iterator[Served]:
    models = {name: ModelSettings(("scripted",)) for name in MODELS}
    with serving(Settings(ServerSettings(default="openai/gpt-4.1"), models=models)) as served:
        served.vendor.always_by(vendor)
        yield served


def cases(served: Served, own_tests: Path, folder: Path) -> Iterator[tuple[str, ElementTree.Element]]:
    """Runs the tests; yields their names with what became of them, as JUnit's XML has it."""
    shutil.copytree(own_tests, folder / "tests")
    shutil.copy(FIXTURE, folder / "tests" / "conftest.py")
    resources = folder / "tests" / "api_resources"
    chosen = [*(resources / each for each in FOLDERS), *(resources / f"test_{each}.py" for each in NAMES)]
    options = (
        "-p",
        "no:xdist",
        "-p",
        "no:schemathesis",
        "-p",
        "no:cacheprovider",
        "-o",
        "junit_logging=system-out",
        "-k",
        SYNC,
    )
    env = {**os.environ, "TEST_API_BASE_URL": f"{served.url}/v1", "TEST_MEDIA": str(ROOT / "examples/media")}
    command = [sys.executable, "-m", "pytest", *options, "--junitxml=cases.xml", *chosen]
    subprocess.run(command, cwd=folder, env=env, capture_output=True, check=False)
    for case in ElementTree.parse(folder / "cases.xml").iter("testcase"):
        name = f"{case.get('classname')}.{case.get('name')}"
        yield name.removeprefix("tests.api_resources.").removesuffix("[strict]"), case


def is_expected(name: str, failure: str) -> bool:
    """Whether the failure of a test is the refusal that it should be."""
    return any(fnmatchcase(name, pattern) and reason in failure for pattern, reason in REFUSED.items())


def test_openais_own_tests_pass_here(served: Served, own_tests: Path, tmp_path: Path):
    served.script(*["hello"] * 500)
    failed, asked = dict[str, str](), set[str]()
    for name, case in cases(served, own_tests, tmp_path):
        problem = next((case.find(kind) for kind in ("error", "failure") if case.find(kind) is not None), None)
        if problem is not None:
            failed[name] = f"{problem.get('message')}"
        elif case.find("skipped") is None:
            asked |= {*re.findall(r"^route: (.*)$", case.findtext("system-out", ""), re.MULTILINE)}
    assert {name: failure for name, failure in failed.items() if not is_expected(name, failure)} == {}
    assert asked >= ASKED
