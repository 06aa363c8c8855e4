"""Vendors of the published formats: each refuses fields that its format lacks, and answers as its documents show."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterable
from typing import Any, get_type_hints

from openai.types.image_edit_params import ImageEditParamsNonStreaming
from openai.types.image_generate_params import ImageGenerateParamsNonStreaming

from tests.backend_doubles import PNG
from tests.plugins.vendor_server import Answer, Request, VendorServer

MP4 = b"\x00\x00\x00\x18ftypisom\x00\x00\x02\x00isomiso2mp41"
CODED = base64.b64encode(PNG).decode()
KEY = "key-of-a-vendor-1234567890"
GENERATE = set(get_type_hints(ImageGenerateParamsNonStreaming)) | {"stream"}
EDIT = set(get_type_hints(ImageEditParamsNonStreaming)) | {"stream"}
EXTRA = re.compile(r" <sd_cpp_extra_args>(.*?)</sd_cpp_extra_args>")


def only(body: dict[str, Any], allowed: Iterable[str], required: Iterable[str] = ()) -> None:
    """Fails for a field that the format lacks, and without one that it needs."""
    unknown, missing = set(body) - set(allowed), set(required) - set(body)
    assert not unknown, f"unknown fields {unknown}"
    assert not missing, f"missing fields {missing}"


def openai(vendor: VendorServer, *answers: Any) -> None:
    """OpenAI's Images API; the types of its package say what is allowed."""
    vendor.key = ("authorization", f"Bearer {KEY}")
    usage = {"input_tokens": 30, "output_tokens": 272, "total_tokens": 302}
    details = {"input_tokens_details": {"text_tokens": 10, "image_tokens": 20}}
    made = {"created": 1, "data": [{"b64_json": CODED}], "output_format": "png", "usage": {**usage, **details}}

    def generate(request: Request) -> Any:
        only(request.json, GENERATE, {"prompt", "model"})
        return made

    def edit(request: Request) -> Any:
        form = request.form
        only({name.removesuffix("[]"): value for name, value in form.items()}, EDIT, {"prompt", "image", "model"})
        assert all(isinstance(form[name], tuple) for name in form if name in ("image", "image[]", "mask"))
        return made

    vendor.on("POST", "/images/generations", *(answers or (generate,)))
    vendor.on("POST", "/images/edits", *(answers or (edit,)))


def sd_server(vendor: VendorServer) -> list[dict[str, Any]]:
    """stable-diffusion.cpp's server; returns the settings that it finds in prompts."""
    found: list[dict[str, Any]] = []

    def generate(request: Request) -> Any:
        only(request.json, {"model", "prompt", "n", "size", "output_format", "output_compression"}, {"prompt"})
        found.extend(json.loads(each) for each in EXTRA.findall(request.json["prompt"]))
        return {"created": 1, "output_format": "png", "data": [{"b64_json": CODED}] * request.json.get("n", 1)}

    def edit(request: Request) -> Any:
        form = request.form
        only(form, {"model", "prompt", "image[]", "mask", "n", "size", "output_format"}, {"prompt", "image[]"})
        found.extend(json.loads(each) for each in EXTRA.findall(form["prompt"]))
        return {"created": 1, "output_format": "png", "data": [{"b64_json": CODED}]}

    vendor.on("POST", "/images/generations", generate)
    vendor.on("POST", "/images/edits", edit)
    return found


def gemini(vendor: VendorServer, *answers: Any) -> None:
    """Gemini's generateContent, as google-genai's types have it."""
    from google.genai import types

    vendor.key = ("x-goog-api-key", KEY)
    part = {"inlineData": {"mimeType": "image/png", "data": CODED}}
    made = {
        "candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {
            "promptTokenCount": 8,
            "candidatesTokenCount": 1290,
            "totalTokenCount": 1298,
            "candidatesTokensDetails": [{"modality": "IMAGE", "tokenCount": 1290}],
        },
        "modelVersion": "painter-1",
        "responseId": "r-1",
    }
    types.GenerateContentResponse.model_validate(made)

    def generate(request: Request) -> Any:
        body = request.json
        only(body, {"contents", "generationConfig", "safetySettings"}, {"contents"})
        [types.Content.model_validate(each) for each in body["contents"]]
        settings = dict(body["generationConfig"])
        types.ImageConfig.model_validate(settings.pop("imageConfig", {}))
        types.GenerationConfig.model_validate(settings)
        return made

    vendor.on("POST", "/v1beta/models/painter-1:generateContent", *(answers or (generate,)))


def imagen(vendor: VendorServer, *answers: Any) -> None:
    """Imagen's predict."""
    vendor.key = ("x-goog-api-key", KEY)

    def predict(request: Request) -> Any:
        only(request.json, {"instances", "parameters"}, {"instances", "parameters"})
        parameters = {"sampleCount", "includeRaiReason", "aspectRatio", "seed", "negativePrompt", "guidanceScale"}
        only(request.json["parameters"], parameters | {"addWatermark", "outputOptions"})
        count = request.json["parameters"]["sampleCount"]
        return {"predictions": [{"bytesBase64Encoded": CODED, "mimeType": "image/png"}] * count}

    vendor.on("POST", "/v1beta/models/painter-1:predict", *(answers or (predict,)))


def veo(vendor: VendorServer, *states: Any) -> None:
    """Veo's long-running operation; the video is downloaded by a redirect."""
    vendor.key = ("x-goog-api-key", KEY)
    name = "models/painter-1/operations/op-1"

    def start(request: Request) -> Any:
        only(request.json, {"instances", "parameters"}, {"instances"})
        (instance,) = request.json["instances"]
        only(instance, {"prompt", "image"})
        parameters = {"aspectRatio", "durationSeconds", "negativePrompt", "seed", "sampleCount", "resolution"}
        only(request.json["parameters"], parameters)
        return {"name": name}

    video = {"video": {"uri": f"{vendor.url}/video:download?alt=media"}}
    done = {"name": name, "done": True, "response": {"generateVideoResponse": {"generatedSamples": [video]}}}
    vendor.on("POST", "/v1beta/models/painter-1:predictLongRunning", start)
    vendor.on("GET", f"/v1beta/{name}", *(states or ({"name": name}, done)))
    vendor.on("GET", "/video:download", Answer(302, b"", {"location": f"{vendor.url}/files/video.mp4"}))
    vendor.on("GET", "/files/video.mp4", Answer(200, MP4, {"content-type": "video/mp4"}))


def stability(vendor: VendorServer, *answers: Any) -> None:
    """Stability AI's v2beta."""
    vendor.key = ("authorization", f"Bearer {KEY}")
    common = {"prompt", "negative_prompt", "seed", "output_format"}
    fields = {
        "generate/core": common | {"aspect_ratio"},
        "generate/ultra": common | {"aspect_ratio", "image", "strength"},
        "generate/sd3": common | {"aspect_ratio", "image", "strength", "mode", "model", "cfg_scale"},
        "edit/inpaint": common | {"image", "mask", "grow_mask"},
        "upscale/conservative": common | {"image", "creativity"},
        "upscale/fast": {"image", "output_format"},
    }

    def make(path: str) -> Any:
        def answer(request: Request) -> Any:
            assert request.headers["accept"] == "application/json"
            only(request.form, fields[path], {"prompt"} if "prompt" in fields[path] else {"image"})
            return {"image": CODED, "finish_reason": "SUCCESS", "seed": 343940597}

        return answer

    for path in fields:
        vendor.on("POST", f"/v2beta/stable-image/{path}", *(answers or (make(path),)))


def fal(vendor: VendorServer, *states: Any, result: Any = None) -> None:
    """fal's queue."""
    vendor.key = ("authorization", f"Key {KEY}")
    job = f"{vendor.url}/painters/one/requests/r-1"
    urls = {"status_url": f"{job}/status", "response_url": job, "cancel_url": f"{job}/cancel"}
    queued = {"status": "IN_QUEUE", "request_id": "r-1", "queue_position": 1, **urls}
    image = {"url": f"{vendor.url}/files/1.png", "width": 1, "height": 1, "content_type": "image/png"}

    def submit(request: Request) -> Any:
        return queued if request.json else Answer(422, {"detail": "empty"})

    vendor.on("POST", "/painters/one", submit)
    usual = (queued, {"status": "IN_PROGRESS", "request_id": "r-1", **urls}, {"status": "COMPLETED", **urls})
    vendor.on("GET", "/painters/one/requests/r-1/status", *(states or usual))
    vendor.on(
        "GET", "/painters/one/requests/r-1", result or {"images": [image], "seed": 7, "has_nsfw_concepts": [False]}
    )
    vendor.on("PUT", "/painters/one/requests/r-1/cancel", Answer(202, {"status": "CANCELLATION_REQUESTED"}))
    vendor.on("GET", "/files/1.png", Answer(200, PNG, {"content-type": "image/png"}))


def replicate(vendor: VendorServer, *states: Any) -> None:
    """Replicate's predictions."""
    vendor.key = ("authorization", f"Bearer {KEY}")
    urls = {"get": f"{vendor.url}/predictions/p-1", "cancel": f"{vendor.url}/predictions/p-1/cancel"}
    common = {"id": "p-1", "model": "painters/one", "urls": urls, "error": None, "output": None, "logs": ""}

    def create(request: Request) -> Any:
        only(request.json, {"input", "version"}, {"input"})
        return Answer(201, {**common, "status": "starting"})

    half = {**common, "status": "processing", "logs": "  0%|   | 0/4\n 50%|###  | 2/4 [00:01<00:01]"}
    metrics = {"predict_time": 1.5}
    done = {**common, "status": "succeeded", "output": [f"{vendor.url}/files/1.png"], "metrics": metrics}
    vendor.on("POST", "/models/painters/one/predictions", create)
    vendor.on("POST", "/predictions", create)
    vendor.on("GET", "/predictions/p-1", *(states or (half, done)))
    vendor.on("POST", "/predictions/p-1/cancel", {**common, "status": "canceled"})
    vendor.on("GET", "/files/1.png", Answer(200, PNG, {"content-type": "image/png"}))


def bfl(vendor: VendorServer, *states: Any) -> None:
    """Black Forest Labs' tasks."""
    vendor.key = ("x-key", KEY)
    task = {"id": "t-1", "polling_url": f"{vendor.url}/get_result"}
    fields = {"prompt", "width", "height", "seed", "steps", "guidance", "output_format", "input_image", "image", "mask"}

    def start(request: Request) -> Any:
        only(request.json, fields, {"prompt"})
        return task

    ready = {"id": "t-1", "status": "Ready", "result": {"sample": f"{vendor.url}/files/1.png", "seed": 42}}
    vendor.on("POST", "/painter-1", start)
    vendor.on("GET", "/get_result", *(states or ({"id": "t-1", "status": "Pending", "progress": 0.4}, ready)))
    vendor.on("GET", "/files/1.png", Answer(200, PNG, {"content-type": "image/png"}))
