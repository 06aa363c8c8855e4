"""OpenAI's file store: `POST /files`, and `POST /uploads` with parts for large files.

Source: https://platform.openai.com/docs/api-reference/files, https://platform.openai.com/docs/api-reference/uploads. A
part has 64 MB at most. Files expire after two days (`expires_after`).
"""

from __future__ import annotations

import mimetypes
from dataclasses import replace

from pydantic_core import to_json

from abstractcore.errors import ServerError
from abstractcore.ports import FileChunk, FileId, FileToUpload, FileUpload, Operation, ProviderFile
from abstractcore.schema import WireRequest, WireResponse

from .endpoints import JSON_HEADERS, RIGHT_ADDRESS
from .openai_errors import error_in_body
from .operations import LIFETIME_SECONDS, delete_operation, multipart, path_of, read_operation, upload_operation
from .reading import Object, as_object, count_of, text_of
from .response_bodies import read_body

PART_BYTES = 32 << 20
"""Files up to this size are sent in one request, larger ones in parts of this size."""
_FILES, _UPLOADS = "/files", "/uploads"
_STATES = {"pending", "completed"}


class OpenAIFileStore:
    """The operations on files, as pure functions."""

    def begin(self, file: FileToUpload) -> FileUpload:
        """Returns the beginning: small files are sent as a whole."""
        if file.size <= PART_BYTES:
            return FileUpload(wants=file.size, step=PART_BYTES)
        return FileUpload(step=PART_BYTES)

    def send(self, file: FileToUpload, upload: FileUpload) -> Operation[FileChunk, FileUpload]:
        """Returns the next step: the file, the beginning of an upload in parts, a part, or the end of the upload."""
        if file.size <= PART_BYTES:
            return upload_operation(_whole, lambda response, sent: replace(sent.upload, file=_read_file(response)))
        if not upload.session:
            return upload_operation(_beginning, _begin_parts)
        return upload_operation(_part, _part_sent) if upload.wants else upload_operation(_end, _read_completion)

    def resume(self, file: FileToUpload, upload: FileUpload) -> None:
        """Returns None: requests are repeated. Parts that arrive twice are used once."""

    @property
    def read(self) -> Operation[FileId, ProviderFile]:
        """`GET /files/{id}`."""
        return read_operation(lambda file: WireRequest(path_of(_FILES, file.id), {}, b"", "GET"), _read_file)

    @property
    def delete(self) -> Operation[FileId, None]:
        """`DELETE /files/{id}`."""
        return delete_operation(lambda file: WireRequest(path_of(_FILES, file.id), {}, b"", "DELETE"))


def _whole(chunk: FileChunk) -> WireRequest:
    fields = {"purpose": _purpose(chunk.file), **_expiry_fields()}
    return multipart(_FILES, fields.items(), "file", _with_name(chunk.file), chunk.data)


def _part(chunk: FileChunk) -> WireRequest:
    return multipart(f"{path_of(_UPLOADS, chunk.upload.session)}/parts", (), "data", chunk.file, chunk.data)


def _end(chunk: FileChunk) -> WireRequest:
    path, parts = path_of(_UPLOADS, chunk.upload.session), list(chunk.upload.parts)
    return WireRequest(f"{path}/complete", JSON_HEADERS, to_json({"part_ids": parts}))


def _purpose(file: FileToUpload) -> str:
    """Returns "vision" for images (https://platform.openai.com/docs/guides/images-vision), else "user_data"."""
    return "vision" if file.media_type.startswith("image/") else "user_data"


def _expiry_fields() -> dict[str, str]:
    return {"expires_after[anchor]": "created_at", "expires_after[seconds]": str(LIFETIME_SECONDS)}


def _with_name(file: FileToUpload) -> FileToUpload:
    """Returns the file with a name: the provider reads the type of a file from its extension."""
    if file.name:
        return file
    extension = mimetypes.guess_extension(file.media_type, strict=False) or ""
    return replace(file, name=f"file{extension}")


def _beginning(chunk: FileChunk) -> WireRequest:
    file = chunk.file
    body = {
        "bytes": file.size,
        "filename": _with_name(file).name,
        "mime_type": file.media_type,
        "purpose": _purpose(file),
        "expires_after": {"anchor": "created_at", "seconds": LIFETIME_SECONDS},
    }
    return WireRequest(_UPLOADS, JSON_HEADERS, to_json(body))


def _begin_parts(response: WireResponse, sent: FileChunk) -> FileUpload:
    id = _id_of(response, _object(response))
    return replace(sent.upload, session=id, wants=min(sent.upload.step, sent.file.size))


def _part_sent(response: WireResponse, sent: FileChunk) -> FileUpload:
    file, upload = sent.file, sent.upload
    id, offset = _id_of(response, _object(response)), upload.offset + upload.wants
    wants = min(upload.step, file.size - offset)
    return replace(upload, offset=offset, wants=wants, parts=(*upload.parts, id))


def _read_completion(response: WireResponse, sent: FileChunk) -> FileUpload:
    data = _object(response)
    if text_of(data, "status") not in _STATES:
        raise ServerError(f"the upload is {text_of(data, 'status')!r}: expected 'completed'", status=response.status)
    return replace(sent.upload, file=_file(response, as_object(data.get("file"))))


def _read_file(response: WireResponse) -> ProviderFile:
    return _file(response, _object(response))


def _file(response: WireResponse, data: Object) -> ProviderFile:
    begin, end = count_of(data, "created_at"), count_of(data, "expires_at")
    lifetime = None if begin is None or end is None else float(end - begin)
    failed = text_of(data, "status") == "error"
    problem = text_of(data, "status_details") or ""
    state = "failed" if failed else "ready"
    return ProviderFile(_id_of(response, data), state, count_of(data, "bytes"), None, lifetime, problem)


def _object(response: WireResponse) -> Object:
    return as_object(read_body(response, RIGHT_ADDRESS))


def _id_of(response: WireResponse, data: Object) -> str:
    id = text_of(data, "id")
    if not id:
        raise error_in_body(data) or ServerError("the response names no file", status=response.status)
    return id
