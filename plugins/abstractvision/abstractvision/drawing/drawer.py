"""The backend without weights: the model writes a scene as data, or rules compose one, and a renderer draws it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from abstractcore import (
    AbstractCoreError,
    Blob,
    GenerateResponse,
    ImagePart,
    InvalidInputError,
    UnsupportedContentError,
)
from abstractcore.ports import BackendOwner, Made, MediaBytes

from ..options import choice_of, count_of, size_of

if TYPE_CHECKING:
    from .drawings import Drawing
    from .scene import Scene

METHODS = ("model", "rules", "auto")
MOST_PICTURES = 8
_DRAW_SECONDS = 120.0
_ORIGIN = "abstractvision:drawing"
_TOO_SMALL = ("local", "smollm2-135m-instruct")
"""The embedded model, whose scenes lack what the prompt names: rules draw it, and faster."""


class Drawer:
    """Draws pictures of scenes. The option `vision_scene` is who writes them: "model", "rules", or "auto": the model,
    and the rules if it fails or is the embedded model.
    """

    is_local = True

    def __init__(self, owner: BackendOwner) -> None:
        self._owner = owner

    async def t2i(
        self,
        prompt: str,
        *,
        width: int = 1024,
        height: int = 1024,
        seed: int | None = None,
        count: int = 1,
        format: str = "png",
        scene: str | None = None,
        model: str | None = None,
    ) -> Made:
        """Returns drawings of what the prompt says; see `Drawer` for `scene`."""
        size, written = self._checked(width, height, format, model)
        drawings: list[Drawing] = []
        for index in range(count_of(count, MOST_PICTURES)):
            self._owner.progress(index, count, "scenes")
            chance = None if seed is None else seed + index
            drawings.append(await self._scene(prompt, size, chance, self._method(scene)))
        return await self._made(drawings, size, written)

    async def i2i(
        self,
        prompt: str,
        image: MediaBytes,
        *,
        width: int | None = None,
        height: int | None = None,
        format: str = "png",
        scene: str | None = None,
        model: str | None = None,
    ) -> Made:
        """Returns a drawing of this backend with its scene changed; see `Drawer` for `scene`.

        Raises `UnsupportedContentError` for other pictures, and `CorruptFileError` for what is not a picture.
        """
        from .resampling import check_readable
        from .stored_scenes import scene_of

        before = scene_of(image)
        if before is None:
            await self._owner.runtime.call(check_readable, bytes(image))
            hint = "Choose a backend with an image model, for example vision_backend='openai'."
            raise UnsupportedContentError("only pictures that this backend drew can be changed", hint=hint)
        long_side = 1024 / max(before.width, before.height)
        across = width or max(round(before.width * long_side), 1)
        down = height or max(round(before.height * long_side), 1)
        size, written = self._checked(across, down, format, model)
        drawing = await self._changed(before, prompt, size, self._method(scene))
        return await self._made([drawing], size, written)

    async def upscale_image(self, image: MediaBytes, *, scale: float = 2.0, format: str = "png") -> Made:
        """Returns a larger picture: a drawing is drawn again from its scene, others are resampled (Lanczos)."""
        from .resampling import enlarged, enlarged_size
        from .stored_scenes import scene_of

        if not 1 < scale <= 8:
            raise InvalidInputError(f"expected a number above 1, up to 8, got {scale!r}", path="scale")
        size = await self._owner.runtime.call(enlarged_size, bytes(image), scale)
        checked, written = self._checked(*size, format, None)
        scene = scene_of(image)
        if scene is not None:
            from .drawings import Drawing

            return await self._made([Drawing(scene, "kept", ())], checked, written)
        part = await self._owner.runtime.call(enlarged, bytes(image), checked, written)
        return Made(part, model=_ORIGIN, metadata={"method": "lanczos"})

    def list_models(self, *, task: str | None = None) -> list[dict[str, Any]]:
        """Returns the two ways in which scenes are made, and the resampler."""
        rows = [
            ("model", ["t2i", "i2i"], "The language model of the LLM writes a scene as data."),
            ("rules", ["t2i"], "Rules compose a scene of English words that they know."),
            ("lanczos", ["upscale_image"], "Drawings are drawn again; other pictures are resampled."),
        ]
        return [{"id": id, "tasks": tasks, "description": text} for id, tasks, text in rows if task in (None, *tasks)]

    def _method(self, asked: str | None) -> str:
        method = choice_of(asked or self._owner.config.get("vision_scene") or "auto", METHODS, "scene")
        llm = self._owner.llm
        return "rules" if method == "auto" and (llm.provider, llm.model) == _TOO_SMALL else method

    def _checked(self, width: int, height: int, format: str, model: str | None) -> tuple[tuple[int, int], str]:
        from .rendering import FORMATS, check_size

        if model not in (None, _ORIGIN):
            hint = "Set the model where the LLM is created, or choose a backend: vision_backend='openai', for example."
            raise InvalidInputError("drawings are made by the model of the LLM", path="model", hint=hint)
        size = size_of(width, height)
        check_size(*size)
        return size, choice_of("jpeg" if format == "jpg" else format, FORMATS, "format")

    async def _scene(self, prompt: str, size: tuple[int, int], seed: int | None, method: str) -> Drawing:
        from .drawings import written_by_model, written_by_rules

        if method == "rules":
            return written_by_rules(prompt, size, seed, None)
        try:
            return await written_by_model(self._owner, prompt, size, seed)
        except AbstractCoreError as error:
            if method == "model" or not _is_model_unusable(error):
                raise
            return written_by_rules(prompt, size, seed, error)

    async def _changed(self, before: Scene, change: str, size: tuple[int, int], method: str) -> Drawing:
        from .drawings import changed_by_model, changed_by_rules

        failure: AbstractCoreError | None = None
        if method != "rules":
            try:
                return await changed_by_model(self._owner, before, change, size)
            except AbstractCoreError as error:
                if method == "model" or not _is_model_unusable(error):
                    raise
                failure = error
        drawing = changed_by_rules(before, change, failure)
        if drawing is not None:
            return drawing
        hint = "They add, remove and colour motifs: add two boats; remove the sun; a red house."
        raise failure or UnsupportedContentError("the rules know no word of this change", hint=hint)

    async def _made(self, drawings: list[Drawing], size: tuple[int, int], format: str) -> Made:
        parts = [await self._drawn(drawing.scene, size, format) for drawing in drawings]
        warnings = [warning for drawing in drawings for warning in drawing.warnings]
        maker = drawings[0].maker
        metadata: dict[str, Any] = {
            "method": "scene",
            "scene_by": maker,
            "what": f"a drawing of a scene that {_BY[maker]}",
            "description": drawings[0].scene.description,
        }
        responses = [drawing.response for drawing in drawings if drawing.response is not None]
        if responses:
            metadata["answers"] = [_answer(each) for each in responses]
        return Made(parts, model=_ORIGIN, warnings=warnings, metadata=metadata)

    async def _drawn(self, scene: Scene, size: tuple[int, int], format: str) -> ImagePart:
        from .rendering import media_type_of

        content = await self._owner.runtime.call(self._render, scene.model_dump_json(), *size, format)
        return ImagePart(Blob.from_bytes(content, media_type_of(cast(Any, format))))

    def _render(self, scene: str, width: int, height: int, format: str) -> bytes:
        """Draws in a process of its own: the renderer holds the interpreter's lock, and cannot be interrupted."""
        from .rendering import rendered

        run = self._owner.isolation.run(
            rendered, (scene, width, height, format), source="the scene", seconds=_DRAW_SECONDS, timeout=None
        )
        (content,) = run
        return content


_BY = {
    "model": "the language model wrote as data",
    "rules": "rules made of the words of the prompt",
    "kept": "the picture kept",
}


def _is_model_unusable(error: AbstractCoreError) -> bool:
    """Returns whether rules may take the place of a model that failed so: not for what the user did wrong, nor at the
    time limit.
    """
    from abstractcore import ContentFilterError, RequestTimeoutError

    return not isinstance(error, InvalidInputError | ContentFilterError | RequestTimeoutError)


def _answer(response: GenerateResponse[Any]) -> dict[str, Any]:
    """Returns the usage of the model's answer; the answer has a record and a cost of its own."""
    cost = response.cost
    return {
        "model": response.model,
        "input": response.usage.input,
        "output": response.usage.output,
        "cost": None if cost is None else str(cost),
    }
