"""Uploads in parts, with the openai package as the client."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx2
import openai
import pytest
from openai.resources.uploads.uploads import DEFAULT_PART_SIZE
from sqlalchemy import event
from sqlalchemy.engine import Engine

from abstractcore_server import ServerSettings, Settings
from abstractcore_server.access.admission import FixedKeys
from abstractcore_server.configuration.settings import ServerLimits
from tests.chaos_server import PATIENCE_SECONDS
from tests.postgresql import running_postgresql
from tests.server.multipart import form
from tests.server.serving import Served, serving

TABLE = b"a,b\n" + b"1,2\n" * 50
KEYS = ("first-key-0123456789", "other-key-0123456789")
HEADERS = {"authorization": f"Bearer {KEYS[0]}"}
UPLOAD: dict[str, Any] = {"bytes": 8, "filename": "a.txt", "mime_type": "text/plain", "purpose": "user_data"}


@pytest.fixture(scope="module")
def client(running: Served) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=f"{running.url}/v1", api_key="none", max_retries=0) as client:
        yield client


@pytest.fixture
def pending(http: httpx2.Client) -> str:
    """The path of an upload that waits for 8 bytes."""
    return f"/v1/uploads/{http.post('/v1/uploads', json=UPLOAD).json()['id']}"


def part(http: httpx2.Client, path: str, content: bytes) -> str:
    """Adds a part; returns its id."""
    response = http.post(f"{path}/parts", files={"data": content})
    assert response.status_code == 200, response.text
    return response.json()["id"]


def error(response: httpx2.Response, status: int) -> dict[str, Any]:
    """Returns an error in OpenAI's shape."""
    assert response.status_code == status, response.text
    found = response.json()["error"]
    assert found.keys() >= {"message", "type", "param", "code"}
    return found


def test_completed_upload_is_a_file_that_models_get(served: Served, client: openai.OpenAI):
    upload = client.uploads.create(
        bytes=len(TABLE),
        filename="table.csv",
        mime_type="text/csv",
        purpose="user_data",
        expires_after={"anchor": "created_at", "seconds": 3600},
    )
    assert (upload.object, upload.status, upload.file) == ("upload", "pending", None)
    assert (upload.bytes, upload.filename, upload.purpose) == (len(TABLE), "table.csv", "user_data")
    assert upload.expires_at == upload.created_at + 3600
    later, first = (client.uploads.parts.create(upload.id, data=data) for data in (TABLE[9:], TABLE[:9]))
    assert (first.object, first.upload_id) == ("upload.part", upload.id)
    completed = client.uploads.complete(
        upload.id, part_ids=[first.id, later.id], md5=hashlib.md5(TABLE).hexdigest().upper()
    )
    assert completed.file is not None
    assert completed == upload.model_copy(update={"status": "completed", "file": completed.file})
    assert completed.file == client.files.retrieve(completed.file.id)
    assert completed.file.expires_at == completed.file.created_at + 3600
    assert client.files.content(completed.file.id).read() == TABLE

    served.script("Two columns.", "Two columns.")
    client.responses.create(
        model="scripted", input=[{"role": "user", "content": [{"type": "input_file", "file_id": completed.file.id}]}]
    )
    file: Any = {"type": "file", "file": {"file_id": completed.file.id}}
    client.chat.completions.create(model="scripted", messages=[{"role": "user", "content": [file]}])
    for call in served.calls:
        assert call.messages[0].text.count("| 1 | 2 |") == 50
        assert 'name="table.csv"' in call.messages[0].text
    assert client.files.delete(completed.file.id).deleted


@pytest.mark.parametrize("purpose", ["assistants", "batch", "evals", "fine-tune", "user_data", "vision"])
def test_client_uploads_a_file_in_chunks(client: openai.OpenAI, purpose: Any):
    upload = client.uploads.upload_file_chunked(
        file=TABLE, filename="table.csv", bytes=len(TABLE), mime_type="pdf", purpose=purpose, part_size=100
    )
    assert upload.file is not None
    assert (upload.file.purpose, upload.file.bytes) == (purpose, len(TABLE))
    assert client.files.content(upload.file.id).read() == TABLE


def test_async_client_uploads_an_empty_file_without_parts(running: Served, tmp_path: Path):
    path = tmp_path / "empty.txt"
    path.touch()

    async def run() -> None:
        async with openai.AsyncOpenAI(base_url=f"{running.url}/v1", api_key="none", max_retries=0) as client:
            upload = await client.uploads.upload_file_chunked(file=path, mime_type="text/plain", purpose="assistants")
            assert upload.file is not None
            assert (upload.file.bytes, upload.file.filename) == (0, "empty.txt")
            assert await (await client.files.content(upload.file.id)).aread() == b""

    asyncio.run(run())


@pytest.mark.exhaustive
def test_part_of_the_clients_default_size_has_room_in_a_body(client: openai.OpenAI, tmp_path: Path):
    assert ServerLimits().body_bytes == DEFAULT_PART_SIZE
    path = tmp_path / "large.bin"
    with path.open("wb") as file:
        file.truncate(DEFAULT_PART_SIZE + 1)
    upload = client.uploads.upload_file_chunked(file=path, mime_type="application/x-nothing", purpose="user_data")
    assert upload.file is not None
    assert upload.file.bytes == DEFAULT_PART_SIZE + 1
    content: Any = [{"type": "input_file", "file_id": upload.file.id}]
    with pytest.raises(
        openai.APIStatusError, match="the files that one request names may have 67108864 bytes"
    ) as caught:
        client.responses.create(model="scripted", input=[{"role": "user", "content": content}])
    assert caught.value.status_code == 413
    assert client.files.delete(upload.file.id).deleted


def test_files_count_as_often_as_a_request_names_them(client: openai.OpenAI):
    content = b"x" * 1024 * 1024
    made = client.files.create(file=("a.txt", content), purpose="user_data")
    parts: Any = [{"type": "file", "file": {"file_id": made.id}}] * 65
    with pytest.raises(openai.APIStatusError, match="may have 67108864 bytes together"):
        client.chat.completions.create(model="scripted", messages=[{"role": "user", "content": parts}])
    assert client.files.content(made.id).read() == content
    client.files.delete(made.id)


def test_cancelled_upload_ends(client: openai.OpenAI):
    upload = client.uploads.create(bytes=1, filename="a", mime_type="text/plain", purpose="user_data")
    made = client.uploads.parts.create(upload.id, data=b"x")
    assert client.uploads.cancel(upload.id) == upload.model_copy(update={"status": "cancelled"})
    for end in (
        lambda: client.uploads.parts.create(upload.id, data=b"x"),
        lambda: client.uploads.complete(upload.id, part_ids=[made.id]),
        lambda: client.uploads.cancel(upload.id),
    ):
        with pytest.raises(openai.BadRequestError, match="was cancelled"):
            end()


@pytest.mark.parametrize(
    ("changes", "status", "param"),
    [
        ({"bytes": None}, 400, "bytes"),
        ({"bytes": -1}, 400, "bytes"),
        ({"bytes": True}, 400, "bytes"),
        ({"bytes": "8"}, 400, "bytes"),
        ({"bytes": 8 * 1024**3 + 1}, 413, "bytes"),
        ({"bytes": 1024**3 + 1}, 413, None),
        ({"filename": ""}, 400, "filename"),
        ({"filename": "a/"}, 400, "filename"),
        ({"filename": "a\0b"}, 400, "filename"),
        ({"filename": 7}, 400, "filename"),
        ({"mime_type": None}, 400, "mime_type"),
        ({"purpose": "fun"}, 400, "purpose"),
        ({"purpose": ["vision"]}, 400, "purpose"),
        ({"expires_after": 3600}, 400, "expires_after"),
        ({"expires_after": {"seconds": 3600}}, 400, "expires_after.anchor"),
        ({"expires_after": {"anchor": "created_at", "seconds": 3599}}, 400, "expires_after.seconds"),
        ({"size": 8}, 400, "size"),
    ],
)
def test_wrong_uploads_are_refused(http: httpx2.Client, changes: dict[str, Any], status: int, param: str | None):
    assert error(http.post("/v1/uploads", json={**UPLOAD, **changes}), status)["param"] == param


def test_name_has_no_folders_and_no_more_than_255_characters(http: httpx2.Client):
    for name, kept in {"../../etc/passwd": "passwd", "C:\\a\\b.txt": "b.txt", "ö" * 100_000: "ö" * 255}.items():
        assert http.post("/v1/uploads", json={**UPLOAD, "filename": name}).json()["filename"] == kept


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ([], "expected one file, got 0"),
        ([("file", "a", b"x")], "expected one file, got 0"),
        ([("data", None, b"x")], "with curl, write -F"),
        ([("data", "a", b"x"), ("data", "b", b"y")], "expected one file, got 2"),
        ([("data", "a", b"")], "the part is empty"),
    ],
)
def test_wrong_parts_are_refused(
    http: httpx2.Client, pending: str, parts: list[tuple[str, str | None, bytes]], message: str
):
    body, kind = form(parts)
    refused = error(http.post(f"{pending}/parts", content=body, headers={"content-type": kind}), 400)
    assert message in refused["message"]


def test_other_fields_of_forms_are_counted(http: httpx2.Client, pending: str):
    body, kind = form([("data", "a", b"x"), ("file", "a", b"x"), ("purpose", None, b"user_data")])
    for path, others in {f"{pending}/parts": "2", "/v1/files": "1"}.items():
        response = http.post(path, content=body, headers={"content-type": kind})
        assert (response.status_code, response.headers["x-abstractcore-warnings"]) == (200, others)


def test_other_content_types_are_refused(http: httpx2.Client, pending: str):
    assert "multipart/form-data" in error(http.post(f"{pending}/parts", json={"data": "x"}), 415)["message"]
    for path in ("/v1/uploads", f"{pending}/complete"):
        assert "not JSON" in error(http.post(path, data={"part_ids": "x"}), 400)["message"]


def test_boundary_that_is_too_long_is_refused(http: httpx2.Client, pending: str):
    headers = {"content-type": f"multipart/form-data; boundary={'x' * 10_000}"}
    refused = error(http.post(f"{pending}/parts", content=b"x", headers=headers), 400)
    assert "the form cannot be read" in refused["message"]


@pytest.mark.parametrize(
    ("body", "param"),
    [
        ({}, "part_ids"),
        ({"part_ids": "part_1"}, "part_ids"),
        ({"part_ids": [1]}, "part_ids"),
        ({"part_ids": ["part_1"]}, "part_ids[0]"),
        ({"part_ids": []}, "part_ids"),
        ({"part_ids": [], "md5": "x"}, "md5"),
        ({"part_ids": [], "sha256": "x"}, "sha256"),
    ],
)
def test_wrong_completions_are_refused(http: httpx2.Client, pending: str, body: dict[str, Any], param: str):
    assert error(http.post(f"{pending}/complete", json=body), 400)["param"] == param


def test_upload_with_another_digest_stays_pending(http: httpx2.Client, pending: str):
    ids = [part(http, pending, b"a,b\n1,2\n")]
    other = {"part_ids": ids, "md5": hashlib.md5(b"x").hexdigest()}
    refused = error(http.post(f"{pending}/complete", json=other), 400)
    assert (refused["param"], hashlib.md5(b"a,b\n1,2\n").hexdigest() in refused["message"]) == ("md5", True)
    completed = http.post(f"{pending}/complete", json={"part_ids": ids}).json()
    again = error(http.post(f"{pending}/complete", json={"part_ids": ids}), 400)
    assert completed["file"]["id"] in again["message"]


def test_parts_and_completions_at_once(http: httpx2.Client, pending: str):
    with ThreadPoolExecutor(4) as threads:
        parts = [threads.submit(part, http, pending, b"ab") for _ in range(4)]
        body = {"part_ids": [each.result() for each in parts]}
        ends = [each.result() for each in [threads.submit(http.post, f"{pending}/complete", json=body) for _ in "abcd"]]
    assert sorted(end.status_code for end in ends) == [200, 400, 400, 400]


def test_each_key_has_its_own_uploads_and_so_many_bytes():
    settings = Settings(limits=ServerLimits(stored_bytes=10))
    mine, other = ({"authorization": f"Bearer {key}"} for key in KEYS)
    with serving(settings, access=FixedKeys(KEYS)) as served, httpx2.Client(base_url=served.url) as http:
        path = f"/v1/uploads/{http.post('/v1/uploads', json=UPLOAD, headers=mine).json()['id']}"

        def add(content: bytes, headers: dict[str, str]) -> httpx2.Response:
            return http.post(f"{path}/parts", files={"data": content}, headers=headers)

        assert add(b"x" * 8, mine).status_code == 200
        assert "may have 10 bytes together" in error(add(b"xxx", mine), 413)["message"]
        assert "there is no upload" in error(add(b"x", other), 404)["message"]
        for end in ("complete", "cancel"):
            error(http.post(f"{path}/{end}", json={"part_ids": []}, headers=other), 404)
        error(http.post("/v1/uploads", json={**UPLOAD, "bytes": 3}, headers=mine), 413)
        assert http.post(f"{path}/cancel", headers=mine).json()["status"] == "cancelled"
        assert http.post("/v1/uploads", json=UPLOAD, headers=mine).status_code == 200


@pytest.fixture
def full_disk() -> Iterator[Callable[[], None]]:
    """Returns a function after which no SQLite file grows."""
    is_full = False

    def limit(connection: Any, *_: object) -> None:
        if is_full:
            connection.exec_driver_sql("PRAGMA max_page_count = 1")

    def fill() -> None:
        nonlocal is_full
        is_full = True

    event.listen(Engine, "begin", limit)
    yield fill
    event.remove(Engine, "begin", limit)


def test_part_for_which_the_disk_has_no_room_leaves_nothing(full_disk: Callable[[], None]):
    with serving() as served, httpx2.Client(base_url=served.url, timeout=PATIENCE_SECONDS) as http:
        path = f"/v1/uploads/{http.post('/v1/uploads', json=UPLOAD).json()['id']}"
        full_disk()
        large = http.post(f"{path}/parts", files={"data": b"x" * 3_000_000})
        assert "cannot be used at the moment" in error(large, 503)["message"]
        assert large.headers["retry-after"]
        assert http.post(f"{path}/cancel").json()["status"] == "cancelled"


@pytest.mark.process
def test_upload_goes_on_when_postgresql_is_back():
    content = bytes(range(256)) * 10_000
    with running_postgresql() as server:
        settings = Settings(ServerSettings(database=server.url))
        with (
            serving(settings, access=FixedKeys(KEYS[:1])) as served,
            httpx2.Client(base_url=served.url, headers=HEADERS, timeout=PATIENCE_SECONDS) as http,
        ):
            path = f"/v1/uploads/{http.post('/v1/uploads', json={**UPLOAD, 'bytes': len(content)}).json()['id']}"
            server.stop()
            error(http.post(f"{path}/parts", files={"data": content}), 503)
            server.start()
            ids = [part(http, path, content)]
            body = {"part_ids": ids, "md5": hashlib.md5(content).hexdigest()}
            completed = http.post(f"{path}/complete", json=body).json()
            assert http.get(f"/v1/files/{completed['file']['id']}/content").content == content
            _send_zero_bytes(http)


def _send_zero_bytes(http: httpx2.Client) -> None:
    """PostgreSQL has no texts with them."""
    body, kind = form([("file", "a\0b.txt", b"x"), ("purpose", None, b"user_data")])
    assert error(http.post("/v1/files", content=body, headers={"content-type": kind}), 400)["param"] == "file"
    error(http.post("/v1/uploads", json={**UPLOAD, "filename": "a\0b", "mime_type": "a\0b"}), 400)
    content = [{"type": "file", "file": {"file_id": "file-\0"}}]
    chat = {"model": "scripted", "messages": [{"role": "user", "content": content}]}
    error(http.post("/v1/chat/completions", json=chat), 400)
    for more in ({"previous_response_id": "resp_\0"}, {"conversation": "conv_\0"}, {"input": [{"id": "\0"}]}):
        error(http.post("/v1/responses", json={"model": "scripted", "input": "hi", **more}), 400)
