"""Anthropic's file store: `POST /files` with the whole file.

Source: https://platform.claude.com/docs/en/build-with-claude/files, which needs no beta header since 2026-08-20. Files
expire after two days (`expires_in_seconds`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from abstractcore.errors import ServerError
from abstractcore.ports import FileToUpload, FileUpload, Operation, ProviderFile
from abstractcore.schema import WireRequest, WireResponse

from ...common.file_operations import (
    DELETE,
    LIFETIME_SECONDS,
    READ,
    UPLOAD,
    file_operation,
    path_of,
    seconds_between,
)
from ...common.json_reading import as_object, count_of, text_of
from ...common.multipart import multipart
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

    def send(self, file: FileToUpload, upload: FileUpload, data: bytes) -> Operation[FileUpload]:
        """Returns `POST /files`."""
        request = multipart(_FILES, [("expires_in_seconds", str(LIFETIME_SECONDS))], "file", file, data, self._headers)
        return file_operation(UPLOAD, request, lambda response: replace(upload, file=_read_file(response)))

    def resume(self, file: FileToUpload, upload: FileUpload) -> Operation[FileUpload] | None:
        """Returns None: requests are repeated."""
        return None

    def read(self, id: str) -> Operation[ProviderFile]:
        """Returns `GET /files/{id}`."""
        return file_operation(READ, WireRequest(path_of(_FILES, id), self._headers, b"", "GET"), _read_file)

    def delete(self, id: str) -> Operation[None]:
        """Returns `DELETE /files/{id}`."""
        request = WireRequest(path_of(_FILES, id), self._headers, b"", "DELETE")
        return file_operation(DELETE, request, lambda response: None)


def _read_file(response: WireResponse) -> ProviderFile:
    data = as_object(read_body(response, RIGHT_ADDRESS))
    id = text_of(data, "id")
    if not id:
        raise error_in_body(data) or ServerError("the response names no file", status=response.status)
    lifetime = seconds_between(text_of(data, "created_at"), text_of(data, "expires_at"))
    return ProviderFile(id, "ready", count_of(data, "size_bytes"), None, lifetime)
