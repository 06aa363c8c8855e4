"""The backend of diffusion models on this machine."""

from __future__ import annotations

import io
from typing import Any

from PIL import Image

from abstractcore import (
    Blob,
    CapabilityUnavailableError,
    ContentFilterError,
    ImagePart,
    ModelReply,
    VideoPart,
)
from abstractcore.ports import BackendOwner, Made, MediaBytes

from ..problems import unreadable
from ..remote.backend import picture_options
from ..remote.masks import white_mask
from ..remote.requests import InputPicture, PictureOptions, PictureRequest, Task
from .frames import video_of
from .pipelines import DiffusionPipelines, accepted, library

_DEFAULT_FPS = 24.0


class DiffusersBackend:
    """Pictures and videos of a model on this machine; see `DiffusionPipelines` for `vision_image_model`.

    Calls run one after the other. `vision_device` and `vision_dtype` are names of torch.
    """

    is_local = True

    def __init__(self, owner: BackendOwner) -> None:
        self._owner = owner
        self._pipelines: dict[str, DiffusionPipelines] = {}

    def t2i(self, prompt: str, *, model: str | None = None, **options: Any) -> Made:
        """Returns pictures of a prompt."""
        return self._run("t2i", prompt, None, None, model, options)

    def i2i(
        self,
        prompt: str,
        image: MediaBytes,
        *,
        mask: MediaBytes | None = None,
        model: str | None = None,
        **options: Any,
    ) -> Made:
        """Returns a picture changed as the prompt says, inside the transparent places of `mask`."""
        return self._run("i2i", prompt, image, mask, model, options)

    def t2v(self, prompt: str, *, model: str | None = None, **options: Any) -> Made:
        """Returns a video of a prompt."""
        return self._run("t2v", prompt, None, None, model, options)

    def i2v(self, image: MediaBytes, *, prompt: str = "", model: str | None = None, **options: Any) -> Made:
        """Returns a video that begins with a picture."""
        return self._run("i2v", prompt, image, None, model, options)

    def list_models(self, *, task: str | None = None) -> list[dict[str, Any]]:
        """Returns the model that is set."""
        source = self._owner.config.get("vision_image_model")
        return [{"id": source}] if source else []

    def _run(
        self,
        task: Task,
        prompt: str,
        image: MediaBytes | None,
        mask: MediaBytes | None,
        model: str | None,
        options: dict[str, Any],
    ) -> Made:
        source = self._source(model)
        given = picture_options(options)
        pictures = () if image is None else (InputPicture(bytes(image), image.media_type),)
        masked = None if mask is None else InputPicture(bytes(mask), mask.media_type)
        request = PictureRequest(task, source, prompt, pictures, masked, given)
        pipeline = self._pipelines_of(source).for_request(request)
        arguments, warnings = accepted(pipeline, self._arguments(request))
        arguments |= dict(given.extra or {})
        if "callback_on_step_end" in arguments:
            arguments["callback_on_step_end"] = self._reporter(pipeline)
        result = pipeline(**arguments)
        metadata = {"seed": given.seed} if given.seed is not None else {}
        parts = _parts(result, given.fps or _DEFAULT_FPS)
        _check_blocked(result, parts, source)
        return Made(parts, model=f"diffusers/{source}", warnings=warnings, metadata=metadata)

    def _source(self, model: str | None) -> str:
        source = model or self._owner.config.get("vision_image_model")
        if isinstance(source, str) and source:
            return source
        hint = "Set vision_image_model='folder or name on the hub' in create_llm."
        raise CapabilityUnavailableError("local models have no default", hint=hint)

    def _pipelines_of(self, source: str) -> DiffusionPipelines:
        config = self._owner.config
        if source not in self._pipelines:
            self._pipelines.clear()  # one model at a time: they are large
            self._pipelines[source] = DiffusionPipelines(
                source, config.get("vision_device"), config.get("vision_dtype"), self._owner.spare_cores
            )
        return self._pipelines[source]

    def _arguments(self, request: PictureRequest) -> dict[str, tuple[str, Any]]:
        options = request.options
        is_film = request.task in ("t2v", "i2v")
        fps = options.fps or (_DEFAULT_FPS if options.seconds else None)
        arguments: dict[str, tuple[str, Any]] = {
            "prompt": ("prompt", request.prompt),
            "negative_prompt": ("negative_prompt", options.negative_prompt),
            "width": ("width", options.width),
            "height": ("height", options.height),
            "steps": ("num_inference_steps", options.steps),
            "guidance": ("guidance_scale", options.guidance),
            "strength": ("strength", options.strength),
            "count": ("num_videos_per_prompt" if is_film else "num_images_per_prompt", options.count),
            "seed": ("generator", _generator(options)),
            "seconds": ("num_frames", None if options.seconds is None else round(options.seconds * (fps or 1))),
            "output_type": ("output_type", "pil"),
            "progress": ("callback_on_step_end", True),
        }
        if request.images:
            arguments["image"] = ("image", _opened(request.images[0], "image"))
        if request.mask is not None:
            arguments["mask"] = ("mask_image", _opened(white_mask(request.mask), "mask"))
        for name in ("format", "quality", "background", "sampler", "scheduler", "partial_images", "scale"):
            arguments[name] = (f"no argument {name}", getattr(options, name))
        return arguments

    def _reporter(self, pipeline: Any) -> Any:
        """Returns a function for the end of each step. It raises `RequestTimeoutError` past the time limit."""

        def report(_: Any, step: int, __: Any, values: dict[str, Any]) -> dict[str, Any]:
            self._owner.progress(step + 1, getattr(pipeline, "num_timesteps", None), "steps")
            _ = self._owner.time_left
            return values

        return report


def _generator(options: PictureOptions) -> Any:
    if options.seed is None:
        return None
    return library("torch").Generator("cpu").manual_seed(options.seed)


def _opened(picture: InputPicture, source: str) -> Image.Image:
    try:
        with Image.open(io.BytesIO(picture.content)) as image:
            return image.convert("L" if source == "mask" else "RGB")
    except Exception as error:  # decoders of damaged files may raise any exception
        raise unreadable(source, error, source) from None


def _parts(result: Any, fps: float) -> list[ImagePart | VideoPart]:
    if hasattr(result, "frames"):
        return [video_of(frames, fps) for frames in result.frames]
    return [_png(image) for image in result.images]


def _png(image: Image.Image) -> ImagePart:
    written = io.BytesIO()
    image.save(written, "png")
    return ImagePart(Blob.from_bytes(written.getvalue(), "image/png"))


def _check_blocked(result: Any, parts: list[ImagePart | VideoPart], model: str) -> None:
    """Raises `ContentFilterError` for pictures that the safety checker of a model blackened."""
    flags = getattr(result, "nsfw_content_detected", None)
    if not flags or not any(flags):
        return
    passed = [part for part, flag in zip(parts, flags, strict=False) if not flag]
    raise ContentFilterError(
        f"the safety checker of the model blocked {sum(map(bool, flags))} of {len(parts)} pictures",
        model=model,
        partial=ModelReply(tuple(passed), "content_filter", model=model),
    )
