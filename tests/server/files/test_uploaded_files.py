"""Uploaded files, with the openai package as the client."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import openai
import pytest

from abstractcore_server import Settings
from abstractcore_server.access.admission import FixedKeys
from abstractcore_server.configuration.settings import ServerLimits
from tests.chaos_server import completion
from tests.server.serving import Served, serving

KEYS = ("first-key-0123456789", "other-key-0123456789")
TABLE = ("table.csv", b"a,b\n1,2\n")
PAGE = Path(__file__).parents[2] / "media/files/scanned_page.png"


@pytest.fixture
def client(served: Served) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=f"{served.url}/v1", api_key="none", max_retries=0) as client:
        yield client


def test_file_is_kept_listed_read_and_deleted(client: openai.OpenAI):
    made = client.files.create(file=TABLE, purpose="user_data")
    assert (made.filename, made.bytes, made.purpose, made.status) == ("table.csv", 8, "user_data", "processed")
    other = client.files.create(
        file=("b.txt", b"b"), purpose="assistants", expires_after={"anchor": "created_at", "seconds": 3600}
    )
    assert other.expires_at == other.created_at + 3600
    assert [file.id for file in client.files.list(order="asc")] == [made.id, other.id]
    assert [file.id for file in client.files.list(purpose="assistants")] == [other.id]
    assert client.files.retrieve(made.id) == made
    assert client.files.content(made.id).read() == TABLE[1]
    assert client.files.delete(made.id).deleted
    for read in (client.files.retrieve, client.files.content, client.files.delete):
        with pytest.raises(openai.NotFoundError, match="there is no file"):
            read(made.id)
    client.files.delete(other.id)


def test_model_gets_the_content_of_a_file_of_a_chat(served: Served, client: openai.OpenAI):
    made = client.files.create(file=TABLE, purpose="user_data")
    served.script("Two columns.")
    content: Any = [{"type": "file", "file": {"file_id": made.id}}, {"type": "text", "text": "What is it?"}]
    client.chat.completions.create(model="scripted", messages=[{"role": "user", "content": content}])
    assert "| 1 | 2 |" in served.call.messages[0].text
    assert 'name="table.csv"' in served.call.messages[0].text


def test_response_that_is_continued_still_has_its_file(served: Served, client: openai.OpenAI):
    made = client.files.create(file=TABLE, purpose="user_data")
    served.script("Two columns.", "One row.")
    content: Any = [{"type": "input_file", "file_id": made.id}, {"type": "input_text", "text": "What is it?"}]
    first = client.responses.create(model="scripted", input=[{"role": "user", "content": content}])
    client.responses.create(model="scripted", input="How many rows?", previous_response_id=first.id)
    assert [message.text.count("| 1 | 2 |") for message in served.calls[-1].messages] == [1, 0, 0]
    (item,) = client.responses.input_items.list(first.id)
    assert item.to_dict()["content"][0]["file_id"] == made.id  # type: ignore[index]


def test_content_decides_what_an_image_is(served: Served, http: httpx2.Client, client: openai.OpenAI):
    made = client.files.create(file=("photo.jpg", PAGE.read_bytes()), purpose="vision")
    served.vendor.script(completion("A page."))
    image = {"type": "input_image", "file_id": made.id, "detail": "low"}
    body = {"model": "openai/gpt-5.4", "input": [{"role": "user", "content": [image]}]}
    assert http.post("/v1/responses", json=body).status_code == 200
    (part,) = json.loads(served.vendor.requests[0].body)["messages"][0]["content"]
    assert part["image_url"]["url"].startswith("data:image/png;base64,iVBOR")


def test_screenshot_of_a_computer_is_an_image(served: Served, http: httpx2.Client, client: openai.OpenAI):
    """`ResponseComputerToolCallOutputScreenshotParam` of the openai package has a `file_id` or an `image_url`."""
    made = client.files.create(file=("screen.png", PAGE.read_bytes()), purpose="vision")
    call = {"type": "computer_call", "id": "cu_1", "call_id": "call_1", "action": {"type": "screenshot"}}
    screenshot = {"type": "computer_screenshot", "file_id": made.id}
    output = {"type": "computer_call_output", "call_id": "call_1", "output": screenshot}
    served.vendor.script(completion("A page."))
    body = {"model": "openai-responses/gpt-5.4", "input": [{"role": "user", "content": "hi"}, call, output]}
    http.post("/v1/responses", json=body)
    (request,) = served.vendor.requests
    assert b'"computer_screenshot"' in request.body
    assert b'"image_url":"data:image/png;base64,iVBOR' in request.body


def test_ids_that_are_not_known_here_are_the_vendors(served: Served, http: httpx2.Client):
    served.vendor.script(completion("A page."))
    content = [{"type": "file", "file": {"file_id": "file-theirs"}}]
    body = {"model": "openai/gpt-5.4", "messages": [{"role": "user", "content": content}]}
    assert http.post("/v1/chat/completions", json=body).status_code == 200
    assert json.loads(served.vendor.requests[0].body)["messages"][0]["content"] == content


THEIRS = {"file_id": "file-theirs"}
PARTS: dict[str, tuple[str, dict[str, Any], str]] = {
    "chat": (
        "/v1/chat/completions",
        {"messages": [{"role": "user", "content": [{"type": "file", "file": THEIRS}]}]},
        "messages[0].content[0].file.file_id",
    ),
    "file": (
        "/v1/responses",
        {"input": [{"role": "user", "content": [{"type": "input_file", **THEIRS}]}], "stream": True},
        "input[0].content[0].file_id",
    ),
    "image": (
        "/v1/responses",
        {"input": [{"role": "user", "content": [{"type": "input_image", **THEIRS}]}], "background": True},
        "input[0].content[0].file_id",
    ),
    "result of a function": (
        "/v1/responses/input_tokens",
        {
            "input": [
                {"type": "function_call", "call_id": "c", "name": "draw", "arguments": "{}"},
                {"type": "function_call_output", "call_id": "c", "output": [{"type": "input_image", **THEIRS}]},
            ]
        },
        "input[1].output[0].file_id",
    ),
}


@pytest.mark.parametrize("model", ["scripted", "anthropic/claude-opus-5-5", "openai/gpt-5.4"])
@pytest.mark.parametrize(("path", "body", "param"), PARTS.values(), ids=PARTS)
def test_model_of_another_api_has_no_file_that_is_not_here(
    served: Served, http: httpx2.Client, model: str, path: str, body: dict[str, Any], param: str
):
    """The models of OpenAI's Chat Completions are such models of the Responses API too."""
    if (model, path) == ("openai/gpt-5.4", "/v1/chat/completions"):
        model = "openai-responses/gpt-5.4"
    response = http.post(path, json={"model": model, **body})
    error = response.json()["error"]
    assert (response.status_code, error["param"]) == (400, param)
    assert error["message"].startswith(
        f"{param}: there is no file 'file-theirs' among those of /v1/files of this key, the only ones for this model."
    )
    assert not served.vendor.requests


def test_file_that_was_deleted_is_refused_where_it_is_continued(served: Served, client: openai.OpenAI):
    made = client.files.create(file=TABLE, purpose="user_data")
    served.script("Two columns.", "Fine.")
    content: Any = [{"type": "input_file", "file_id": made.id}]
    first = client.responses.create(model="scripted", input=[{"role": "user", "content": content}])
    assert client.responses.input_tokens.count(model="scripted", input=[{"role": "user", "content": content}])
    client.files.delete(made.id)
    with pytest.raises(openai.BadRequestError, match=made.id) as caught:
        client.responses.create(model="scripted", input="How many rows?", previous_response_id=first.id)
    assert caught.value.param == "previous_response_id"
    citation = {"type": "file_citation", "file_id": made.id, "filename": "table.csv", "index": 0}
    answer: Any = {
        "type": "message",
        "role": "assistant",
        "content": [{"type": "output_text", "text": "Two columns.", "annotations": [citation]}],
    }
    assert client.responses.create(model="scripted", input=[answer]).output_text == "Fine."


def test_id_outside_of_messages_is_no_file(served: Served, client: openai.OpenAI):
    made = client.files.create(file=TABLE, purpose="user_data")
    served.script("Hello.")
    response = client.responses.create(model="scripted", input="hi", metadata={"file_id": made.id})
    assert response.metadata == {"file_id": made.id}
    assert served.call.messages[0].text == "hi"


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"purpose": "fun"}, "purpose: expected one of assistants"),
        ({}, "purpose: expected one of assistants"),
        ({"purpose": "user_data", "expires_after[seconds]": "7"}, "expires_after.seconds: expected a number"),
    ],
)
def test_wrong_uploads_are_refused(http: httpx2.Client, fields: dict[str, str], message: str):
    response = http.post("/v1/files", data=fields, files={"file": TABLE})
    assert response.status_code == 400
    assert message in response.json()["error"]["message"]


def test_upload_without_a_file_is_refused(http: httpx2.Client):
    response = http.post("/v1/files", data={"purpose": "user_data"}, files={"other": TABLE})
    assert (response.status_code, response.json()["error"]["param"]) == (400, "file")


def test_content_is_no_page_of_this_server(http: httpx2.Client):
    page = ("page.html", b"<script>alert(1)</script>")
    id = http.post("/v1/files", data={"purpose": "user_data"}, files={"file": page}).json()["id"]
    response = http.get(f"/v1/files/{id}/content")
    assert response.content == page[1]
    assert response.headers["content-type"] == "application/octet-stream"
    assert response.headers["content-security-policy"] == "sandbox"


def test_each_key_has_its_own_files_and_so_many_bytes():
    settings = Settings(limits=ServerLimits(stored_bytes=10))
    mine, other = ({"authorization": f"Bearer {key}"} for key in KEYS)
    with serving(settings, access=FixedKeys(KEYS)) as served, httpx2.Client(base_url=served.url) as http:

        def upload(headers: dict[str, str]) -> httpx2.Response:
            return http.post("/v1/files", data={"purpose": "user_data"}, files={"file": TABLE}, headers=headers)

        id = upload(mine).json()["id"]
        full = upload(mine)
        assert (full.status_code, full.json()["error"]["message"][:40]) == (
            413,
            "the files of one key may have 10 bytes t",
        )
        assert upload(other).status_code == 200
        for method, path in (("GET", ""), ("GET", "/content"), ("DELETE", "")):
            assert http.request(method, f"/v1/files/{id}{path}", headers=other).status_code == 404
        content = [{"type": "file", "file": {"file_id": id}}]
        body = {"model": "scripted", "messages": [{"role": "user", "content": content}]}
        assert http.post("/v1/chat/completions", json=body, headers=other).status_code == 400
        assert http.delete(f"/v1/files/{id}", headers=mine).status_code == 200
        assert upload(mine).status_code == 200


def test_each_key_has_so_many_files_and_uploads():
    """Clients do not send a request again that is refused for good: without `x-should-retry` a 429 is."""
    settings = Settings(limits=ServerLimits(stored_files=1, uploads=2))
    with serving(settings, access=FixedKeys(KEYS)) as served:
        mine, other = (openai.OpenAI(base_url=f"{served.url}/v1", api_key=key) for key in KEYS)

        def begin(client: openai.OpenAI) -> str:
            upload = client.uploads.create(bytes=0, filename="a", mime_type="text/plain", purpose="user_data")
            return upload.id

        with mine, other:
            first, second = begin(mine), begin(mine)
            with pytest.raises(openai.RateLimitError, match="a key may have 2 uploads that are not completed") as many:
                begin(mine)
            assert many.value.response.headers["x-should-retry"] == "false"
            begin(other)
            file = mine.uploads.complete(first, part_ids=[]).file
            assert file is not None
            for more in (
                lambda: mine.files.create(file=("empty.txt", b""), purpose="user_data"),
                lambda: mine.uploads.complete(second, part_ids=[]),
                lambda: begin(mine),
            ):
                with pytest.raises(openai.BadRequestError, match="a key may have 1 files: delete some first"):
                    more()
            mine.files.delete(file.id)
            assert mine.uploads.complete(second, part_ids=[]).status == "completed"
