"""Checks what `llm.resume` is given: the state of a loop, and answers to its pending calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from ..errors import InvalidInputError
from ..schema import ToolAnswer, ToolLoop
from ..schema.quoting import shown

_ENDED = ("answered", "final")


def check_loop(loop: object) -> None:
    """Raises `InvalidInputError` unless `loop` is the state of a loop that can go on."""
    if not isinstance(loop, ToolLoop):
        hint = "Pass response.loop, or from_json(text) of a loop that to_json(response.loop) wrote."
        raise InvalidInputError(f"expected a ToolLoop, got {shown(loop)}", path="loop", hint=hint)
    if loop.status in _ENDED:
        hint = "For a further question: llm.generate(prompt, messages=[*messages, *response.messages])."
        raise InvalidInputError(f"the loop has ended: {loop.status}", path="loop.status", hint=hint)


def read_answers(answers: object, loop: ToolLoop) -> Mapping[str, ToolAnswer]:
    """Returns the answers by the id of their call; raises `InvalidInputError` for one to no pending call."""
    if not isinstance(answers, Sequence):
        hint = "For example: [pending.allow() for pending in loop.pending]."
        raise InvalidInputError(f"expected a list, got {type(answers).__name__}", path="answers", hint=hint)
    pending = {each.call.id: each for each in loop.pending}
    read: dict[str, ToolAnswer] = {}
    for index, answer in enumerate(cast("Sequence[object]", answers)):
        path = f"answers[{index}]"
        if not isinstance(answer, ToolAnswer):
            hint = "Answers are made by pending calls: pending.allow(), .deny(reason), .edit(arguments), .result(text)."
            raise InvalidInputError(f"expected a ToolAnswer, got {shown(answer)}", path=path, hint=hint)
        waits = pending.get(answer.call_id)
        if waits is None:
            known = ", ".join(pending) or "none"
            raise InvalidInputError(
                f"no call {shown(answer.call_id)} waits for an answer (waiting: {known})",
                path=path,
                hint="An answer can be used once: take the loop of the latest response.",
            )
        if answer.digest != waits.digest:
            raise InvalidInputError(
                f"the answer is to another call of {waits.call.name}: its arguments have changed since",
                path=f"{path}.digest",
                hint="Show the pending call again, and make the answer from it.",
            )
        if answer.call_id in read:
            raise InvalidInputError(f"two answers to the call {shown(answer.call_id)}", path=path)
        read[answer.call_id] = answer
    return read
