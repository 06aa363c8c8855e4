"""Tool results, written and read: text in the response itself, files in it or next to it, in their order."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any, cast

from abstractcore.schema import ContentPart, MediaPart, SchemaError, TextPart, ToolResult

from ...common.call_options import name_options_left_out, read_options, with_options
from ...common.conversations import arguments_text
from ...common.delta_writer import BodyWriter
from ...common.reading import Object, as_object, as_objects, text_of
from .content import read_media, write_media
from .dialect import GenerateContentDialect
from .vocabulary import WARNINGS, with_names

_MARKER = re.compile(r"\[(media_\d+) of the result of tool call (.*)\]", re.DOTALL)
RESULT_FIELDS = frozenset({"id", "name", "response", "parts"})
"""The fields of a `functionResponse` that the schema models."""


@dataclass(slots=True)
class WrittenResult:
    """A `functionResponse` part, and the files that follow it in its message, each with its marker."""

    part: Object
    beside: list[Object] = field(default_factory=list[Object])


def write_result(
    result: ToolResult, id: str, name: str, path: str, dialect: GenerateContentDialect, writer: BodyWriter
) -> WrittenResult:
    """Returns the result of the call `name` with the id `id`.

    A single text is written directly; otherwise the output is a list, with `{"$ref": ...}` in place of each file.
    """
    WARNINGS.fields(result, path, ("cache",), writer.warnings)
    written = WrittenResult({})
    items: list[Any] = []
    files: list[Object] = []
    for index, part in enumerate(result.content):
        part_path = f"{path}.content[{index}]"
        WARNINGS.fields(part, part_path, ("citations", "cache"), writer.warnings)
        if isinstance(part, TextPart):
            reason = "texts of a result are values in one object"
            name_options_left_out(part, part_path, dialect.provider, reason, writer.warnings)
            if items and isinstance(items[-1], str):
                items[-1] += part.text
            else:
                items.append(part.text)
            continue
        inside = part.blob.media_type in dialect.media_in_results and part.blob.form not in ("url", "provider_file")
        if inside and part.controls is not None:
            WARNINGS.controls(part, part_path, (), writer.warnings)
            part = replace(part, controls=None)
        body = write_media(part, part_path, dialect.provider, writer.warnings)
        reference = f"media_{len(files) + len(written.beside) // 2 + 1}"
        items.append({"$ref": reference})
        if inside:
            files.append({**body, "inlineData": {**body["inlineData"], "displayName": reference}})
        else:
            written.beside += [{"text": f"[{reference} of the result of tool call {id}]"}, body]
    text = "".join(items) if all(isinstance(item, str) for item in items) else items
    given = {"error" if result.is_error else "output": text}
    response: Object = {"name": name, "id": id, "response": given}
    if files:
        response["parts"] = files
    written.part["functionResponse"] = with_options(
        response, result, path, dialect.provider, RESULT_FIELDS, writer.warnings
    )
    return written


def read_result(response: Object, call_id: str, beside: list[Object], provider: str) -> ToolResult:
    """Reads the result in a `functionResponse`; its files are removed from `beside`, with their markers.

    Raises `SchemaError` for a file that cannot be read.
    """
    given = as_object(response.get("response"))
    is_error = given.keys() == {"error"}
    output: Any = given or ""
    if is_error or given.keys() == {"output"}:
        output = given["error" if is_error else "output"]
    files = dict(_files(response, provider))
    files |= _taken(beside, text_of(response, "id"), _references(output), provider)
    content: list[ContentPart]
    if _references(output) and set(_references(output)) <= files.keys():
        items = cast("list[Any]", output)
        content = [TextPart(item) if isinstance(item, str) else files.pop(item["$ref"]) for item in items]
    else:
        content = [TextPart(output if isinstance(output, str) else arguments_text(output))]
    options = read_options(response, RESULT_FIELDS, provider)
    return ToolResult(call_id, (*content, *files.values()), is_error, provider_options=options)


def _files(response: Object, provider: str) -> Iterable[tuple[str, MediaPart]]:
    for index, value in enumerate(as_objects(response.get("parts"))):
        data = with_names(value)
        if "inlineData" in data or "fileData" in data:
            file = with_names(as_object(data.get("inlineData") or data.get("fileData")))
            try:
                yield text_of(file, "displayName") or f"{index}", read_media(data, provider)
            except SchemaError as error:
                raise error.at(f"parts[{index}]") from None


def _references(output: Any) -> list[str]:
    """Returns the names of files in an output that is a list of texts and references, each once; else empty."""
    if not isinstance(output, list):
        return []
    names: list[str] = []
    for item in cast("list[Any]", output):
        if isinstance(item, str):
            continue
        name = text_of(as_object(item), "$ref")
        if name is None or len(item) > 1 or name in names:
            return []
        names.append(name)
    return names


def _taken(beside: list[Object], id: str | None, references: list[str], provider: str) -> dict[str, MediaPart]:
    """Removes the files that follow a marker of this call, and returns them."""
    taken: dict[str, MediaPart] = {}
    index = 0
    while index + 1 < len(beside):
        marker = _MARKER.fullmatch(text_of(beside[index], "text") or "")
        file = beside[index + 1]
        is_own = marker is not None and marker[1] in references and marker[2] == id
        if marker is None or not is_own or marker[1] in taken or not ("inlineData" in file or "fileData" in file):
            index += 1
            continue
        taken[marker[1]] = read_media(file, provider)
        del beside[index : index + 2]
    return taken
