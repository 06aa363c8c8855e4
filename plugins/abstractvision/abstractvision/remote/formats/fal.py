"""fal: models behind a queue, `https://queue.fal.run/{model}`.

Source: https://docs.fal.ai/model-apis/model-endpoints/queue. Models share most names of their fields, no schema.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from abstractcore import ProviderError, ServerError
from abstractcore.mediajobs import (
    FinishedJob,
    MadeFile,
    PendingJob,
    Step,
    TaskRequest,
    error_body,
    error_of,
    get_request,
    job_failed,
    json_object,
    json_request,
    list_of,
    mapping_of,
    metadata_of,
    text_of,
)
from abstractcore.schema import WireRequest, WireResponse

from ..encoding import data_url
from ..masks import white_mask
from ..requests import PictureRequest, TrackedPictureOptions

_FIELDS = {
    "seed": "seed",
    "count": "num_images",
    "negative_prompt": "negative_prompt",
    "steps": "num_inference_steps",
    "guidance": "guidance_scale",
    "strength": "strength",
    "seconds": "duration",
    "fps": "fps",
    "scale": "upscale_factor",
}


class Fal:
    """The format."""

    def encode(self, request: PictureRequest, base_url: str) -> TaskRequest:
        """Returns the request that puts the job into the queue."""
        asked = TrackedPictureOptions(request, "fal")
        body: dict[str, Any] = {"prompt": request.prompt} if request.prompt else {}
        if request.images:
            body["image_url"] = data_url(request.images[0])
        if request.mask is not None:
            body["mask_url"] = data_url(white_mask(request.mask))
        if (size := asked.size()) is not None:
            body["image_size"] = {"width": size[0], "height": size[1]}
        for name, field in _FIELDS.items():
            if (value := asked.get(name)) is not None:
                body[field] = value
        if (format := asked.get("format")) is not None:
            body["output_format"] = {"jpg": "jpeg"}.get(format, format)
        body |= asked.extra()
        return TaskRequest(json_request(f"{base_url}/{request.model}", body), asked.warnings(), starts_job=True)

    def read(self, request: PictureRequest, response: WireResponse, base_url: str) -> Step:
        """Returns the job, which waits in the queue."""
        body = json_object(response)
        id = text_of(body.get("request_id"), "request_id")
        urls = {name: text_of(body.get(name), name) for name in ("status_url", "response_url", "cancel_url")}
        return _waiting(id, urls, "in the queue")

    def error(self, response: WireResponse) -> ProviderError:
        """Returns the error of a response; its code is the type of a field's problem."""
        body = error_body(response)
        problems = map(mapping_of, list_of(body.get("detail")))
        code = next((each["type"] for each in problems if each.get("type")), None)
        return error_of(response, code or body.get("error_type"))

    def events(self, request: PictureRequest) -> None:
        """Returns None: answers are whole."""


def _waiting(id: str, urls: dict[str, str], state: str) -> PendingJob:
    cancel = WireRequest(urls["cancel_url"], {}, b"", "PUT")
    return PendingJob(id, get_request(urls["status_url"]), partial(_status, id, urls), state=state, cancel=cancel)


def _status(id: str, urls: dict[str, str], response: WireResponse) -> Step:
    body = json_object(response)
    state = body.get("status")
    if state == "IN_QUEUE":
        position = body.get("queue_position")
        return _waiting(id, urls, "in the queue" if position is None else f"in the queue, {position} before it")
    if state == "IN_PROGRESS":
        return _waiting(id, urls, "in progress")
    if state == "COMPLETED" and not body.get("error"):
        return PendingJob(id, get_request(urls["response_url"]), _result, state="done", done=1.0, pause_seconds=0)
    if state in ("COMPLETED", "FAILED", "CANCELED", "CANCELLED"):
        raise job_failed(body.get("error") or f"the job ended as {state}", body.get("error_type"))
    raise ServerError(f"the job is in the unknown state {state!r}")


def _result(response: WireResponse) -> FinishedJob:
    body = json_object(response)
    found = list_of(body.get("images")) or [body[name] for name in ("image", "video") if body.get(name)]
    unsafe = list_of(body.get("has_nsfw_concepts"))
    files: list[MadeFile] = []
    blocked: list[str] = []
    for index, item in enumerate(map(mapping_of, found)):
        if index < len(unsafe) and unsafe[index] is True:
            blocked.append("the safety checker blackened the picture")
        else:
            files.append(MadeFile(url=text_of(item.get("url"), "URL of a file"), media_type=item.get("content_type")))
    if not files and not blocked:
        raise ServerError("the result has no files: expected images, image or video")
    return FinishedJob(tuple(files), tuple(blocked), metadata=metadata_of(seed=body.get("seed")))
