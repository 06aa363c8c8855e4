"""Requests that schemathesis makes of OpenAI's description of its API: no failure of the server, replies as described,
and errors in OpenAI's shape. The requests are the same in each run.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from importlib import import_module
from typing import Any, cast

import openai
import pytest
from hypothesis import HealthCheck, Phase, assume, given, settings
from openai.types import moderation

from abstractcore_server import ServerSettings, Settings
from abstractcore_server.context import RouteTable
from abstractcore_server.requests import RequestHead
from abstractcore_server.routes import ROUTES
from tests.chaos_server import ReceivedRequest as Sent
from tests.chaos_server import Step, answer, completion
from tests.documents import ROOT
from tests.server.openai_file import PATH
from tests.server.serving import Served, serving

pytestmark = pytest.mark.exhaustive

EXAMPLES = 6
SLOW = (HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much)
SOUND = (ROOT / "examples/media/meeting.wav").read_bytes()
OPERATIONS = [
    (path, method)
    for path, item in json.loads(PATH.read_bytes())["paths"].items()
    for method in item
    if (found := RouteTable(ROUTES).find(RequestHead(method.upper(), f"/v1{path}", "", {}))) is not None
    and found.handler is not None
]
CATEGORIES = [field.alias or name for name, field in moderation.Categories.model_fields.items()]
MODERATION: dict[str, Any] = {
    "flagged": False,
    "categories": dict.fromkeys(CATEGORIES, False),
    "category_scores": dict.fromkeys(CATEGORIES, 0.5),
    "category_applied_input_types": {name: ["text"] for name in CATEGORIES},
}
QUESTIONS: dict[str, dict[str, Any]] = {
    "/chat/completions": {"model": "scripted", "messages": [{"role": "user", "content": "hi"}]},
    "/completions": {"model": "scripted", "prompt": "hi"},
    "/images/generations": {"model": "gpt-image-1", "prompt": "a house"},
    "/moderations": {"model": "omni-moderation-latest", "input": "hi"},
    "/responses": {"model": "scripted", "input": "hi"},
    "/responses/input_tokens": {"model": "scripted", "input": "hi"},
}
"""Bodies that have an answer: each request is sent as it is, with our model, and with one of these in it."""
NEED_MORE = ("background", "conversation", "function_call", "functions", "n", "previous_response_id", "prompt")
"""Fields that most values make invalid."""
AS_SENT = {
    "GET /files/{file_id}/content",
    "POST /audio/speech",
    "POST /audio/transcriptions",
    "POST /audio/translations",
    "POST /conversations/{conversation_id}/items",
}
"""Operations whose replies are files, which the description takes for JSON or bytes without a type, or items as they
were sent, to which OpenAI adds fields.
"""


def vendor(request: Sent) -> list[Step]:
    """What the vendor behind the server answers."""
    if "/moderations" in request.target:
        return [answer({"id": "modr-1", "model": "omni-moderation-latest", "results": [MODERATION]})]
    if "/images/" in request.target:
        return [answer({"created": 1, "data": [{"b64_json": "iVBORw0KGgo="}]})]
    return [answer(SOUND, content_type="audio/wav") if "/speech" in request.target else completion()]


@pytest.fixture(scope="module")
def running() -> Iterator[Served]:
    with serving(Settings(ServerSettings(default="openai/gpt-4.1"))) as served:
        served.vendor.always_by(vendor)
        yield served


@pytest.fixture(scope="module")
def client(running: Served) -> Iterator[openai.OpenAI]:
    """Makes the objects that paths name."""
    with openai.OpenAI(base_url=f"{running.url}/v1", api_key="none", max_retries=0) as client:
        yield client


def existing(client: openai.OpenAI, names: Iterable[str]) -> dict[str, str]:
    """Returns new objects for the parameters of a path."""
    made = {"model": "scripted"}
    if "response_id" in names:
        made["response_id"] = client.responses.create(model="scripted", input="hi").id
    if "file_id" in names:
        made["file_id"] = client.files.create(file=("a.txt", b"hi"), purpose="user_data").id
    if "conversation_id" in names:
        made["conversation_id"] = client.conversations.create(items=[{"role": "user", "content": "hi"}]).id
        (item,) = client.conversations.items.list(made["conversation_id"])
        made["item_id"] = item.id or ""
    return {name: made[name] for name in names if name in made}


@pytest.fixture(scope="module")
def description() -> Any:
    """The description; importing schemathesis takes a second."""
    return import_module("schemathesis").openapi.from_path(str(PATH))


@pytest.mark.parametrize(("path", "method"), OPERATIONS)
def test_each_request_has_a_reply_as_described(
    served: Served, client: openai.OpenAI, description: Any, path: str, method: str
):
    @settings(max_examples=EXAMPLES, phases=[Phase.generate], suppress_health_check=SLOW, deadline=None)
    @given(description[path][method].as_strategy())
    def check(case: Any) -> None:
        assume(path != "/files" or "evals" not in repr(case.body))  # no purpose of a file that is described
        served.script(*["hello"] * 20)
        case.path_parameters |= existing(client, case.path_parameters)
        checked(served, case)
        if path in QUESTIONS:
            given = cast("dict[str, Any]", case.body) if isinstance(case.body, dict) else {}
            case.body = {name: value for name, value in given.items() if name not in NEED_MORE} | QUESTIONS[path]
            checked(served, case)
        served.begin_test()

    check()


def checked(served: Served, case: Any) -> None:
    """Sends a request, and checks the reply, unless it is a stream or an empty list, which has no first id."""
    body: Any = case.body
    if case.path in QUESTIONS and type(body) is dict:
        body["model"] = QUESTIONS[case.path]["model"]
    response = case.call(base_url=f"{served.url}/v1")
    text = response.content.decode("utf-8", "replace")
    assert response.status_code < 500, text
    assert "Traceback" not in text
    if response.status_code >= 400:
        assert json.loads(text)["error"].keys() >= {"message", "type", "param", "code"}
    elif not (f"{case.method} {case.path}" in AS_SENT or '"data":[]' in text or text.startswith(("data:", "event:"))):
        checks = import_module("schemathesis.specs.openapi.checks")
        case.validate_response(response, checks=[checks.content_type_conformance, checks.response_schema_conformance])
