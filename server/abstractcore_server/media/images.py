"""`POST /v1/images/generations` and `/v1/images/edits` (https://platform.openai.com/docs/api-reference/images)."""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic_core import to_json

from abstractcore.errors import InvalidInputError
from abstractcore.schema import CallWarning, ImagePart, MediaResult, WireResponse

from ..context import RequestContext
from ..dialects.base import count_at, text_at
from ..failures import refused
from ..models import DEFAULT
from ..requests import MultipartForm
from .backends import BackendModel, BegunMedia, MediaRequest, headers_of, run_backend, timeout_of

_SIZE = re.compile(r"([1-9]\d{0,4})x([1-9]\d{0,4})")
_FIELDS = frozenset({"model", "prompt", "n", "size", "response_format", "output_format", "image", "mask"})


async def generate(context: RequestContext) -> WireResponse:
    """Makes images of a text."""
    data = await context.read_object()
    backend_model = context.state.backend_models.find("vision", _model(data))
    request, options = _request("t2i", backend_model, data), _options(context, data, backend_model)

    async def draw(begun: BegunMedia) -> MediaResult[ImagePart]:
        prompt, vision = begun.texts["prompt"], backend_model.llm.vision
        return await vision.at2i(prompt, timeout=timeout_of(context), tags=begun.tags, **options)

    return _response(context, await run_backend(context, request, draw), data)


async def edit(context: RequestContext) -> WireResponse:
    """Changes an image as a text says; raises `UnsupportedOptionError` for a mask, and what is
    asked for beside it, that the backend does not take.
    """
    form = await context.form()
    data = _fields(form)
    backend_model = context.state.backend_models.find("vision", _model(data))
    options, files = _options(context, data, backend_model), [image := bytes(form.upload("image").content)]
    if form.uploads("mask"):  # without it, places would be changed that the client wants to keep
        files.append(bytes(form.upload("mask").content))
        options |= {"mask": files[-1], "strict": True}
    request = _request("i2i", backend_model, data, files)

    async def change(begun: BegunMedia) -> MediaResult[ImagePart]:
        prompt, vision = begun.texts["prompt"], backend_model.llm.vision
        return await vision.ai2i(prompt, image, timeout=timeout_of(context), tags=begun.tags, **options)

    return _response(context, await run_backend(context, request, change), data)


def _request(
    operation: str, backend_model: BackendModel, data: Mapping[str, Any], files: Sequence[bytes] = ()
) -> MediaRequest:
    return MediaRequest(backend_model, operation, {"prompt": text_at(data, "prompt")}, files)


def _model(data: Mapping[str, Any]) -> str:
    """Returns the name of the model, which need not be given."""
    return DEFAULT if data.get("model") is None else text_at(data, "model")


def _fields(form: MultipartForm) -> dict[str, Any]:
    """Returns the fields of a form as those of a JSON body."""
    data: dict[str, Any] = {name.removesuffix("[]"): values[-1] for name, values in form.fields.items()}
    if "n" in data:
        data["n"] = int(data["n"]) if data["n"].isdecimal() and len(data["n"]) < 6 else data["n"]
    return data


def _options(context: RequestContext, data: Mapping[str, Any], backend_model: BackendModel) -> dict[str, Any]:
    asked = data.get("size") or "auto"
    match = _SIZE.fullmatch(asked) if isinstance(asked, str) else None
    if match is None and asked != "auto":
        raise InvalidInputError('expected a size as "1024x1024", or "auto"', path="size")
    if data.get("response_format") not in (None, "b64_json"):
        raise InvalidInputError("images are sent as b64_json: this server keeps none at a URL", path="response_format")
    width, height = (int(match[1]), int(match[2])) if match else (None, None)
    count, most = count_at(data, "n"), context.state.settings.limits.choices
    if count > most:
        raise refused(400, f"at most {most} images can be requested at once", path="n")
    size = {"width": width, "height": height}
    given = {**size, "count": count if count > 1 else None, "format": data.get("output_format")}
    return {name: value for name, value in {**given, "model": backend_model.model}.items() if value is not None}


def _response(context: RequestContext, result: MediaResult[ImagePart], data: Mapping[str, Any]) -> WireResponse:
    images = [{"b64_json": base64.b64encode(part.blob.read()).decode()} for part in result.parts]
    left_out = [CallWarning("field_left_out", name, "no backend has such a field") for name in data.keys() - _FIELDS]
    usage = result.usage
    body: dict[str, Any] = {"created": int(context.time), "data": images}
    if usage.input is not None and usage.output is not None:
        counts = {"input_tokens": usage.input, "output_tokens": usage.output}
        body["usage"] = {**counts, "total_tokens": usage.input + usage.output}
    return WireResponse(200, headers_of(context, "application/json", result, left_out), to_json(body))
