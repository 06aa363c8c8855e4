"""Files in requests to Google's APIs: stored by the Files API, at another URL, or inline as base64.

The file store of the Gemini API: resumable uploads in chunks. Part of a recording, and its frames a second, as
Google's APIs write them.

Source: https://ai.google.dev/api/files, and https://developers.google.com/photos/library/guides/resumable-uploads for
the protocol: a file is sent in chunks, and after a failure the server is asked how many bytes it has. Files are kept
for two days.

`VideoMetadata` on https://ai.google.dev/api/generate-content; `processing` of a video on
https://ai.google.dev/gemini-api/docs/video-understanding. Offsets are durations: decimal seconds and an "s".
"""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from typing import Any, Literal
from urllib.parse import urlsplit

from pydantic_core import to_json

from abstractcore.errors import ServerError, UnsupportedContentError
from abstractcore.ports import FileChunk, FileId, FileToUpload, FileUpload, Operation, ProviderFile
from abstractcore.schema import (
    AudioPart,
    Blob,
    CallWarning,
    MediaControls,
    MediaPart,
    MediaResolution,
    SchemaError,
    VideoPart,
    WireRequest,
    WireResponse,
    to_data,
)

from .call_options import FormatWarnings
from .data_urls import kept_id
from .google_errors import RIGHT_ADDRESS, error_in_body
from .operations import delete_operation, path_of, read_operation, seconds_between, upload_operation
from .reading import Object, as_object, text_of
from .response_bodies import read_body

_UPLOADED = "https://generativelanguage.googleapis.com/"


def check_blob(blob: Blob, path: str, provider: str) -> None:
    """Raises `UnsupportedContentError` with the path of content whose bytes are not available, and of a stored file of
    another provider or without the URI of an uploaded file.
    """
    if blob.form == "artifact":
        raise UnsupportedContentError(
            f"{path}: the content is artifact {blob.sha256}, whose bytes are not available.",
            hint="Pass the file itself.",
        )
    kept = kept_id(blob, provider, path)
    if kept is not None and not kept.startswith(_UPLOADED):
        raise UnsupportedContentError(
            f"{path}: {kept!r} is not the URI of an uploaded file.",
            hint=f"It begins with {_UPLOADED}; a file in Cloud Storage is a URL (gs://...).",
        )


def file_uri(blob: Blob, path: str, provider: str, warnings: list[CallWarning]) -> str | None:
    """Returns the URI of a checked blob; None for one that is sent inline.

    Warns of a URL that is that of an uploaded file, which is read as a stored file.
    """
    if blob.form not in ("url", "provider_file"):
        return None
    uri = blob.location or ""
    if blob.form == "url" and uri.startswith(_UPLOADED):
        kept = Blob.from_provider_file(provider, uri, blob.media_type)
        message = "this is a file stored by the provider"
        warnings.append(CallWarning("sent_by_reference", f"{path}.blob", message, sent=to_data(kept)))
    return uri


def blob_at(uri: str, media_type: str, provider: str) -> Blob:
    """Returns the blob of a URI: a stored file if it is that of an uploaded one."""
    if uri.startswith(_UPLOADED):
        return Blob.from_provider_file(provider, uri, media_type)
    return Blob.from_url(uri, media_type)


def to_base64(blob: Blob) -> str:
    """Returns the content of a blob whose bytes are available."""
    return base64.b64encode(blob.read()).decode("ascii")


def from_base64(text: Any, path: str) -> bytes:
    """Decodes base64 in either alphabet; raises `SchemaError` if it is invalid."""
    if not isinstance(text, str):
        raise SchemaError(f"expected text, got {type(text).__name__}", path)
    try:
        return base64.b64decode(text.replace("-", "+").replace("_", "/"), validate=True)
    except ValueError as error:
        raise SchemaError(f"not base64: {error}", path) from None


def is_base64(text: str) -> bool:
    """Whether `text` is valid base64."""
    try:
        return bool(from_base64(text, ""))
    except SchemaError:
        return False


CHUNK_BYTES = 8 << 20
"""The size of chunks, as in Google's own client, rounded down to the server's granularity."""
_FILES, _UPLOADS = "/files", "/../upload/v1beta/files"
"""Uploads have a path beside that of the API."""
_UPLOAD_PATH = "/upload/v1beta/files"
_STATUS, _URL = "x-goog-upload-status", "x-goog-upload-url"
_GRANULARITY, _RECEIVED = "x-goog-upload-chunk-granularity", "x-goog-upload-size-received"
_HEADERS = frozenset({_STATUS, _URL, _GRANULARITY, _RECEIVED})
_LONGEST_NAME = 512
_STATES: Mapping[str | None, Literal["processing", "failed"]] = {"PROCESSING": "processing", "FAILED": "failed"}


class GoogleFileStore:
    """The operations on files, as pure functions. The id of a file is its URI."""

    def begin(self, file: FileToUpload) -> FileUpload:
        """Returns the beginning: the first request has no content."""
        return FileUpload(step=CHUNK_BYTES)

    def send(self, file: FileToUpload, upload: FileUpload) -> Operation[FileChunk, FileUpload]:
        """Returns the start of the upload, or its next chunk, which is not repeated: see `resume`."""
        if not upload.session:
            return upload_operation(_start, _read_start, reads_headers=_HEADERS)
        return upload_operation(_next, _read_progress, reads_headers=_HEADERS, may_repeat=False)

    def resume(self, file: FileToUpload, upload: FileUpload) -> Operation[FileChunk, FileUpload] | None:
        """Returns the question how many bytes the server has; None before the upload has started."""
        return upload_operation(_query, _read_resumption, reads_headers=_HEADERS) if upload.session else None

    @property
    def read(self) -> Operation[FileId, ProviderFile]:
        """`GET /files/{name}`."""
        return read_operation(
            lambda file: WireRequest(_path_of(file.id), {}, b"", "GET"),
            lambda response: _file(response, _object(response)),
        )

    @property
    def delete(self) -> Operation[FileId, None]:
        """`DELETE /files/{name}`."""
        return delete_operation(lambda file: WireRequest(_path_of(file.id), {}, b"", "DELETE"))


def _next(chunk: FileChunk) -> WireRequest:
    upload = chunk.upload
    is_last = upload.offset + len(chunk.data) == chunk.file.size
    headers = {
        "x-goog-upload-command": "upload, finalize" if is_last else "upload",
        "x-goog-upload-offset": str(upload.offset),
    }
    return WireRequest(f"{_UPLOADS}?{upload.session}", headers, chunk.data)


def _query(chunk: FileChunk) -> WireRequest:
    return WireRequest(f"{_UPLOADS}?{chunk.upload.session}", {"x-goog-upload-command": "query"}, b"")


def _start(chunk: FileChunk) -> WireRequest:
    file = chunk.file
    headers = {
        "content-type": "application/json",
        "x-goog-upload-protocol": "resumable",
        "x-goog-upload-command": "start",
        "x-goog-upload-header-content-length": str(file.size),
        "x-goog-upload-header-content-type": file.media_type,
    }
    metadata = {"mimeType": file.media_type, "sizeBytes": str(file.size)}
    named = {"displayName": file.name[:_LONGEST_NAME]} if file.name else {}
    return WireRequest(_UPLOADS, headers, to_json({"file": {**named, **metadata}}))


def _read_start(response: WireResponse, sent: FileChunk) -> FileUpload:
    """Reads the address of the upload. Only its query is used: chunks go to the host of the API, with its key."""
    address = urlsplit(response.headers.get(_URL, ""))
    if not address.path.endswith(_UPLOAD_PATH) or not address.query:
        raise ServerError("the response has no address for the upload", status=response.status, hint=RIGHT_ADDRESS)
    granularity = max(1, _number(response, _GRANULARITY) or 1)
    step = max(granularity, CHUNK_BYTES // granularity * granularity)
    return replace(sent.upload, session=address.query, step=step, wants=min(step, sent.file.size))


def _read_progress(response: WireResponse, sent: FileChunk) -> FileUpload:
    file, upload = sent.file, replace(sent.upload, offset=sent.upload.offset + len(sent.data))
    status = response.headers.get(_STATUS)
    if status == "final":
        data = _object(response)
        return replace(upload, wants=0, file=_file(response, as_object(data.get("file")) or data))
    if status != "active" or upload.offset >= file.size:
        raise ServerError(f"the upload is {status or 'of unknown status'}", status=response.status)
    return replace(upload, wants=min(upload.step, file.size - upload.offset))


def _read_resumption(response: WireResponse, asked: FileChunk) -> FileUpload:
    """Reads what the server has. An upload that ended without a file is begun again."""
    file, upload = asked.file, asked.upload
    status, received = response.headers.get(_STATUS), _number(response, _RECEIVED)
    if status == "active" and received is not None and received <= file.size:
        return replace(upload, offset=received, wants=min(upload.step, file.size - received))
    if status == "final" and response.body.strip():
        return _read_progress(response, asked)
    return FileUpload(step=CHUNK_BYTES)


def _file(response: WireResponse, data: Object) -> ProviderFile:
    uri = text_of(data, "uri")
    if not uri:
        raise error_in_body(data) or ServerError("the response names no file", status=response.status)
    size = text_of(data, "sizeBytes") or ""
    return ProviderFile(
        uri,
        _STATES.get(text_of(data, "state"), "ready"),
        int(size) if size.isascii() and size.isdigit() and len(size) < 16 else None,
        _sha256(text_of(data, "sha256Hash")),
        seconds_between(text_of(data, "createTime"), text_of(data, "expirationTime")),
        text_of(as_object(data.get("error")), "message") or "",
    )


def _sha256(text: str | None) -> str | None:
    """Returns the hash in hex digits. It is base64 of the hash, or of its hex digits."""
    try:
        data = base64.b64decode(text or "", validate=True)
    except ValueError:
        return None
    if len(data) == 64 and data.isalnum():
        return data.decode("ascii").lower()
    return data.hex() if len(data) == 32 else None


def _path_of(uri: str) -> str:
    return path_of(_FILES, uri.rpartition("/")[2])


def _number(response: WireResponse, header: str) -> int | None:
    text = response.headers.get(header, "").strip()
    return int(text) if text.isascii() and text.isdigit() and len(text) < 16 else None


def _object(response: WireResponse) -> Object:
    return as_object(read_body(response, RIGHT_ADDRESS))


_SECONDS = re.compile(r"(\d{1,12}(?:\.\d{1,9})?)s")
_OFFSETS = ("start", "end")


def write_controls(
    part: MediaPart, path: str, names: Mapping[str, str], of_format: FormatWarnings, warnings: list[CallWarning]
) -> tuple[Object, MediaResolution | None]:
    """Returns the fields for `start`, `end` and `fps` of a video, under the format's `names` for them, and the
    resolution of a file that has pictures. Warns of other controls.
    """
    controls = part.controls
    if controls is None:
        return {}, None
    clip: Object = {}
    followed: tuple[str, ...] = () if isinstance(part, AudioPart) else ("resolution",)
    if isinstance(part, VideoPart):
        given = {name: getattr(controls, name) for name in names if getattr(controls, name) is not None}
        clip = {names[name]: _duration(value) if name in _OFFSETS else value for name, value in given.items()}
        followed = (*followed, *names)
    of_format.controls(part, path, followed, warnings)
    return clip, controls.resolution if "resolution" in followed else None


def read_clip(value: Any, names: Mapping[str, str]) -> dict[str, float] | None:
    """Returns `start`, `end` and `fps` of an object with these fields; None if it has others, or invalid ones."""
    fields = as_object(value)
    if not fields or not fields.keys() <= set(names.values()):
        return None
    given: dict[str, Any] = {name: fields[field] for name, field in names.items() if field in fields}
    for name in _OFFSETS:
        if name in given:
            found = _SECONDS.fullmatch(given[name]) if isinstance(given[name], str) else None
            if found is None:
                return None
            given[name] = float(found[1])
    try:
        MediaControls(**given)
    except SchemaError:
        return None
    return given


def with_controls(clip: Mapping[str, float] | None, resolution: MediaResolution | None) -> MediaControls | None:
    """Returns the controls of a part that was read; None without any."""
    if not clip and resolution is None:
        return None
    given: dict[str, Any] = {**(clip or {})}
    return MediaControls(**given, resolution=resolution)


def _duration(seconds: float) -> str:
    return f"{Decimal(repr(seconds)):f}s"
