"""Images of Gemini models: `models/{model}:generateContent` with the modality IMAGE.

Source: https://ai.google.dev/gemini-api/docs/image-generation. An edit sends the former image and the prompt.
"""

from __future__ import annotations

from typing import Any

from abstractcore import ProviderError, ServerError, UnsupportedContentError
from abstractcore.mediajobs import (
    FinishedJob,
    MadeFile,
    Step,
    TaskRequest,
    from_base64,
    json_object,
    json_request,
    list_of,
    mapping_of,
    metadata_of,
)
from abstractcore.schema import Billing, Usage, WireResponse

from ..encoding import base64_of
from ..requests import PictureRequest, TrackedPictureOptions
from ..sizes import nearest_ratio
from .google_errors import google_error

_RATIOS = ("1:1", "2:3", "3:2", "3:4", "4:3", "4:5", "5:4", "9:16", "16:9", "21:9")
_BLOCKING = {
    "SAFETY",
    "PROHIBITED_CONTENT",
    "BLOCKLIST",
    "SPII",
    "RECITATION",
    "IMAGE_SAFETY",
    "IMAGE_PROHIBITED_CONTENT",
    "IMAGE_RECITATION",
    "MODEL_ARMOR",
}


class GeminiImages:
    """The format."""

    def encode(self, request: PictureRequest, base_url: str) -> TaskRequest:
        """Returns the request; a mask is not part of the API."""
        if request.mask is not None:
            hint = "Say in the prompt what to change, or use a backend with masks."
            raise UnsupportedContentError("Gemini takes no mask", hint=hint)
        asked = TrackedPictureOptions(request, "Gemini")
        parts: list[dict[str, Any]] = [
            {"inlineData": {"mimeType": image.media_type, "data": base64_of(image)}} for image in request.images
        ]
        parts.append({"text": request.prompt})
        settings: dict[str, Any] = {"responseModalities": ["IMAGE"]}
        if (ratio := nearest_ratio(asked, _RATIOS)) is not None:
            settings["imageConfig"] = {"aspectRatio": ratio}
        if (seed := asked.get("seed")) is not None:
            settings["seed"] = seed
        body: dict[str, Any] = {"contents": [{"role": "user", "parts": parts}], "generationConfig": settings}
        body |= asked.extra()
        return TaskRequest(json_request(f"{base_url}/models/{request.model}:generateContent", body), asked.warnings())

    def read(self, request: PictureRequest, response: WireResponse, base_url: str) -> Step:
        """Returns the images, and why others are missing."""
        body = json_object(response)
        files: list[MadeFile] = []
        texts: list[str] = []
        blocked: list[str] = []
        if reason := mapping_of(body.get("promptFeedback")).get("blockReason"):
            blocked.append(f"the prompt was blocked: {reason}")
        for candidate in map(mapping_of, list_of(body.get("candidates"))):
            found = _files(candidate, texts)
            reason = candidate.get("finishReason")
            if not found and reason in _BLOCKING:
                blocked.append(str(candidate.get("finishMessage") or reason))
            files += found
        if not files and not blocked:
            said = f": {' '.join(texts)}" if texts else ""
            raise ServerError(f"the model answered without an image{said}")
        return FinishedJob(
            tuple(files),
            tuple(blocked),
            model=body.get("modelVersion"),
            usage=_usage(body.get("usageMetadata")),
            metadata=metadata_of(text=" ".join(texts) or None, id=body.get("responseId")),
        )

    def error(self, response: WireResponse) -> ProviderError:
        """Returns the error of an answer."""
        return google_error(response)

    def events(self, request: PictureRequest) -> None:
        """Returns None: answers are whole."""


def _files(candidate: dict[str, Any], texts: list[str]) -> list[MadeFile]:
    files: list[MadeFile] = []
    for part in map(mapping_of, list_of(mapping_of(candidate.get("content")).get("parts"))):
        data = mapping_of(part.get("inlineData"))
        if part.get("thought"):
            continue
        if data:
            files.append(MadeFile(from_base64(data.get("data"), "inlineData.data"), media_type=data.get("mimeType")))
        elif isinstance(part.get("text"), str):
            texts.append(part["text"])
    return files


def _usage(value: object) -> Usage | None:
    usage = mapping_of(value)
    given, made = usage.get("promptTokenCount"), usage.get("candidatesTokenCount")
    if not isinstance(given, int) or not isinstance(made, int):
        return None
    counts = {
        name: count
        for name, details in (("input_image", "promptTokensDetails"), ("output_image", "candidatesTokensDetails"))
        if (count := _image_tokens(usage.get(details))) is not None
    }
    thoughts = usage.get("thoughtsTokenCount")
    made += thoughts if isinstance(thoughts, int) else 0
    return Usage(input=given, output=made, billing=Billing(counts=counts))


def _image_tokens(details: object) -> int | None:
    for each in map(mapping_of, list_of(details)):
        if each.get("modality") == "IMAGE" and isinstance(each.get("tokenCount"), int):
            return each["tokenCount"]
    return None
