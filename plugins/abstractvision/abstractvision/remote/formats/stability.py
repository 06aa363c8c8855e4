"""Stability AI: `/v2beta/stable-image/...`, multipart forms with answers in JSON.

Source: https://platform.stability.ai/docs/api-reference. A model is the last part of a path: `core`, `ultra`, or one of
those that `sd3` takes.
"""

from __future__ import annotations

from typing import Any

from abstractcore import ProviderError, ServerError, UnsupportedContentError
from abstractcore.mediajobs import (
    FinishedJob,
    MadeFile,
    Step,
    TaskRequest,
    error_body,
    error_of,
    form_request,
    from_base64,
    json_object,
    metadata_of,
)
from abstractcore.schema import WireResponse

from ..encoding import form_files
from ..masks import white_mask
from ..requests import InputPicture, PictureRequest, TrackedPictureOptions
from ..sizes import nearest_ratio

_RATIOS = ("16:9", "1:1", "21:9", "2:3", "3:2", "4:5", "5:4", "9:16", "9:21")
_PATHS = ("core", "ultra")
_DEFAULT_STRENGTH = 0.7


class Stability:
    """The format."""

    def encode(self, request: PictureRequest, base_url: str) -> TaskRequest:
        """Returns the request. `model` does not count for masks and enlarging, which have endpoints of their own."""
        asked = TrackedPictureOptions(request, "Stability AI")
        fields: dict[str, Any] = {}
        files: list[tuple[str, InputPicture]] = [("image", image) for image in request.images[:1]]
        if request.task == "upscale_image":
            path = "upscale/conservative" if request.prompt else "upscale/fast"
        elif request.mask is not None:
            path = "edit/inpaint"
            files.append(("mask", white_mask(request.mask)))
        elif request.task in ("t2i", "i2i"):
            path = self._generation(request, asked, fields)
        else:
            raise UnsupportedContentError(f"Stability AI does not have the task {request.task!r} any more")
        if request.prompt:
            fields["prompt"] = request.prompt
        if path != "upscale/fast":
            fields |= {name: value for name in ("seed", "negative_prompt") if (value := asked.get(name)) is not None}
        if (format := asked.get("format")) is not None:
            fields["output_format"] = {"jpg": "jpeg"}.get(format, format)
        fields |= asked.extra()
        url = f"{base_url}/v2beta/stable-image/{path}"
        return TaskRequest(form_request(url, fields, form_files(files), accept="application/json"), asked.warnings())

    def _generation(self, request: PictureRequest, asked: TrackedPictureOptions, fields: dict[str, Any]) -> str:
        path = request.model if request.model in _PATHS else "sd3"
        if path == "sd3":
            fields["model"] = request.model
        if request.images:
            if path == "core":
                raise UnsupportedContentError("this model of Stability AI takes no image", hint="Choose another model.")
            strength = asked.get("strength")
            fields["strength"] = _DEFAULT_STRENGTH if strength is None else strength
            if path == "sd3":
                fields["mode"] = "image-to-image"
        elif (ratio := nearest_ratio(asked, _RATIOS)) is not None:
            fields["aspect_ratio"] = ratio
        if path == "sd3" and (guidance := asked.get("guidance")) is not None:
            fields["cfg_scale"] = guidance
        return f"generate/{path}"

    def read(self, request: PictureRequest, response: WireResponse, base_url: str) -> Step:
        """Returns the picture, or why it is blocked."""
        body = json_object(response)
        reason = body.get("finish_reason")
        if reason == "CONTENT_FILTERED":
            return FinishedJob((), ("the picture was blocked by the content filter",))
        if not body.get("image"):
            raise ServerError(f"the answer has no image; finish_reason is {reason!r}")
        return FinishedJob(
            (MadeFile(from_base64(body["image"], "image")),), metadata=metadata_of(seed=body.get("seed"))
        )

    def error(self, response: WireResponse) -> ProviderError:
        """Returns the error of a response; its code is its `name`."""
        return error_of(response, error_body(response).get("name"))

    def events(self, request: PictureRequest) -> None:
        """Returns None: answers are whole."""
