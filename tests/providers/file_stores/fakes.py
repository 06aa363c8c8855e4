"""Strict fakes of the vendors' file stores, written from their published formats.

https://platform.openai.com/docs/api-reference/files and .../uploads,
https://platform.claude.com/docs/en/build-with-claude/files, https://ai.google.dev/api/files, and for the protocol
https://developers.google.com/photos/library/guides/resumable-uploads. Tests set their clock: `now`.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email import message_from_bytes
from typing import Any, cast
from urllib.parse import parse_qs, urlsplit

from tests.chaos_server import CUT, ReceivedRequest, ScriptedServer, Step, answer

GRANULARITY = 262_144
_DAYS = 86_400


class RefusedError(Exception):
    """A request that the vendor's server refuses."""

    def __init__(self, status: int, message: str, /, **more: Any) -> None:
        super().__init__(message)
        self.status, self.message, self.more = status, message, more


@dataclass
class Kept:
    """A file in a store."""

    id: str
    name: str
    media_type: str
    data: bytes
    owner: str
    made: float
    lifetime: float | None
    fields: dict[str, str] = field(default_factory=dict)
    reads: int = 0


def form(request: ReceivedRequest) -> dict[str, tuple[dict[str, str], bytes]]:
    """The parts of a body of type multipart/form-data, read by the standard library: their parameters and content."""
    kind = request.headers["content-type"]
    assert kind.startswith("multipart/form-data; boundary=")
    message = message_from_bytes(f"Content-Type: {kind}\r\n\r\n".encode() + request.body)
    assert message.is_multipart(), "the body has no such boundary"
    parts: dict[str, tuple[dict[str, str], bytes]] = {}
    for part in cast("list[Any]", message.get_payload()):
        params = dict(part.get_params(header="content-disposition"))
        name = params.pop("name")
        assert name not in parts
        params["type"] = part.get_content_type()
        parts[name] = params, part.get_payload(decode=True)
    return parts


class Store:
    """A store with `room` bytes; `keys` are those of its accounts. `refusals` are errors of the next requests."""

    def __init__(self, server: ScriptedServer, *keys: str, room: float = float("inf")) -> None:
        self.server = server
        self.keys = keys or ("key-1",)
        self.room = room
        self.files: dict[str, Kept] = {}
        self.now = 1_800_000_000.0
        self.log: list[str] = []
        self.refusals: list[RefusedError] = []
        self.made = 0
        self.lock = threading.Lock()
        server.always_by(self._steps)

    def _steps(self, request: ReceivedRequest) -> Sequence[Step]:
        with self.lock:
            try:
                found = self.handle(request, self.owner(request))
            except RefusedError as error:
                found = self.refused(error)
            except AssertionError as error:
                found = self.refused(RefusedError(400, f"malformed: {error}"))
            return found if isinstance(found, tuple) else (found,)

    def handle(self, request: ReceivedRequest, owner: str) -> bytes | tuple[Step, ...]:
        raise NotImplementedError

    def owner(self, request: ReceivedRequest) -> str:
        raise NotImplementedError

    def refused(self, error: RefusedError) -> bytes:
        raise NotImplementedError

    def keep(self, kept: Kept) -> Kept:
        """Keeps a file, if there is room."""
        if sum(len(file.data) for file in self.files.values()) + len(kept.data) > self.room:
            raise self.full()
        self.files[kept.id] = kept
        return kept

    def full(self) -> RefusedError:
        raise NotImplementedError

    def find(self, id: str, owner: str) -> Kept:
        kept = self.files.get(id)
        if kept is None or kept.owner != owner or (kept.lifetime is not None and kept.made + kept.lifetime <= self.now):
            raise self.missing(id)
        return kept

    def missing(self, id: str) -> RefusedError:
        raise NotImplementedError

    def new_id(self) -> str:
        self.made += 1
        return f"file-{self.made}"

    def uploads(self) -> int:
        """How many files have arrived as a whole."""
        return self.made


class OpenAIStore(Store):
    """OpenAI: files, uploads in parts, and responses and chat completions that name files."""

    def __init__(self, server: ScriptedServer, *keys: str, room: float = float("inf")) -> None:
        super().__init__(server, *keys, room=room)
        self.pending: dict[str, dict[str, Any]] = {}

    def owner(self, request: ReceivedRequest) -> str:
        key = request.headers.get("authorization", "").removeprefix("Bearer ")
        if key not in self.keys:
            raise RefusedError(401, "Incorrect API key provided", code="invalid_api_key", type="invalid_request_error")
        return key

    def refused(self, error: RefusedError) -> bytes:
        detail = {"message": error.message, "type": "invalid_request_error", "param": None, "code": None, **error.more}
        return answer({"error": detail}, error.status)

    def full(self) -> RefusedError:
        return RefusedError(
            400,
            "You have exceeded your file storage quota. Organizations are limited to 100 GB of files. "
            "Please delete old files or attempt with a smaller file size.",
        )

    def missing(self, id: str) -> RefusedError:
        return RefusedError(404, f"No such File object: {id}", param="id")

    def handle(self, request: ReceivedRequest, owner: str) -> bytes:
        path = request.target.removeprefix("/v1")
        self.log.append(f"{request.method} {path}")
        if self.refusals:
            raise self.refusals.pop(0)
        if (request.method, path) == ("POST", "/files"):
            return answer(self._upload(form(request), owner))
        if path.startswith("/uploads"):
            return answer(self._in_parts(path, request, owner))
        if path in ("/responses", "/chat/completions"):
            for id in re.findall(r'"file_id":\s*"([^"]+)"', request.body.decode()):
                self.find(id, owner)
            return answer(_response() if path == "/responses" else _completion())
        id = path.removeprefix("/files/")
        kept = self.find(id, owner)
        if request.method == "DELETE":
            del self.files[id]
            return answer({"id": id, "object": "file", "deleted": True})
        assert request.method == "GET"
        return answer(_openai_file(kept))

    def _upload(self, parts: dict[str, tuple[dict[str, str], bytes]], owner: str) -> dict[str, Any]:
        assert parts.keys() == {"purpose", "file", "expires_after[anchor]", "expires_after[seconds]"}, sorted(parts)
        fields = {name: data.decode() for name, (_, data) in parts.items() if name != "file"}
        assert fields["expires_after[anchor]"] == "created_at"
        named, data = parts["file"]
        made = self._made(
            named["filename"], named["type"], data, owner, fields["purpose"], fields["expires_after[seconds]"]
        )
        return _openai_file(made)

    def _made(self, name: str, type_: str, data: bytes, owner: str, purpose: str, seconds: object) -> Kept:
        assert purpose in ("user_data", "vision")
        assert "." in name, "the type is read from the extension"
        lifetime = int(str(seconds))
        assert 3600 <= lifetime <= 30 * _DAYS
        return self.keep(Kept(self.new_id(), name, type_, data, owner, self.now, lifetime, {"purpose": purpose}))

    def _in_parts(self, path: str, request: ReceivedRequest, owner: str) -> dict[str, Any]:
        assert request.method == "POST"
        _, _, id, *action = path.split("/") if path != "/uploads" else ("", "", "")
        if not id:
            body = request.json
            assert body.keys() == {"bytes", "filename", "mime_type", "purpose", "expires_after"}
            assert body["expires_after"].keys() == {"anchor", "seconds"}
            upload = {"id": f"upload-{len(self.pending) + 1}", "body": body, "parts": {}}
            self.pending[upload["id"]] = upload
            return self._upload_object(upload, "pending")
        upload = self.pending[id]
        body = upload["body"]
        if action == ["parts"]:
            parts = form(request)
            assert parts.keys() == {"data"}
            assert len(parts["data"][1]) <= 64 * 1024 * 1024
            part = f"part-{len(upload['parts']) + 1}"
            upload["parts"][part] = parts["data"][1]
            return {"id": part, "created_at": int(self.now), "object": "upload.part", "upload_id": id}
        assert action == ["complete"]
        assert request.json.keys() == {"part_ids"}
        data = b"".join(upload["parts"][part] for part in request.json["part_ids"])
        assert len(data) == body["bytes"], "the number of bytes does not match"
        kept = self._made(
            body["filename"], body["mime_type"], data, owner, body["purpose"], body["expires_after"]["seconds"]
        )
        return {**self._upload_object(upload, "completed"), "file": _openai_file(kept)}

    def _upload_object(self, upload: dict[str, Any], status: str) -> dict[str, Any]:
        body = upload["body"]
        return {
            "id": upload["id"],
            "object": "upload",
            "bytes": body["bytes"],
            "created_at": int(self.now),
            "filename": body["filename"],
            "purpose": body["purpose"],
            "status": status,
            "expires_at": int(self.now) + 3600,
        }


def _openai_file(kept: Kept) -> dict[str, Any]:
    return {
        "id": kept.id,
        "object": "file",
        "bytes": len(kept.data),
        "created_at": int(kept.made),
        "expires_at": None if kept.lifetime is None else int(kept.made + kept.lifetime),
        "filename": kept.name,
        "purpose": kept.fields["purpose"],
        "status": "processed",
    }


def _response() -> dict[str, Any]:
    text = {"type": "output_text", "text": "Read.", "annotations": [], "logprobs": []}
    message = {"type": "message", "id": "msg_1", "status": "completed", "role": "assistant", "content": [text]}
    usage = {"input_tokens": 3, "output_tokens": 1, "total_tokens": 4}
    return {"id": "resp_1", "object": "response", "status": "completed", "output": [message], "usage": usage}


def _completion() -> dict[str, Any]:
    message = {"role": "assistant", "content": "Read."}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    return {
        "id": "c1",
        "object": "chat.completion",
        "choices": [choice],
        "usage": {"prompt_tokens": 3, "completion_tokens": 1},
    }


class AnthropicStore(Store):
    """Anthropic: files without a beta header, and messages that name them."""

    def owner(self, request: ReceivedRequest) -> str:
        assert "anthropic-version" in request.headers, "anthropic-version: header is required"
        bearer = request.headers.get("authorization", "").removeprefix("Bearer ")
        key = request.headers.get("x-api-key", bearer)
        if key not in self.keys:
            raise RefusedError(401, "invalid x-api-key", type="authentication_error")
        return key

    def refused(self, error: RefusedError) -> bytes:
        detail = {"type": "invalid_request_error", "message": error.message, **error.more}
        return answer({"type": "error", "error": detail, "request_id": "req_1"}, error.status)

    def full(self) -> RefusedError:
        details = {"error_code": "storage_quota_exceeded"}
        return RefusedError(400, "The organization's file storage quota is exhausted.", details=details)

    def missing(self, id: str) -> RefusedError:
        return RefusedError(404, f"File not found: {id}", type="not_found_error")

    def handle(self, request: ReceivedRequest, owner: str) -> bytes:
        path = request.target.removeprefix("/v1")
        self.log.append(f"{request.method} {path}")
        if self.refusals:
            raise self.refusals.pop(0)
        if (request.method, path) == ("POST", "/files"):
            parts = form(request)
            assert {"file"} <= parts.keys() <= {"file", "expires_in_seconds"}, sorted(parts)
            named, data = parts["file"]
            lifetime = int(parts["expires_in_seconds"][1])
            assert 3600 <= lifetime <= 90 * _DAYS
            kept = Kept(self.new_id(), named["filename"], named["type"], data, owner, self.now, lifetime)
            return answer(_anthropic_file(self.keep(kept)))
        if path == "/messages":
            for id in re.findall(r'"file_id":\s*"([^"]+)"', request.body.decode()):
                self.find(id, owner)
            usage = {"input_tokens": 3, "output_tokens": 1}
            content = [{"type": "text", "text": "Read."}]
            message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": content}
            return answer({**message, "stop_reason": "end_turn", "usage": usage})
        id = path.removeprefix("/files/")
        kept = self.find(id, owner)
        if request.method == "DELETE":
            del self.files[id]
            return answer({"id": id, "type": "file_deleted"})
        assert request.method == "GET"
        return answer(_anthropic_file(kept))


def _anthropic_file(kept: Kept) -> dict[str, Any]:
    return {
        "id": kept.id,
        "type": "file",
        "filename": kept.name,
        "mime_type": kept.media_type,
        "size_bytes": len(kept.data),
        "created_at": _time(kept.made),
        "expires_at": None if kept.lifetime is None else _time(kept.made + kept.lifetime),
        "downloadable": False,
    }


@dataclass
class Session:
    """A resumable upload: `cut_at` cuts the connection once, when so many bytes have arrived."""

    owner: str
    size: int
    media_type: str
    name: str
    data: bytearray = field(default_factory=bytearray)
    kept: Kept | None = None


class GoogleStore(Store):
    """Google: resumable uploads, and generateContent and interactions that name files by URI.

    `cuts` are the numbers of bytes at which connections are cut, each once. A video is PROCESSING for `processing`
    reads, then ACTIVE or `FAILED`. With `forget_body`, the answer to a query of a complete upload has no file.
    """

    def __init__(self, server: ScriptedServer, *keys: str, room: float = float("inf")) -> None:
        super().__init__(server, *keys, room=room)
        self.sessions: dict[str, Session] = {}
        self.cuts: list[int] = []
        self.cut_answers = 0
        self.forget_body = False
        self.processing = 0
        self.end_state = "ACTIVE"
        self.wrong_hash = False
        self.hex_hash = True
        self.chunks: list[tuple[int, int]] = []

    def owner(self, request: ReceivedRequest) -> str:
        query = parse_qs(urlsplit(request.target).query)
        if "upload_id" in query and "x-goog-api-key" not in request.headers:  # as Google's client sends chunks
            return self.sessions[query["upload_id"][0]].owner
        key = request.headers.get("x-goog-api-key", "")
        if key not in self.keys:
            raise RefusedError(400, "API key not valid", status="INVALID_ARGUMENT", reason="API_KEY_INVALID")
        return key

    def refused(self, error: RefusedError) -> bytes:
        status = error.more.get("status", "INVALID_ARGUMENT")
        detail: dict[str, Any] = {"code": error.status, "message": error.message, "status": status}
        if "quota" in error.more:
            violation = {
                "quotaMetric": "generativelanguage.googleapis.com/file_storage_bytes",
                "quotaId": error.more["quota"],
            }
            failure = {"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [violation]}
            detail["details"] = [failure]
        return answer({"error": detail}, error.status)

    def full(self) -> RefusedError:
        message = "You exceeded your current quota, please check your plan and billing details."
        return RefusedError(429, message, status="RESOURCE_EXHAUSTED", quota="FileStorageBytesPerProject")

    def missing(self, id: str) -> RefusedError:
        message = f"You do not have permission to access the File {id} or it may not exist."
        return RefusedError(403, message, status="PERMISSION_DENIED")

    def handle(self, request: ReceivedRequest, owner: str) -> bytes | tuple[Step, ...]:
        parts = urlsplit(request.target)
        command = request.headers.get("x-goog-upload-command", "")
        self.log.append(f"{request.method} {parts.path}{' ' + command if command else ''}")
        if self.refusals:
            raise self.refusals.pop(0)
        if parts.path == "/upload/v1beta/files":
            assert request.method == "POST"
            return self._uploading(request, command, parse_qs(parts.query), owner)
        if parts.path.endswith(":generateContent") or parts.path.endswith("/interactions"):
            for uri in re.findall(r'"(?:fileUri|uri)":\s*"([^"]+)"', request.body.decode()):
                self._usable(self.find(uri.rpartition("/")[2], owner))
            return answer(_content() if "generateContent" in parts.path else _interaction())
        id = parts.path.removeprefix("/v1beta/files/")
        kept = self.find(id, owner)
        if request.method == "DELETE":
            del self.files[id]
            return answer({})
        assert request.method == "GET"
        kept.reads += 1
        return answer(self._file(kept))

    def _usable(self, kept: Kept) -> None:
        if self._state(kept) != "ACTIVE":
            message = f"The File {kept.id} is not in an ACTIVE state and usage is not allowed."
            raise RefusedError(400, message, status="FAILED_PRECONDITION")

    def _uploading(
        self, request: ReceivedRequest, command: str, query: dict[str, list[str]], owner: str
    ) -> bytes | tuple[Step, ...]:
        if command == "start":
            return self._started(request, owner)
        assert query.keys() == {"upload_id", "upload_protocol"}
        session = self.sessions[query["upload_id"][0]]
        assert session.owner == owner
        if command == "query":
            if session.kept is not None:
                body = b"" if self.forget_body else {"file": self._file(session.kept)}
                return answer(body, x_goog_upload_status="final")
            return answer(b"", x_goog_upload_status="active", x_goog_upload_size_received=str(len(session.data)))
        assert command in ("upload", "upload, finalize")
        offset = int(request.headers["x-goog-upload-offset"])
        if offset != len(session.data):
            raise RefusedError(400, f"the offset is {offset}: expected {len(session.data)}")
        is_last = offset + len(request.body) == session.size
        assert is_last == command.endswith("finalize")
        assert is_last or len(request.body) % GRANULARITY == 0
        self.chunks.append((offset, len(request.body)))
        if self.cuts and offset <= self.cuts[0] < offset + len(request.body):
            session.data += request.body[: self.cuts.pop(0) - offset]
            return (CUT,)
        session.data += request.body
        if not is_last:
            return answer(b"", x_goog_upload_status="active")
        kept = Kept(self.new_id(), session.name, session.media_type, bytes(session.data), owner, self.now, 2 * _DAYS)
        session.kept = self.keep(kept)
        if self.cut_answers:
            self.cut_answers -= 1
            return (CUT,)
        return answer({"file": self._file(kept)}, x_goog_upload_status="final")

    def _started(self, request: ReceivedRequest, owner: str) -> bytes:
        headers = request.headers
        assert headers["x-goog-upload-protocol"] == "resumable"
        size = int(headers["x-goog-upload-header-content-length"])
        body = {camel(name): value for name, value in request.json["file"].items()}
        assert body.keys() <= {"displayName", "mimeType", "sizeBytes", "name"}, sorted(body)
        assert body["mimeType"] == headers["x-goog-upload-header-content-type"]
        assert int(body["sizeBytes"]) == size
        if sum(len(file.data) for file in self.files.values()) + size > self.room:
            raise self.full()
        id = f"session{len(self.sessions) + 1}"
        self.sessions[id] = Session(owner, size, body["mimeType"], body.get("displayName", ""))
        url = f"{self.server.url}/upload/v1beta/files?upload_id={id}&upload_protocol=resumable"
        return answer(
            b"",
            x_goog_upload_status="active",
            x_goog_upload_url=url,
            x_goog_upload_chunk_granularity=str(GRANULARITY),
        )

    def _state(self, kept: Kept) -> str:
        is_video = kept.media_type.startswith("video/")
        return "PROCESSING" if is_video and kept.reads < self.processing else self.end_state if is_video else "ACTIVE"

    def _file(self, kept: Kept) -> dict[str, Any]:
        digest = hashlib.sha256(kept.data + (b"!" if self.wrong_hash else b""))
        shown = digest.hexdigest().encode() if self.hex_hash else digest.digest()
        state = self._state(kept)
        error = {"error": {"code": 13, "message": "the codec is not supported"}} if state == "FAILED" else {}
        return {
            "name": f"files/{kept.id}",
            "displayName": kept.name,
            "mimeType": kept.media_type,
            "sizeBytes": str(len(kept.data)),
            "createTime": _time(kept.made),
            "updateTime": _time(kept.made),
            "expirationTime": _time(kept.made + (kept.lifetime or 0)),
            "sha256Hash": base64.b64encode(shown).decode(),
            "uri": f"https://generativelanguage.googleapis.com/v1beta/files/{kept.id}",
            "state": state,
            "source": "UPLOADED",
            **error,
        }


def _content() -> dict[str, Any]:
    content = {"role": "model", "parts": [{"text": "Read."}]}
    usage = {"promptTokenCount": 3, "candidatesTokenCount": 1, "totalTokenCount": 4}
    return {"candidates": [{"content": content, "finishReason": "STOP"}], "usageMetadata": usage}


def _interaction() -> dict[str, Any]:
    step = {"type": "model_output", "content": [{"type": "text", "text": "Read."}]}
    return {
        "id": "i1",
        "status": "completed",
        "steps": [step],
        "usage": {"total_input_tokens": 3, "total_output_tokens": 1},
    }


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat().replace("+00:00", "Z")


STORES: dict[str, tuple[Callable[..., Store], str, str]] = {
    "openai": (OpenAIStore, "gpt-5.4", "/v1"),
    "openai-responses": (OpenAIStore, "gpt-5.4", "/v1"),
    "anthropic": (AnthropicStore, "claude-opus-5-5", "/v1"),
    "google": (GoogleStore, "gemini-3.8-flash", "/v1beta"),
    "google-interactions": (GoogleStore, "gemini-3.8-flash", "/v1beta"),
}
"""By provider: its store, a model, and the path of its API."""


@contextmanager
def running(provider: str, *keys: str, room: float = float("inf")) -> Iterator[Any]:
    """A store of a provider on a server of its own."""
    with ScriptedServer() as server:
        yield STORES[provider][0](server, *keys, room=room)


def camel(name: str) -> str:
    """A field's name in JSON: Google's servers accept that of the protocol buffer too, as its client sends it."""
    first, *rest = name.split("_")
    return first + "".join(map(str.capitalize, rest))


def sent(request: ReceivedRequest) -> Any:
    """The body of a request as data: JSON, or the fields and files of a form."""
    if request.headers.get("content-type", "").startswith("multipart/"):
        return {name: data if "filename" in named else data.decode() for name, (named, data) in form(request).items()}
    return json.loads(request.body) if request.body[:1] == b"{" else request.body
