"""Imagen: `models/{model}:predict` with `instances` and `parameters`.

Source: https://ai.google.dev/gemini-api/docs/imagen, and the types of google-genai 3.
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
)
from abstractcore.schema import WireResponse

from ..requests import PictureRequest, TrackedPictureOptions
from ..sizes import nearest_ratio
from .google_errors import google_error

_RATIOS = ("1:1", "3:4", "4:3", "9:16", "16:9")
_TYPES = {"png": "image/png", "jpeg": "image/jpeg", "jpg": "image/jpeg"}


class Imagen:
    """The format."""

    def encode(self, request: PictureRequest, base_url: str) -> TaskRequest:
        """Returns the request."""
        if request.task != "t2i":
            raise UnsupportedContentError("this endpoint of Imagen makes pictures of prompts only")
        asked = TrackedPictureOptions(request, "Imagen")
        parameters: dict[str, Any] = {"sampleCount": asked.get("count") or 1, "includeRaiReason": True}
        if (ratio := nearest_ratio(asked, _RATIOS)) is not None:
            parameters["aspectRatio"] = ratio
        for name, field in (("seed", "seed"), ("negative_prompt", "negativePrompt"), ("guidance", "guidanceScale")):
            if (value := asked.get(name)) is not None:
                parameters[field] = value
        if "seed" in parameters:
            parameters["addWatermark"] = False  # the API refuses a seed with a watermark
        if (media_type := _TYPES.get(request.options.format or "")) is not None:
            asked.get("format")
            parameters["outputOptions"] = {"mimeType": media_type}
        body = {"instances": [{"prompt": request.prompt}], "parameters": parameters | asked.extra()}
        return TaskRequest(json_request(f"{base_url}/models/{request.model}:predict", body), asked.warnings())

    def read(self, request: PictureRequest, response: WireResponse, base_url: str) -> Step:
        """Returns the images, and the reasons for those that were filtered."""
        body = json_object(response)
        files: list[MadeFile] = []
        blocked: list[str] = []
        for index, item in enumerate(map(mapping_of, list_of(body.get("predictions")))):
            if item.get("bytesBase64Encoded"):
                content = from_base64(item["bytesBase64Encoded"], f"predictions[{index}].bytesBase64Encoded")
                files.append(MadeFile(content, media_type=item.get("mimeType")))
            elif item.get("raiFilteredReason"):
                blocked.append(str(item["raiFilteredReason"]))
        if not files and not blocked:
            if body.get("predictions"):
                raise ServerError("the answer has no images: expected predictions[].bytesBase64Encoded")
            # An empty object is the answer then.
            blocked.append("all images were filtered, without a reason")
        return FinishedJob(tuple(files), tuple(blocked))

    def error(self, response: WireResponse) -> ProviderError:
        """Returns the error of an answer."""
        return google_error(response)

    def events(self, request: PictureRequest) -> None:
        """Returns None: answers are whole."""
