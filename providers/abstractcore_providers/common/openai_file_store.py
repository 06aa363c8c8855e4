"""OpenAI's file store: `POST /files`, and `POST /uploads` with parts for large files.

Source: https://platform.openai.com/docs/api-reference/files, https://platform.openai.com/docs/api-reference/uploads. A
part has 64 MB at most. Files expire after two days (`expires_after`).
"""

from __future__ import annotations

import mimetypes
from dataclasses import replace

from pydantic_core import to_json

from abstractcore.errors import ServerError
from abstractcore.ports import FileToUpload, FileUpload, Operation, ProviderFile
from abstractcore.schema import WireRequest, WireResponse

from .file_operations import DELETE, LIFETIME_SECONDS, READ, UPLOAD, file_operation, path_of
from .json_headers import JSON_HEADERS
from .json_reading import Object, as_object, count_of, text_of
from .multipart import multipart
from .openai_address import RIGHT_ADDRESS
from .openai_errors import error_in_body
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

    def send(self, file: FileToUpload, upload: FileUpload, data: bytes) -> Operation[FileUpload]:
        """Returns the next request: the file, the beginning of an upload in parts, a part, or the end of the upload."""
        if file.size <= PART_BYTES:
            fields = {"purpose": _purpose(file), **_expiry_fields()}
            request = multipart(_FILES, fields.items(), "file", _named(file), data)
            return file_operation(UPLOAD, request, lambda response: replace(upload, file=_read_file(response)))
        if not upload.session:
            return file_operation(UPLOAD, _begun(file), lambda response: _begin_parts(response, file, upload))
        path = path_of(_UPLOADS, upload.session)
        if upload.wants:
            request = multipart(f"{path}/parts", (), "data", file, data)
            return file_operation(UPLOAD, request, lambda response: _part_sent(response, file, upload))
        request = WireRequest(f"{path}/complete", JSON_HEADERS, to_json({"part_ids": list(upload.parts)}))
        return file_operation(UPLOAD, request, lambda response: _completed(response, upload))

    def resume(self, file: FileToUpload, upload: FileUpload) -> Operation[FileUpload] | None:
        """Returns None: requests are repeated. Parts that arrive twice are used once."""
        return None

    def read(self, id: str) -> Operation[ProviderFile]:
        """Returns `GET /files/{id}`."""
        return file_operation(READ, WireRequest(path_of(_FILES, id), {}, b"", "GET"), _read_file)

    def delete(self, id: str) -> Operation[None]:
        """Returns `DELETE /files/{id}`."""
        return file_operation(DELETE, WireRequest(path_of(_FILES, id), {}, b"", "DELETE"), lambda response: None)


def _purpose(file: FileToUpload) -> str:
    """Returns "vision" for images (https://platform.openai.com/docs/guides/images-vision), else "user_data"."""
    return "vision" if file.media_type.startswith("image/") else "user_data"


def _expiry_fields() -> dict[str, str]:
    return {"expires_after[anchor]": "created_at", "expires_after[seconds]": str(LIFETIME_SECONDS)}


def _named(file: FileToUpload) -> FileToUpload:
    """Returns the file with a name: the provider reads the type of a file from its extension."""
    if file.name:
        return file
    extension = mimetypes.guess_extension(file.media_type, strict=False) or ""
    return replace(file, name=f"file{extension}")


def _begun(file: FileToUpload) -> WireRequest:
    body = {
        "bytes": file.size,
        "filename": _named(file).name,
        "mime_type": file.media_type,
        "purpose": _purpose(file),
        "expires_after": {"anchor": "created_at", "seconds": LIFETIME_SECONDS},
    }
    return WireRequest(_UPLOADS, JSON_HEADERS, to_json(body))


def _begin_parts(response: WireResponse, file: FileToUpload, upload: FileUpload) -> FileUpload:
    id = _id_of(response, _object(response))
    return replace(upload, session=id, wants=min(upload.step, file.size))


def _part_sent(response: WireResponse, file: FileToUpload, upload: FileUpload) -> FileUpload:
    id, offset = _id_of(response, _object(response)), upload.offset + upload.wants
    wants = min(upload.step, file.size - offset)
    return replace(upload, offset=offset, wants=wants, parts=(*upload.parts, id))


def _completed(response: WireResponse, upload: FileUpload) -> FileUpload:
    data = _object(response)
    if text_of(data, "status") not in _STATES:
        raise ServerError(f"the upload is {text_of(data, 'status')!r}: expected 'completed'", status=response.status)
    return replace(upload, file=_file(response, as_object(data.get("file"))))


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
