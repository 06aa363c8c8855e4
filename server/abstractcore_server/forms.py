"""`MultipartForm`: the fields and files of a form in the body of a request."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header

from abstractcore.errors import InvalidInputError

from .failures import refusal

FRAMING_BYTES = 64 * 1024
"""How much larger than its contents a form may be: boundaries, and the heads of its parts."""
_MOST_PARTS = 200


@dataclass(slots=True)
class Upload:
    """A file of a form. `name` is what the client calls it: never a path of this machine."""

    name: str
    content: bytearray = field(default_factory=bytearray, repr=False)


@dataclass(slots=True)
class MultipartForm:
    """The fields of a form, and its files, by their names in order."""

    fields: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    files: dict[str, list[Upload]] = field(default_factory=dict[str, list[Upload]])

    @property
    def size(self) -> int:
        """The bytes of all files, and the characters of all fields."""
        files = sum(len(upload.content) for uploads in self.files.values() for upload in uploads)
        return files + sum(len(value) for values in self.fields.values() for value in values)

    def others(self, known: Collection[str]) -> set[str]:
        """Returns the names of fields and files other than those that are `known`."""
        return {*self.fields, *self.files} - {*known}

    def text(self, name: str) -> str | None:
        """Returns the last value of a field."""
        values = self.fields.get(name)
        return values[-1] if values else None

    def texts(self, name: str) -> list[str]:
        """Returns all values of a field, which clients send as `name` or `name[]`."""
        return [*self.fields.get(name, ()), *self.fields.get(f"{name}[]", ())]

    def uploads(self, name: str) -> list[Upload]:
        """Returns all files of a field, which clients send as `name` or `name[]`."""
        return [*self.files.get(name, ()), *self.files.get(f"{name}[]", ())]

    def upload(self, name: str) -> Upload:
        """Returns the only file of a field; raises `InvalidInputError`."""
        found = self.uploads(name)
        if len(found) != 1:
            hint = f"A file has a name: with curl, write -F '{name}=@FILE'." if self.texts(name) else None
            raise InvalidInputError(f"expected one file, got {len(found)}", path=name, hint=hint)
        return found[0]


def read_form(body: bytes, headers: Mapping[str, str]) -> MultipartForm:
    """Returns the form in a body.

    Raises `RequestRefused` with 415 for another content type, and `InvalidInputError` for a broken form, more than 200
    parts, and fields that are not UTF-8.
    """
    kind, options = parse_options_header(headers.get("content-type", ""))
    boundary = options.get(b"boundary")
    if kind != b"multipart/form-data" or not boundary:
        raise refusal(415, "send multipart/form-data with a boundary here")
    reader = _FormReader()
    try:
        parser = MultipartParser(
            boundary,
            {
                "on_part_begin": reader.begin,
                "on_header_field": reader.header_name,
                "on_header_value": reader.header_value,
                "on_header_end": reader.header_end,
                "on_headers_finished": reader.headers_end,
                "on_part_data": reader.data,
                "on_part_end": reader.end,
                "on_end": reader.finish,
            },
        )
        parser.write(body)
        parser.finalize()
    except FormParserError as error:
        raise InvalidInputError(f"the form cannot be read: {error}") from None
    if not reader.is_complete:
        raise InvalidInputError("the form is cut off: its last boundary is missing")
    return reader.form


class _FormReader:
    """Collects the parts of a form, as the parser finds them."""

    def __init__(self) -> None:
        self.form = MultipartForm()
        self.is_complete = False
        self._parts = 0
        self._header = (bytearray(), bytearray())
        self._headers: dict[bytes, bytes] = {}
        self._name = ""
        self._upload: Upload | None = None
        self._value = bytearray()

    def begin(self) -> None:
        self._parts += 1
        if self._parts > _MOST_PARTS:
            raise InvalidInputError(f"the form has more than {_MOST_PARTS} parts")
        self._headers = {}
        self._value = bytearray()
        self._upload = None

    def header_name(self, data: bytes, start: int, end: int) -> None:
        self._header[0].extend(data[start:end])

    def header_value(self, data: bytes, start: int, end: int) -> None:
        self._header[1].extend(data[start:end])

    def header_end(self) -> None:
        name, value = self._header
        self._headers[bytes(name).lower()] = bytes(value)
        self._header = (bytearray(), bytearray())

    def headers_end(self) -> None:
        _, options = parse_options_header(self._headers.get(b"content-disposition", b""))
        name = options.get(b"name")
        if not name:
            raise InvalidInputError("a part of the form has no name")
        self._name = _text(name, "a name")
        if b"filename" in options:
            file_name = _text(options[b"filename"], self._name).replace("\\", "/").rpartition("/")[2]
            self._upload = Upload(file_name or self._name)

    def data(self, data: bytes, start: int, end: int) -> None:
        (self._value if self._upload is None else self._upload.content).extend(data[start:end])

    def end(self) -> None:
        if self._upload is None:
            self.form.fields.setdefault(self._name, []).append(_text(bytes(self._value), self._name))
        else:
            self.form.files.setdefault(self._name, []).append(self._upload)

    def finish(self) -> None:
        self.is_complete = True


def _text(value: bytes, path: str) -> str:
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:
        raise InvalidInputError("is not UTF-8", path=path) from None
