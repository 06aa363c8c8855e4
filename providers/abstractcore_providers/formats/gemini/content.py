"""Media, written and read: inline bytes, or the URI of a file.

Reads parts that are never chunked: media, calls and results of hosted tools, and opaque parts. Transcriptions of
audio, such as those of gemini-3.5-transcribe: parts of their own, which are texts of the schema. Tool results,
written and read: text in the response itself, files in it or next to it, in their order.

The other fields of a transcription (its speaker, language and words) are the option `audioTranscription` of the text,
which marks it as one. Source: `AudioTranscription` in the reference of the API, and `Transcription` in the types of the
`google-genai` package 3.4.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, cast

from abstractcore.errors import InvalidInputError, UnsupportedContentError
from abstractcore.schema import (
    AudioPart,
    Blob,
    CallWarning,
    ContentPart,
    DocumentPart,
    HostedToolCall,
    HostedToolResult,
    ImagePart,
    MediaPart,
    MediaResolution,
    OpaquePart,
    Part,
    ProviderOptions,
    SchemaError,
    TextPart,
    ToolResult,
    VideoPart,
)

from ...common.call_options import name_options_left_out, read_options, with_options
from ...common.conversations import WrittenArguments, arguments_text
from ...common.data_urls import GEMINI_AUDIO, GEMINI_IMAGES, GEMINI_OFFICE, GEMINI_VIDEO
from ...common.delta_writer import BodyWriter
from ...common.google_files import (
    blob_at,
    check_blob,
    file_uri,
    from_base64,
    read_clip,
    to_base64,
    with_controls,
    write_controls,
)
from ...common.reading import Object, as_object, as_objects, object_of, text_of
from .vocabulary import ARGUMENTS, WARNINGS, GenerateContentDialect, named, with_names

ENCODABLE = GEMINI_IMAGES | GEMINI_AUDIO | GEMINI_VIDEO | GEMINI_OFFICE | {"application/pdf"}
"""The files that models of this format read."""
_FIELDS = frozenset({"inlineData", "fileData", "thought", "thoughtSignature"})
_CLIP = {"start": "startOffset", "end": "endOffset", "fps": "fps"}
_LEVELS: dict[MediaResolution, str] = {
    "low": "MEDIA_RESOLUTION_LOW",
    "medium": "MEDIA_RESOLUTION_MEDIUM",
    "high": "MEDIA_RESOLUTION_HIGH",
}
_RESOLUTIONS: dict[str, MediaResolution] = {level: name for name, level in _LEVELS.items()}

_PARTS: dict[str, type[MediaPart]] = {"image": ImagePart, "audio": AudioPart, "video": VideoPart}


def write_media(part: MediaPart, path: str, provider: str, warnings: list[CallWarning]) -> Object:
    """Returns an `inlineData` or `fileData` part; raises `UnsupportedContentError` with its path for unsupported
    content.
    """
    blob = part.blob
    if kind_of(blob.media_type) is not type(part):
        raise UnsupportedContentError(f"{path}: {blob.media_type} cannot be sent as {part.type}.")
    check_blob(blob, path, provider)
    WARNINGS.fields(part, path, ("detail", "transcript", "id"), warnings)
    clip, resolution = write_controls(part, path, _CLIP, WARNINGS, warnings)
    controls: Object = {"videoMetadata": clip} if clip else {}
    if resolution is not None:
        controls["mediaResolution"] = {"level": _LEVELS[resolution]}
    uri = file_uri(blob, path, provider, warnings)
    if uri is None:
        body: Object = {"inlineData": {"mimeType": blob.media_type, "data": to_base64(blob)}}
    else:
        body = {"fileData": {"mimeType": blob.media_type, "fileUri": uri}}
    return with_options({**body, **controls}, part, path, provider, _FIELDS, warnings)


def kind_of(media_type: str) -> type[MediaPart]:
    """Returns the class of part for a media type: a document if it is not image, audio or video."""
    return _PARTS.get(media_type.partition("/")[0], DocumentPart)


def read_media(data: Object, provider: str) -> MediaPart:
    """Reads the part in `inlineData` or `fileData`; raises `SchemaError` for invalid base64, or without a URI."""
    blob = _inline(data["inlineData"]) if "inlineData" in data else _kept(data["fileData"], provider)
    kind = kind_of(blob.media_type)
    clip = read_clip(with_names(object_of(data, "videoMetadata")), _CLIP) if kind is VideoPart else None
    resolution = None if kind is AudioPart else _read_resolution(data.get("mediaResolution"))
    read = {"videoMetadata": clip, "mediaResolution": resolution}
    known = _FIELDS | {name for name, found in read.items() if found}
    options = read_options(data, known, provider)
    return kind(blob, provider_options=options, controls=with_controls(clip, resolution))


def _read_resolution(value: Any) -> MediaResolution | None:
    data = as_object(value)
    return _RESOLUTIONS.get(text_of(data, "level") or "") if data.keys() == {"level"} else None


def _inline(value: Any) -> Blob:
    inline = with_names(as_object(value))
    return Blob.from_bytes(from_base64(inline.get("data"), "inlineData.data"), _media_type(inline))


def _kept(value: Any, provider: str) -> Blob:
    file = with_names(as_object(value))
    uri = text_of(file, "fileUri")
    if not uri:
        raise SchemaError("expected text", "fileData.fileUri")
    return blob_at(uri, _media_type(file), provider)


def _media_type(data: Object) -> str:
    return text_of(data, "mimeType") or "application/octet-stream"


CODE_TOOL = "code_execution"
"""The name of the tool that runs code at the provider."""

TOOL_RESPONSE = ("toolType", "response")
_SIGNED = ("thought", "thoughtSignature")
TEXT_FIELDS = frozenset({"text", *_SIGNED})
CALL_FIELDS = frozenset({"functionCall", *_SIGNED})
"""The fields of parts that the schema models."""

_WHOLE = frozenset({"inlineData", "fileData", "executableCode", "codeExecutionResult", "toolCall", "toolResponse"})
_BESIDE = frozenset(
    {
        "thought",
        "thoughtSignature",
        "videoMetadata",
        "mediaResolution",
        "mediaProcessing",
        "partMetadata",
        "speechMetadata",
        "documentMetadata",
        "spreadsheetMetadata",
        "audioMetadata",
    }
)
KNOWN = _WHOLE | {"functionCall", "functionResponse", "text"}
"""The fields of parts of which each part has one, but for transcriptions."""


def opaque_kind(data: Any) -> str | None:
    """Returns the name of a part's content that the schema does not model; None for a known or empty part."""
    if not isinstance(data, dict):
        return None
    names = [name for name in cast(Object, data) if named(name) not in _BESIDE]
    return names[0] if names and not KNOWN.intersection(map(named, names)) else None


def read_whole(data: Object, provider: str, written: WrittenArguments) -> Part | None:
    """Reads the part in `data`, which is neither text nor a call; None if it is empty. `written` is of its body.

    Raises `SchemaError` with the path of what is invalid.
    """
    if "inlineData" in data or "fileData" in data:
        return read_media(data, provider)
    if "executableCode" in data:
        code = object_of(data, "executableCode")
        program = {"language": text_of(code, "language") or "PYTHON", "code": text_of(code, "code") or ""}
        return HostedToolCall(text_of(code, "id") or "", CODE_TOOL, arguments_text(program))
    if "codeExecutionResult" in data:
        result = object_of(data, "codeExecutionResult")
        outcome = text_of(result, "outcome") or "OUTCOME_UNSPECIFIED"
        content = (TextPart(text_of(result, "output") or ""),)
        return HostedToolResult(text_of(result, "id") or "", content, {"outcome": outcome})
    if "toolCall" in data:
        call = with_names(object_of(data, "toolCall"))
        name = text_of(call, "toolType") or ""
        arguments = "" if call.get(ARGUMENTS) is None else written.text_of(call[ARGUMENTS])
        return HostedToolCall(text_of(call, "id") or "", name, arguments, {"toolType": name})
    if "toolResponse" in data:
        answer = with_names(object_of(data, "toolResponse"))
        given = {name: answer[name] for name in TOOL_RESPONSE if answer.get(name) is not None}
        return HostedToolResult(text_of(answer, "id") or "", (), given)
    kind = opaque_kind(data)
    return None if kind is None else OpaquePart(provider, kind, data)


FIELD = "audioTranscription"
_OWN = frozenset({"text", "finished"})
_TEXT_AND_SIGNATURE = frozenset({"text", "thought", "thoughtSignature"})


@dataclass(frozen=True, slots=True)
class GeminiTranscription:
    """A transcription, or a chunk of one in a stream."""

    text: str
    options: ProviderOptions
    is_more: bool
    """Whether it has only text, so that it may continue the chunk before."""
    is_finished: bool


def read_transcription(data: Object, provider: str) -> GeminiTranscription | None:
    """Reads the part in `data`; None if it is not a transcription, or has other content beside it.

    Raises `SchemaError` with the path of what is invalid.
    """
    given = data.get(FIELD)
    if not isinstance(given, dict) or data.get("text") or not KNOWN.intersection(data) <= {"text"}:
        return None
    found = cast(Object, given)
    text, rest = text_of(found, "text") or "", {name: value for name, value in found.items() if name not in _OWN}
    if rest and not text:
        return None
    options = read_options({**data, FIELD: rest}, _TEXT_AND_SIGNATURE, provider)
    return GeminiTranscription(text, options, not rest and len(data) == 1, found.get("finished") is True)


def is_transcription(options: Mapping[str, Any]) -> bool:
    """Whether the options of a text mark it as a transcription."""
    given = options.get(FIELD)
    return isinstance(given, Mapping) and "text" not in given


def as_transcription(body: Object, path: str) -> Object:
    """Returns the part for a text written with its options in `body`, which may mark it as a transcription.

    Raises `InvalidInputError` for an option that it cannot have.
    """
    if not is_transcription(body):
        return body
    given = body[FIELD]
    if "finished" in given:
        raise InvalidInputError(
            "a whole transcription has no mark of its end",
            path=f"{path}.provider_options",
            hint=f"Remove 'finished' from {FIELD!r}.",
        )
    rest = {name: value for name, value in body.items() if name not in ("text", FIELD)}
    return {FIELD: {"text": body["text"], **cast(Object, given)}, **rest}


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
