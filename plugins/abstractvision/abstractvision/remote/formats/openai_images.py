"""OpenAI's Images API: `/images/generations` and `/images/edits`, with streamed partial images.

Source: the OpenAPI description of OpenAI, 2026-08-21. stable-diffusion.cpp's `sd-server` has the same paths, and takes
further settings inside the prompt, in `<sd_cpp_extra_args>` (examples/server/api.md).
"""

from __future__ import annotations

import json
from typing import Any

from abstractcore import ProviderError, QuotaError, ServerError, StreamInterruptedError, UnsupportedContentError
from abstractcore.framing import ServerSentEventFramer
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
    json_request,
    list_of,
    mapping_of,
    metadata_of,
)
from abstractcore.schema import Billing, Usage, WireResponse

from ..encoding import form_files
from ..masks import transparent_mask, white_mask
from ..requests import PictureRequest, TrackedPictureOptions

_MOST_EVENT_BYTES = 64 << 20
_QUOTA_CODES = {"insufficient_quota", "billing_hard_limit_reached"}


class OpenAIImages:
    """The format; `extra_args`: settings that it has no field for are sent as sd-server reads them."""

    def __init__(self, *, extra_args: bool = False) -> None:
        self._extra_args = extra_args

    def encode(self, request: PictureRequest, base_url: str) -> TaskRequest:
        """Returns the request; edits are multipart forms, which all servers read."""
        asked = TrackedPictureOptions(request, "the Images API" if not self._extra_args else "sd-server")
        prompt = request.prompt
        if self._extra_args and (extra := _native(asked)):
            prompt += f" <sd_cpp_extra_args>{json.dumps(extra, separators=(',', ':'))}</sd_cpp_extra_args>"
        body: dict[str, Any] = {"model": request.model, "prompt": prompt, **_fields(asked)}
        if asked.get("partial_images"):
            body |= {"stream": True, "partial_images": request.options.partial_images}
        if request.task == "t2i":
            return TaskRequest(json_request(f"{base_url}/images/generations", body), asked.warnings())
        if request.task != "i2i":
            raise UnsupportedContentError(f"the Images API does not have the task {request.task!r}")
        name = "image[]" if self._extra_args or len(request.images) > 1 else "image"
        files = [(name, image) for image in request.images]
        if request.mask is not None:
            mask = white_mask(request.mask) if self._extra_args else transparent_mask(request.mask)
            files.append(("mask", mask))
        return TaskRequest(form_request(f"{base_url}/images/edits", body, form_files(files)), asked.warnings())

    def read(self, request: PictureRequest, response: WireResponse, base_url: str) -> Step:
        """Returns the images."""
        body = json_object(response)
        media_type = _media_type(body.get("output_format"))
        files: list[MadeFile] = []
        prompts: list[Any] = []
        for index, item in enumerate(map(mapping_of, list_of(body.get("data")))):
            if item.get("b64_json"):
                content = from_base64(item["b64_json"], f"data[{index}].b64_json")
                files.append(MadeFile(content, media_type=media_type))
            elif isinstance(item.get("url"), str):
                files.append(MadeFile(url=item["url"]))
            if item.get("revised_prompt"):
                prompts.append(item["revised_prompt"])
        if not files:
            raise ServerError("the answer has no images: expected data[].b64_json or data[].url")
        return FinishedJob(
            tuple(files),
            usage=_usage(body.get("usage")),
            metadata=metadata_of(revised_prompt=prompts[0] if prompts else None, size=body.get("size")),
        )

    def error(self, response: WireResponse) -> ProviderError:
        """Returns the error of OpenAI's `error` object, or of the text of other servers."""
        return _error(response)

    def events(self, request: PictureRequest) -> ImageEvents | None:
        """Returns a reader if partial images were asked for."""
        partial = request.options.partial_images
        return ImageEvents(partial + 1) if partial else None


class ImageEvents:
    """The events of a streamed answer: `image_generation.*` and `image_edit.*`, of `total` pictures at most."""

    def __init__(self, total: int) -> None:
        self.total = total
        self._framer = ServerSentEventFramer(_MOST_EVENT_BYTES)
        self._files: list[MadeFile] = []
        self._usage: Usage | None = None

    def feed(self, data: bytes) -> list[MadeFile]:
        """Returns the partial images that `data` completes."""
        return [file for event in self._framer.feed(data) if (file := self._partial(event.data)) is not None]

    def finish(self) -> FinishedJob:
        """Returns the completed images."""
        for event in self._framer.finish():
            self._partial(event.data)
        if not self._files:
            raise StreamInterruptedError("the stream of images ended before an image was complete")
        return FinishedJob(tuple(self._files), usage=self._usage)

    def _partial(self, data: bytes) -> MadeFile | None:
        if data.strip() == b"[DONE]":
            return None
        event = json_object(WireResponse(200, {}, data))
        kind = str(event.get("type", ""))
        if kind == "error" or "error" in event:
            raise _error(WireResponse(400, {}, data))
        if not kind.endswith((".partial_image", ".completed")):
            return None
        content = from_base64(event.get("b64_json"), f"b64_json of {kind}")
        file = MadeFile(content, media_type=_media_type(event.get("output_format")))
        if kind.endswith(".partial_image"):
            return file
        self._files.append(file)
        self._usage = _usage(event.get("usage")) or self._usage
        return None


def _fields(asked: TrackedPictureOptions) -> dict[str, Any]:
    size = asked.size()
    given = {
        "n": asked.get("count"),
        "size": None if size is None else f"{size[0]}x{size[1]}",
        "quality": asked.get("quality"),
        "background": asked.get("background"),
        "output_format": {"jpg": "jpeg"}.get(asked.get("format"), asked.get("format")),
    }
    return {name: value for name, value in given.items() if value is not None} | asked.extra()


def _native(asked: TrackedPictureOptions) -> dict[str, Any]:
    """Returns the settings in the schema of sd-server."""
    guidance = asked.get("guidance")
    sampling = {
        "sample_steps": asked.get("steps"),
        "sample_method": asked.get("sampler"),
        "scheduler": asked.get("scheduler"),
        "guidance": None if guidance is None else {"txt_cfg": guidance},
    }
    native = {
        "seed": asked.get("seed"),
        "negative_prompt": asked.get("negative_prompt"),
        "strength": asked.get("strength"),
        "sample_params": {name: value for name, value in sampling.items() if value is not None} or None,
    }
    return {name: value for name, value in native.items() if value is not None}


def _media_type(output_format: object) -> str | None:
    return f"image/{output_format}" if output_format in ("png", "jpeg", "webp") else None


def _usage(value: object) -> Usage | None:
    usage = mapping_of(value)
    given, made = usage.get("input_tokens"), usage.get("output_tokens")
    if not isinstance(given, int) or not isinstance(made, int):
        return None
    seen = mapping_of(usage.get("input_tokens_details")).get("image_tokens")
    counts = {"output_image": made, **({"input_image": seen} if isinstance(seen, int) else {})}
    return Usage(input=given, output=made, billing=Billing(counts=counts))


def _error(response: WireResponse) -> ProviderError:
    body = error_body(response)
    found = mapping_of(body.get("error", body))
    error = error_of(response, found.get("code") or found.get("type"))
    if error.code in _QUOTA_CODES:
        return QuotaError(error.message, status=response.status, code=error.code)
    return error
