"""`Vision`: `llm.vision`, images and videos of prompts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Unpack

from ..concurrency import drive
from ..option_help import takes
from ..schema import ImagePart, JSONObject, MediaResult, VideoPart
from .arguments import FileArgument, checked_text
from .calls import BackendRequest
from .facade import Facade
from .options import BackendCallOptions, FileInput, ImageOptions, UpscaleOptions, VideoOptions

_IMAGE = frozenset(ImageOptions.__annotations__) | {"mask"}
_UPSCALE = frozenset(UpscaleOptions.__annotations__)
_VIDEO = frozenset(VideoOptions.__annotations__) | {"prompt"}
_LISTING = frozenset(BackendCallOptions.__annotations__) | {"task"}


class Vision(Facade):
    """Draws, edits and films. Its backend is chosen by `vision_backend=...` in `create_llm`; other options that begin
    with `vision_` are the backend's.
    """

    capability = "vision"

    @takes(ImageOptions)
    def t2i(self, prompt: str, **options: Unpack[ImageOptions]) -> MediaResult[ImagePart]:
        """Returns an image of a text: `llm.vision.t2i("a lighthouse").save("lighthouse.png")`.

        Raises `ContentFilterError` for a blocked image, whose `partial` has those that are not;
        `CapabilityUnavailableError`, and errors of the backend.
        """
        return drive(self.make(self._caller.sync(), image_request(prompt, options), ImagePart))

    @takes(ImageOptions)
    async def at2i(self, prompt: str, **options: Unpack[ImageOptions]) -> MediaResult[ImagePart]:
        """The async version of `t2i`."""
        return await self.make(self._caller.asynchronous(), image_request(prompt, options), ImagePart)

    @takes(ImageOptions)
    def i2i(
        self, prompt: str, image: FileInput, *, mask: FileInput | None = None, **options: Unpack[ImageOptions]
    ) -> MediaResult[ImagePart]:
        """Returns an image changed as a text says. `mask` is an image whose transparent places may change; raises as
        `t2i` does.
        """
        return drive(self.make(self._caller.sync(), _edit_request(prompt, image, mask, options), ImagePart))

    @takes(ImageOptions)
    async def ai2i(
        self, prompt: str, image: FileInput, *, mask: FileInput | None = None, **options: Unpack[ImageOptions]
    ) -> MediaResult[ImagePart]:
        """The async version of `i2i`."""
        return await self.make(self._caller.asynchronous(), _edit_request(prompt, image, mask, options), ImagePart)

    @takes(UpscaleOptions)
    def upscale_image(self, image: FileInput, **options: Unpack[UpscaleOptions]) -> MediaResult[ImagePart]:
        """Returns a larger image."""
        return drive(self.make(self._caller.sync(), _upscale_request(image, options), ImagePart))

    @takes(UpscaleOptions)
    async def aupscale_image(self, image: FileInput, **options: Unpack[UpscaleOptions]) -> MediaResult[ImagePart]:
        """The async version of `upscale_image`."""
        return await self.make(self._caller.asynchronous(), _upscale_request(image, options), ImagePart)

    @takes(VideoOptions)
    def t2v(self, prompt: str, **options: Unpack[VideoOptions]) -> MediaResult[VideoPart]:
        """Returns a video of a text."""
        return drive(self.make(self._caller.sync(), _video_request(prompt, options), VideoPart))

    @takes(VideoOptions)
    async def at2v(self, prompt: str, **options: Unpack[VideoOptions]) -> MediaResult[VideoPart]:
        """The async version of `t2v`."""
        return await self.make(self._caller.asynchronous(), _video_request(prompt, options), VideoPart)

    @takes(VideoOptions)
    def i2v(
        self, image: FileInput, *, prompt: str | None = None, **options: Unpack[VideoOptions]
    ) -> MediaResult[VideoPart]:
        """Returns a video that begins with an image."""
        return drive(self.make(self._caller.sync(), _animation_request(image, prompt, options), VideoPart))

    @takes(VideoOptions)
    async def ai2v(
        self, image: FileInput, *, prompt: str | None = None, **options: Unpack[VideoOptions]
    ) -> MediaResult[VideoPart]:
        """The async version of `i2v`."""
        return await self.make(self._caller.asynchronous(), _animation_request(image, prompt, options), VideoPart)

    @takes(BackendCallOptions)
    def list_models(self, task: str | None = None, **options: Unpack[BackendCallOptions]) -> list[JSONObject]:
        """Returns the models of the backend, of one `task` such as "t2i" or of all."""
        return drive(self._list(self._caller.sync(), _list_request(task, options)))

    @takes(BackendCallOptions)
    async def alist_models(self, task: str | None = None, **options: Unpack[BackendCallOptions]) -> list[JSONObject]:
        """The async version of `list_models`."""
        return await self._list(self._caller.asynchronous(), _list_request(task, options))


def image_request(prompt: object, options: Mapping[str, Any]) -> BackendRequest:
    """Returns the request of an image."""
    return BackendRequest("t2i", "media", (checked_text(prompt, "prompt"),), options, _IMAGE)


def _edit_request(prompt: object, image: object, mask: object, options: Mapping[str, Any]) -> BackendRequest:
    given = (checked_text(prompt, "prompt"), FileArgument("image", image, ("image",)))
    masked = {} if mask is None else {"mask": FileArgument("mask", mask, ("image",))}
    return BackendRequest("i2i", "media", given, {**options, **masked}, _IMAGE)


def _upscale_request(image: object, options: Mapping[str, Any]) -> BackendRequest:
    return BackendRequest("upscale_image", "media", (FileArgument("image", image, ("image",)),), options, _UPSCALE)


def _video_request(prompt: object, options: Mapping[str, Any]) -> BackendRequest:
    return BackendRequest("t2v", "media", (checked_text(prompt, "prompt"),), options, _VIDEO)


def _animation_request(image: object, prompt: object, options: Mapping[str, Any]) -> BackendRequest:
    given = (FileArgument("image", image, ("image",)),)
    return BackendRequest("i2v", "media", given, {**options, "prompt": prompt}, _VIDEO)


def _list_request(task: object, options: Mapping[str, Any]) -> BackendRequest:
    return BackendRequest("list_models", "list", (), {**options, "task": task}, _LISTING)
