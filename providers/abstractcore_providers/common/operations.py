"""Operations that several wire formats have.

The operation `list_models`: a page of the list of a provider's models, in the forms of several vendors. Operations on
the file stores of providers: what those of several wire formats share. Bodies of type multipart/form-data (RFC 7578),
written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final, TypeVar
from urllib.parse import quote, urlencode

from abstractcore.errors import InvalidInputError, ProviderError, ServerError
from abstractcore.ports import FileChunk, FileId, FileToUpload, FileUpload, Operation, ProviderFile
from abstractcore.schema import (
    EMPTY,
    Encoded,
    ModelCall,
    ModelList,
    ModelListInput,
    ModelReply,
    Usage,
    WireRequest,
    WireResponse,
    to_data,
)
from abstractcore.schema.base_error import shown
from abstractcore.schema.replies import CallIds

from .reading import Object, as_object, as_objects, text_of
from .response_bodies import fitting, read_body

if TYPE_CHECKING:
    from abstractcore.schema import StoredReplyInput

COUNT_TOKENS = "count_tokens"
RETRIEVE_REPLY = "retrieve_reply"
CACHED_CONTENTS = "cached_contents"
"""The prefix of the names of operations on cached content: `cached_contents.create`."""


def count_tokens(
    encode: Callable[[ModelCall], Encoded], decode: Callable[[WireResponse], int]
) -> Operation[ModelCall, int]:
    """Returns the operation that counts the tokens of a call without answering it. Vendors do not charge for it."""
    return Operation(
        COUNT_TOKENS,
        ModelCall,
        encode,
        lambda response, call: decode(response),
        usage=lambda count: Usage(0, 0),
        to_record=lambda count: count,
        is_free=True,
    )


def retrieve_reply(
    path: str, query: str, decode: Callable[[WireResponse], ModelReply]
) -> Operation[StoredReplyInput, ModelReply]:
    """Returns the operation that reads a stored reply, at `path` with its id, such as one made in the background.

    Its usage is that of a finished reply, which the provider charges once, however often it is read; reading one that
    is not finished costs nothing.
    """
    from abstractcore.schema import StoredReplyInput  # few calls need it, and all import this module

    return Operation(
        RETRIEVE_REPLY,
        StoredReplyInput,
        lambda given: Encoded(WireRequest(f"{path}/{quote(given.id, safe='')}{query}", {}, b"", "GET")),
        lambda response, given: CallIds(given.messages).in_reply(decode(response)),
        usage=lambda reply: Usage(0, 0) if reply.finish_reason == "paused" else reply.usage,
        to_record=to_data,
    )


LIST_MODELS: Final = "list_models"


@dataclass(frozen=True, slots=True)
class ModelListing:
    """Where a format lists models: `GET path`, with the parameters `query`, and `after` for a further page.

    `prefix` is left out of the ids; `headers` are sent. `error_in` reads the error of a body, `hint` describes a
    correct base URL.
    """

    path: str
    error_in: Callable[[Object], ProviderError | None]
    hint: str
    query: Mapping[str, str] = EMPTY  # pyright: ignore[reportAssignmentType]
    after: str = ""
    prefix: str = ""
    headers: Mapping[str, str] = EMPTY  # pyright: ignore[reportAssignmentType]

    @property
    def operation(self) -> Operation[ModelListInput, ModelList]:
        """The operation, which is free of charge."""
        return Operation(
            LIST_MODELS,
            ModelListInput,
            self._encode,
            lambda response, given: self._read(response),
            usage=lambda page: Usage(0, 0),
            to_record=to_data,
            is_free=True,
        )

    def _encode(self, given: ModelListInput) -> Encoded:
        """Returns the request for a page; raises `InvalidInputError` for a further one of a list that has only one."""
        if given.after is not None and not self.after:
            raise InvalidInputError(f"expected the `next` of a page, got {shown(given.after)}", path="arguments.after")
        query = {**self.query, **({self.after: given.after} if given.after else {})}
        path = f"{self.path}?{urlencode(query)}" if query else self.path
        return Encoded(WireRequest(path, self.headers, b"", "GET"))

    def _read(self, response: WireResponse) -> ModelList:
        """Reads a page: a list, or an object with one, of objects with an id; raises `ServerError` for another body."""
        data = read_body(response, self.hint)
        page: Object = {"data": data} if isinstance(data, list) else as_object(data)
        listed: Any = page.get("data", page.get("models"))
        if not isinstance(listed, list):
            raise self.error_in(page) or ServerError("the response has no models", status=response.status)
        names = [text_of(model, "id") or text_of(model, "name") for model in as_objects(listed)]
        ids = tuple(name.removeprefix(self.prefix) for name in names if name)
        return fitting(response, ModelList, ids, _next(page) if self.after else None)


def _next(data: Object) -> str | None:
    """Returns where the next page begins: Google's and Cohere's token, or Anthropic's last id."""
    token = text_of(data, "nextPageToken") or text_of(data, "next_page_token")
    return token or (text_of(data, "last_id") if data.get("has_more") is True else None)


Input = TypeVar("Input", FileChunk, FileId)
Output = TypeVar("Output")
UPLOAD, READ, DELETE = "files.upload", "files.read", "files.delete"
LIFETIME_SECONDS = 48 * 3600
"""How long uploads are kept where the vendor leaves the choice: as long as Google keeps files."""


def upload_operation(
    encode: Callable[[FileChunk], WireRequest],
    decode: Callable[[WireResponse, FileChunk], FileUpload],
    *,
    reads_headers: frozenset[str] = frozenset(),
    may_repeat: bool = True,
) -> Operation[FileChunk, FileUpload]:
    """Returns an operation that uploads a file, or a part of one."""
    operation = _free(UPLOAD, FileChunk, encode, decode)
    return replace(operation, reads_headers=reads_headers, may_repeat=may_repeat)


def read_operation(
    encode: Callable[[FileId], WireRequest], decode: Callable[[WireResponse], ProviderFile]
) -> Operation[FileId, ProviderFile]:
    """Returns the operation that reads the state of a file."""
    return _free(READ, FileId, encode, lambda response, file: decode(response))


def delete_operation(encode: Callable[[FileId], WireRequest]) -> Operation[FileId, None]:
    """Returns the operation that deletes a file."""
    return _free(DELETE, FileId, encode, lambda response, file: None)


def _free(
    name: str,
    input: type[Input],
    encode: Callable[[Input], WireRequest],
    decode: Callable[[WireResponse, Input], Output],
) -> Operation[Input, Output]:
    """Returns an operation on a file store; vendors do not charge for them."""
    return Operation(
        name,
        input,
        lambda given: Encoded(encode(given)),
        decode,
        usage=lambda result: Usage(0, 0),
        is_free=True,
    )


def path_of(collection: str, id: str) -> str:
    """Returns the path of a file."""
    return f"{collection}/{quote(id, safe='')}"


def seconds_between(begin: str | None, end: str | None) -> float | None:
    """Returns the seconds between two times in RFC 3339; None if one is missing or invalid."""
    try:
        return (datetime.fromisoformat(end or "") - datetime.fromisoformat(begin or "")).total_seconds()
    except (ValueError, TypeError):
        return None


_LINE = b"\r\n"


def multipart(
    path: str,
    fields: Iterable[tuple[str, str]],
    field: str,
    file: FileToUpload,
    data: bytes,
    headers: Mapping[str, str] | None = None,
) -> WireRequest:
    """Returns the request that posts `fields`, whose names may occur several times, then `data` of `file` as the field
    `field`. The boundary is the hash of the file, so that the same upload is the same request.
    """
    boundary = f"abstractcore-{file.sha256}".encode()
    pieces: list[bytes] = []
    for name, value in fields:
        pieces += [b"--", boundary, _LINE, _disposition(name), _LINE, _LINE, value.encode(), _LINE]
    named = b'; filename="' + _escape(file.name or "file") + b'"'
    kind = b"Content-Type: " + file.media_type.encode("ascii", "replace")
    pieces += [b"--", boundary, _LINE, _disposition(field), named, _LINE, kind, _LINE, _LINE, data, _LINE]
    pieces += [b"--", boundary, b"--", _LINE]
    content_type = {"content-type": f"multipart/form-data; boundary={boundary.decode()}"}
    return WireRequest(path, {**(headers or {}), **content_type}, b"".join(pieces))


def _disposition(name: str) -> bytes:
    return b'Content-Disposition: form-data; name="' + _escape(name) + b'"'


def _escape(name: str) -> bytes:
    """Returns a name as browsers write it (https://html.spec.whatwg.org/#multipart-form-data)."""
    for character in '\n\r"':
        name = name.replace(character, f"%{ord(character):02X}")
    return name.encode("utf-8", "replace")
