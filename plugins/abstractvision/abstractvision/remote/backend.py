"""The backends of remote models: tasks as requests, and finished jobs as results."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Any, cast

from abstractcore import (
    CallWarning,
    InvalidInputError,
    UnknownOptionError,
    UnsupportedOptionError,
)
from abstractcore.mediajobs import Jobs, Vendor, blocked_error
from abstractcore.ports import BackendOwner, Made, MediaBytes

from .parts import image_type, part_of
from .requests import TASKS, InputPicture, PictureOptions, PictureRequest, Task
from .vendors import format_named, vendors


class RemoteBackend:
    """Sends tasks to one vendor. Its classes below have the methods of what vendors can do."""

    def __init__(self, owner: BackendOwner, vendor: Vendor) -> None:
        self._owner = owner
        self._vendor = vendor

    def list_models(self, *, task: str | None = None) -> list[dict[str, Any]]:
        """Returns the models that are used by default, with their tasks."""
        if task is not None and task not in TASKS:
            raise InvalidInputError(f"expected one of {', '.join(TASKS)}, got {task!r}", path="task")
        tasks: dict[str, list[str]] = {}
        for name in self._vendor.tasks:
            if task in (None, name) and (model := self._vendor.models.get(name)):
                tasks.setdefault(model, []).append(name)
        return [{"id": model, "tasks": names, "vendor": self._vendor.name} for model, names in tasks.items()]

    async def _run(
        self,
        task: Task,
        prompt: str,
        images: tuple[MediaBytes, ...],
        mask: MediaBytes | None,
        model: str | None,
        options: dict[str, Any],
    ) -> Made:
        config = self._owner.config
        vendor, format = self._vendor, format_named(self._vendor.format)
        base_url = vendor.address(config)
        named = vendor.model_for(task, model or config.get("vision_image_model"))
        request = PictureRequest(
            task,
            named,
            prompt,
            tuple(map(_picture, images)),
            None if mask is None else _picture(mask),
            picture_options(options),
        )
        encoded = format.encode(request, base_url)
        if encoded.warnings and self._owner.strict:
            raise UnsupportedOptionError(encoded.warnings[0].message, hint="Leave it out, or choose another backend.")
        jobs = Jobs(self._owner, format, base_url, vendor.credentials(config, self._owner.environment), part_of)
        finished = await jobs.finished(request, encoded)
        parts = [await jobs.downloaded(file) for file in finished.files]
        if finished.blocked:
            raise blocked_error(finished, parts, vendor.name, named)
        warnings = [*encoded.warnings, *_count_warning(request, len(parts))]
        reported = vendor.reported(finished.model or named)
        return Made(parts, reported, finished.usage, warnings, {**finished.metadata, "vendor": vendor.name})


class _Pictures(RemoteBackend):
    async def t2i(self, prompt: str, *, model: str | None = None, **options: Any) -> Made:
        """Returns pictures of a prompt; `options` are those of `PictureOptions`."""
        return await self._run("t2i", _prompt(prompt), (), None, model, options)


class _Edits(RemoteBackend):
    async def i2i(
        self,
        prompt: str,
        image: MediaBytes,
        *,
        mask: MediaBytes | None = None,
        model: str | None = None,
        **options: Any,
    ) -> Made:
        """Returns a picture changed as the prompt says, inside the transparent places of `mask`."""
        return await self._run("i2i", _prompt(prompt), (image,), mask, model, options)


class _Enlarging(RemoteBackend):
    async def upscale_image(
        self, image: MediaBytes, *, prompt: str = "", model: str | None = None, **options: Any
    ) -> Made:
        """Returns a larger picture; with a prompt, of the kind of enlarging that takes one."""
        return await self._run("upscale_image", prompt, (image,), None, model, options)


class _Videos(RemoteBackend):
    async def t2v(self, prompt: str, *, model: str | None = None, **options: Any) -> Made:
        """Returns a video of a prompt."""
        return await self._run("t2v", _prompt(prompt), (), None, model, options)

    async def i2v(self, image: MediaBytes, *, prompt: str = "", model: str | None = None, **options: Any) -> Made:
        """Returns a video that begins with a picture."""
        return await self._run("i2v", prompt, (image,), None, model, options)


_METHODS: dict[Task, type[RemoteBackend]] = {
    "t2i": _Pictures,
    "i2i": _Edits,
    "upscale_image": _Enlarging,
    "t2v": _Videos,
    "i2v": _Videos,
}


def remote_backend(owner: BackendOwner, name: str) -> RemoteBackend:
    """Returns the backend of a vendor, which has the methods of its tasks."""
    vendor = vendors()[name]
    bases = tuple(dict.fromkeys(_METHODS[cast("Task", task)] for task in vendor.tasks))
    return type(f"Remote_{vendor.format}", bases, {})(owner, vendor)


def _prompt(prompt: str) -> str:
    if not prompt.strip():
        raise InvalidInputError("expected a text", path="prompt")
    return prompt


def picture_options(options: dict[str, Any]) -> PictureOptions:
    """Returns options, checked; raises `UnknownOptionError` with the nearest name."""
    known = PictureOptions.__dataclass_fields__
    unknown = next((name for name in options if name not in known), None)
    if unknown is None:
        return PictureOptions(**options)
    near = get_close_matches(unknown, known, n=1)
    hint = f"Did you mean {near[0]!r}?" if near else "Fields of the vendor are given in extra={...}."
    raise UnknownOptionError(f"remote pictures have no argument {unknown!r}", hint=hint)


def _picture(content: MediaBytes) -> InputPicture:
    return InputPicture(bytes(content), image_type(content))


def _count_warning(request: PictureRequest, count: int) -> list[CallWarning]:
    asked = request.options.count
    if asked is None or asked == count:
        return []
    message = f"{asked} files were asked for, and {count} made"
    return [CallWarning("fewer_files" if count < asked else "more_files", "count", message, asked, count)]
