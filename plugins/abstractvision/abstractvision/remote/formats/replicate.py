"""Replicate: predictions of models.

Source: https://replicate.com/docs/reference/http. A model is "owner/name", or "owner/name:version" and a bare version.
"""

from __future__ import annotations

import re
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
    from_base64,
    get_request,
    job_failed,
    json_object,
    json_request,
    mapping_of,
    metadata_of,
    text_of,
)
from abstractcore.schema import JSONValue, WireRequest, WireResponse

from ..encoding import data_url
from ..masks import white_mask
from ..requests import PictureRequest, TrackedPictureOptions

_FIELDS = {
    "width": "width",
    "height": "height",
    "seed": "seed",
    "count": "num_outputs",
    "negative_prompt": "negative_prompt",
    "steps": "num_inference_steps",
    "guidance": "guidance_scale",
    "strength": "prompt_strength",
    "sampler": "scheduler",
    "seconds": "duration",
    "fps": "fps",
    "scale": "scale",
}
_PERCENT = re.compile(r"(\d{1,3})%\|")


class Replicate:
    """The format."""

    def encode(self, request: PictureRequest, base_url: str) -> TaskRequest:
        """Returns the request that creates the prediction."""
        asked = TrackedPictureOptions(request, "Replicate")
        given: dict[str, Any] = {"prompt": request.prompt} if request.prompt else {}
        if request.images:
            given["image"] = data_url(request.images[0])
        if request.mask is not None:
            given["mask"] = data_url(white_mask(request.mask))
        for name, field in _FIELDS.items():
            if (value := asked.get(name)) is not None:
                given[field] = value
        if (format := asked.get("format")) is not None:
            given["output_format"] = {"jpeg": "jpg"}.get(format, format)
        given |= asked.extra()
        name, _, version = request.model.partition(":")
        if "/" in name and not version:
            encoded = json_request(f"{base_url}/models/{name}/predictions", {"input": given})
        else:
            encoded = json_request(f"{base_url}/predictions", {"version": version or name, "input": given})
        return TaskRequest(encoded, asked.warnings(), starts_job=True)

    def read(self, request: PictureRequest, response: WireResponse, base_url: str) -> Step:
        """Returns the step that the prediction describes."""
        body = json_object(response)
        state = body.get("status")
        id = text_of(body.get("id"), "id")
        if state in ("starting", "processing", "queued"):
            urls = mapping_of(body.get("urls"))
            cancel = urls.get("cancel") or f"{base_url}/predictions/{id}/cancel"
            return PendingJob(
                id,
                get_request(str(urls.get("get") or f"{base_url}/predictions/{id}")),
                partial(self.read, request, base_url=base_url),
                state=str(state),
                done=_progress(body.get("logs")),
                cancel=WireRequest(str(cancel), {}, b"", "POST"),
            )
        if state == "succeeded":
            metrics = mapping_of(body.get("metrics"))
            seconds = metadata_of(id=id, predict_seconds=metrics.get("predict_time"))
            return FinishedJob(_files(body.get("output")), model=body.get("model"), metadata=seconds)
        if state in ("failed", "canceled", "aborted"):
            raise job_failed(body.get("error") or f"the prediction ended as {state}")
        raise ServerError(f"the prediction is in the unknown state {state!r}")

    def error(self, response: WireResponse) -> ProviderError:
        """Returns the error of a response; its code is its `title`."""
        return error_of(response, error_body(response).get("title"))

    def events(self, request: PictureRequest) -> None:
        """Returns None: answers are whole."""


def _progress(logs: object) -> float | None:
    """Returns the share that the last progress bar in the logs shows."""
    found = _PERCENT.findall(logs[-4000:]) if isinstance(logs, str) else []
    return min(int(found[-1]), 100) / 100 if found else None


def _files(output: JSONValue) -> tuple[MadeFile, ...]:
    """Returns the files of an output, which may be a URL, a list or an object of them."""
    if isinstance(output, str):
        head, _, content = output.partition(";base64,")
        if head.startswith("data:"):
            return (MadeFile(from_base64(content, "output"), media_type=head[5:]),)
        return (MadeFile(url=output),) if output.startswith(("https://", "http://")) else ()
    items = output if isinstance(output, list | tuple) else list(mapping_of(output).values())
    files = tuple(file for item in items for file in _files(item))
    if not files:
        raise ServerError("the prediction succeeded without a file")
    return files
