"""Anthropic's file store: `POST /files` with the whole file.

Source: https://platform.claude.com/docs/en/build-with-claude/files, which needs no beta header since 2026-08-20. Files
expire after two days (`expires_in_seconds`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from abstractcore.errors import ServerError
from abstractcore.ports import FileChunk, FileId, FileToUpload, FileUpload, Operation, ProviderFile
from abstractcore.schema import WireRequest, WireResponse

from ...common.operations import (
    LIFETIME_SECONDS,
    delete_operation,
    multipart,
    path_of,
    read_operation,
    seconds_between,
    upload_operation,
)
from ...common.reading import as_object, count_of, text_of
from ...common.response_bodies import read_body
from .errors import RIGHT_ADDRESS, error_in_body

_FILES = "/files"


class AnthropicFileStore:
    """The operations on files, as pure functions. `headers` are those of every request."""

    def __init__(self, headers: Mapping[str, str]) -> None:
        self._headers = headers

    def begin(self, file: FileToUpload) -> FileUpload:
        """Returns the beginning: files are sent as a whole."""
        return FileUpload(wants=file.size, step=file.size)

    def send(self, file: FileToUpload, upload: FileUpload) -> Operation[FileChunk, FileUpload]:
        """Returns `POST /files`."""
        return upload_operation(self._whole, lambda response, sent: replace(sent.upload, file=_read_file(response)))

    def resume(self, file: FileToUpload, upload: FileUpload) -> None:
        """Returns None: requests are repeated."""

    @property
    def read(self) -> Operation[FileId, ProviderFile]:
        """`GET /files/{id}`."""
        return read_operation(lambda file: WireRequest(path_of(_FILES, file.id), self._headers, b"", "GET"), _read_file)

    @property
    def delete(self) -> Operation[FileId, None]:
        """`DELETE /files/{id}`."""
        return delete_operation(lambda file: WireRequest(path_of(_FILES, file.id), self._headers, b"", "DELETE"))

    def _whole(self, chunk: FileChunk) -> WireRequest:
        fields = [("expires_in_seconds", str(LIFETIME_SECONDS))]
        return multipart(_FILES, fields, "file", chunk.file, chunk.data, self._headers)


def _read_file(response: WireResponse) -> ProviderFile:
    data = as_object(read_body(response, RIGHT_ADDRESS))
    id = text_of(data, "id")
    if not id:
        raise error_in_body(data) or ServerError("the response names no file", status=response.status)
    lifetime = seconds_between(text_of(data, "created_at"), text_of(data, "expires_at"))
    return ProviderFile(id, "ready", count_of(data, "size_bytes"), None, lifetime)
