"""Drawings: scenes that a model or rules made, with what has to be said of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from pydantic_core import from_json

from abstractcore import AbstractCoreError, CallWarning, GenerateResponse, OutputValidationError
from abstractcore.ports import BackendOwner

from ..problems import shortened
from .asking import WrittenScene, change_prompt, check_scene, instructions, on_canvas
from .repairs import repaired
from .rules import LONGEST_PROMPT, ComposedScene, change_scene, compose_scene
from .scene import Scene

_MOST_TOKENS = 2000
_MOST_WARNINGS = 20
_MOST_WORDS = 100


@dataclass(frozen=True)
class Drawing:
    """A scene that can be drawn, and who made it. `response` is the answer of the model."""

    scene: Scene
    maker: Literal["model", "rules", "kept"]
    warnings: tuple[CallWarning, ...]
    response: GenerateResponse[Any] | None = None


async def written_by_model(owner: BackendOwner, prompt: str, size: tuple[int, int], seed: int | None) -> Drawing:
    """Returns a scene that the model of the LLM wrote for a prompt; raises as `LLM.generate` does."""
    return await _asked(owner, prompt, size, {} if seed is None else {"seed": seed})


async def changed_by_model(owner: BackendOwner, scene: Scene, change: str, size: tuple[int, int]) -> Drawing:
    """Returns a scene as the model of the LLM changed it; raises as `LLM.generate` does."""
    return await _asked(owner, change_prompt(scene, change), size, {})


async def _asked(owner: BackendOwner, prompt: str, size: tuple[int, int], options: dict[str, Any]) -> Drawing:
    warnings: tuple[CallWarning, ...] = ()
    try:
        response = await owner.generate(
            prompt,
            system_prompt=instructions(*size),
            response_model=WrittenScene,
            output_check=check_scene,
            max_output_tokens=_MOST_TOKENS,
            **options,
        )
        written, answer = response.output, response
    except OutputValidationError as error:
        written, answer = _complete_part(error), error.response
        if written is None:
            raise
        message = f"the answer was cut off: the {len(written.items)} items that are complete are drawn"
        warnings = (CallWarning("scene_cut_off", "scene.items", message),)
    scene, repairs = repaired(on_canvas(written, *size))
    return Drawing(scene, "model", (*warnings, *_repair_warnings(repairs)), answer)


def _complete_part(error: OutputValidationError) -> Scene | None:
    """Returns the scene in an answer that was cut off, without its last item; None if nothing can be drawn."""
    reply = error.partial
    if reply is None or reply.finish_reason != "length":
        return None
    try:
        data = from_json(reply.text, allow_partial=True)
        scene = Scene.model_validate({**data, "items": data["items"][:-1]})
    except (ValueError, TypeError, KeyError):
        return None
    return None if check_scene(scene) else scene


def changed_by_rules(scene: Scene, change: str, failure: AbstractCoreError | None) -> Drawing | None:
    """Returns a scene as rules changed it; None if they know no word of the change."""
    composed = change_scene(scene, change)
    return None if composed is None else _of_rules(composed, change, failure)


def written_by_rules(
    prompt: str, size: tuple[int, int], seed: int | None, failure: AbstractCoreError | None
) -> Drawing:
    """Returns a scene that rules composed; `failure` is that of the model, if it was asked."""
    width, height = size
    composed = compose_scene(prompt, aspect=width / height, seed=seed)
    return _of_rules(composed, prompt, failure)


def _of_rules(composed: ComposedScene, prompt: str, failure: AbstractCoreError | None) -> Drawing:
    """Returns the drawing of a scene that rules made, with what has to be said of it."""
    warnings: list[CallWarning] = []
    if failure is not None:
        why = f"{type(failure).__name__}: {shortened(failure.message, 200)}"
        message = f"rules made the scene, since the model did not write one: {why}"
        warnings.append(CallWarning("scene_by_rules", "prompt", message))
    if len(prompt) > LONGEST_PROMPT:
        message = f"rules read the first {LONGEST_PROMPT:,} characters only"
        warnings.append(CallWarning("prompt_cut_off", "prompt", message, len(prompt), LONGEST_PROMPT))
    if composed.unknown:
        listed = ", ".join(composed.unknown[:_MOST_WORDS])
        more = len(composed.unknown) - _MOST_WORDS
        listed += f", and {more} more" if more > 0 else ""
        warnings.append(
            CallWarning("words_not_drawn", "prompt", f"these words are not drawn: {listed}", [*composed.unknown])
        )
    scene, repairs = repaired(composed.scene)
    return Drawing(scene, "rules", (*warnings, *_repair_warnings(repairs)))


def _repair_warnings(repairs: tuple[str, ...]) -> tuple[CallWarning, ...]:
    kept = [CallWarning("scene_repaired", f"scene.{line.partition(':')[0]}", line) for line in repairs[:_MOST_WARNINGS]]
    if len(repairs) > _MOST_WARNINGS:
        kept.append(CallWarning("scene_repaired", "scene", f"{len(repairs) - _MOST_WARNINGS} more repairs"))
    return tuple(kept)
