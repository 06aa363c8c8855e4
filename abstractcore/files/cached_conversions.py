"""Converts files, and files inside of them; conversions are kept by content and settings, so that the same file is not
converted again.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Generator, Mapping, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from threading import BoundedSemaphore, Condition
from typing import TYPE_CHECKING, Any, cast

from ..errors import MediaError
from ..ports import Caption, Captioner, Conversion, FitsMedia, Fitted, MediaContext, MediaHandler
from ..ports.conversions import no_progress
from ..ports.runtimes import current_interruption, interruptible
from ..schema import ImagePart, MediaKind, MediaPart, TextPart, digest, to_data
from ..version import __version__
from .parts import handler_for, source_name
from .policies import allowed_fallbacks

if TYPE_CHECKING:
    from ..ports import Transcriber, Transcription
    from ..schema import AudioPart

_cores: dict[int, BoundedSemaphore] = {}
"""By process: a fork may happen while another thread holds one."""
_TEXT = frozenset({"text"})
_DEPTH = 3
"""Files in files in files are converted, and no further ones."""


def convert(handler: MediaHandler, part: MediaPart, context: MediaContext) -> Conversion:
    """Returns the conversion of a file by its handler, or the one that is kept, which costs nothing; blocks. Threads
    that ask for the same at once get the conversion of the first.

    One that asked a vision model is kept for the question of the user, others for all questions; one that has fewer
    images because of `context.max_images` is kept for this number, others for all numbers.
    """
    kept = kept_conversion(handler, part, context)
    if kept is not None:
        return replace(kept, usage=None)
    if context.conversions is None or part.blob.sha256 is None:
        return _convert_and_keep(handler, part, context)
    key = _key(handler, part, context, context.question, context.max_images)
    with running_conversions().turn(key, context.timeout) as waited:
        kept = kept_conversion(handler, part, context) if waited else None
        return _convert_and_keep(handler, part, context) if kept is None else replace(kept, usage=None)


def _convert_and_keep(handler: MediaHandler, part: MediaPart, context: MediaContext) -> Conversion:
    """Returns the conversion of a file by its handler, and keeps it."""
    captioner = _WatchedCaptioner(context.captioner)
    transcriber = None if context.transcriber is None else _WatchedTranscriber(context.transcriber)
    given = replace(context, captioner=captioner if context.captioner is not None else None, transcriber=transcriber)
    if isinstance(given.to_text, NestedFiles):
        given = replace(given, to_text=replace(given.to_text, context=given))
    conversion = handler.convert(part, given)
    if captioner.was_asked or (transcriber is not None and transcriber.was_asked):
        conversion = replace(conversion, recorded=True)
    store = context.conversions
    if store is None or part.blob.sha256 is None:
        return conversion
    question, most = context.question if captioner.was_asked else "", context.max_images
    if most is not None and (conversion.has_fewer_images or _images(conversion) > most):
        store.put(_key(handler, part, context, question, most), conversion)
    if not conversion.has_fewer_images:
        store.put(_key(handler, part, context, question, None), conversion)
    return conversion


def kept_conversion(handler: MediaHandler, part: MediaPart, context: MediaContext) -> Conversion | None:
    """Returns the conversion of a file that is kept, with what it cost; None if there is none. May block."""
    store = context.conversions
    if store is None or part.blob.sha256 is None:
        return None
    most = context.max_images
    questions = dict.fromkeys(("", context.question))
    for each in questions:
        kept = store.get(_key(handler, part, context, each, None))
        if kept is not None and (most is None or _images(kept) <= most):
            return kept
    found = (store.get(_key(handler, part, context, each, most)) for each in questions if most is not None)
    return next((kept for kept in found if kept is not None), None)


def fit(
    handler: FitsMedia, part: MediaPart, limits: Mapping[str, int], context: MediaContext, accepted: Set[str]
) -> Fitted:
    """Returns a file within limits, of an accepted type, or the one that is kept; blocks. That a file needs no change
    is kept too.
    """
    store = context.conversions
    if store is None or part.blob.sha256 is None:
        return _fit(handler, part, limits, accepted)
    content = [part.blob.sha256, part.blob.media_type, part.blob.name]
    key = digest({"version": __version__, "fit": dict(limits), "content": content, "accepted": sorted(accepted)})
    kept = store.get(key)
    if kept is not None:
        return _fitted_from_kept(kept, part)
    with running_conversions().turn(key, context.timeout) as waited:
        kept = store.get(key) if waited else None
        if kept is not None:
            return _fitted_from_kept(kept, part)
        fitted = _fit(handler, part, limits, accepted)
        store.put(key, Conversion(() if fitted.parts == (part,) else fitted.parts, "fitted", lost=fitted.lost))
        return fitted


def _fitted_from_kept(kept: Conversion, part: MediaPart) -> Fitted:
    """Returns a file within limits from what is kept of it: nothing, if it was within them as it is."""
    parts = (each for each in kept.parts if not isinstance(each, TextPart))
    fitted = tuple(replace(part, blob=each.blob) for each in parts)
    return Fitted(fitted or (part,), kept.lost)


def _fit(handler: FitsMedia, part: MediaPart, limits: Mapping[str, int], accepted: Set[str]) -> Fitted:
    """Fits a file, as many at once as there are cores: pixels need much memory."""
    process = os.getpid()
    cores = _cores.get(process) or _cores.setdefault(process, BoundedSemaphore(os.cpu_count() or 1))
    with cores:
        return handler.fit(part, cast(Any, limits), accepted)


class _WatchedCaptioner:
    """A captioner that notes whether it was asked."""

    def __init__(self, captioner: Captioner | None) -> None:
        self._captioner = captioner
        self.was_asked = False

    @property
    def name(self) -> str:
        """The name of the model."""
        return "" if self._captioner is None else self._captioner.name

    def __call__(
        self, images: Sequence[ImagePart], question: str, *, timeout: float | None, parent_id: str | None
    ) -> Caption:
        """As the captioner does it."""
        if self._captioner is None:
            raise MediaError("an image cannot be described", hint="Set vision_model=... in create_llm.")
        self.was_asked = True
        return self._captioner(images, question, timeout=timeout, parent_id=parent_id)


class _WatchedTranscriber:
    """A transcriber that notes whether it was asked."""

    def __init__(self, transcriber: Transcriber) -> None:
        self._transcriber = transcriber
        self.limits = transcriber.limits
        self.was_asked = False

    @property
    def name(self) -> str:
        """The name of the model."""
        return self._transcriber.name

    def __call__(self, recording: AudioPart, **options: Any) -> Transcription:
        """As the transcriber does it."""
        self.was_asked = True
        return self._transcriber(recording, **options)


def _image_rules(context: MediaContext) -> list[object]:
    """Returns the facts about images of the model; their number is `max_images`."""
    limits = {name: limit for name, limit in context.image_limits.items() if name != "images"}
    return [repr(context.image_tokens), limits]


def _images(conversion: Conversion) -> int:
    return sum(isinstance(part, ImagePart) for part in conversion.parts)


def _key(handler: MediaHandler, part: MediaPart, context: MediaContext, question: str, max_images: int | None) -> str:
    """Returns a digest of all that a conversion depends on: the content, and everything that the handler gets."""
    password, outputs = context.password(part), context.accepted_outputs
    nested = context.to_text
    return digest(
        {
            "version": __version__,
            "handler": handler.name,
            "content": part.blob.sha256,
            "type": [part.type, part.blob.media_type],
            "name": part.blob.name,
            "controls": to_data(part.controls) if part.controls is not None else None,
            "fallbacks": list(context.fallbacks),
            "outputs": sorted(outputs),
            "options": {name: str(value) for name, value in context.options.items() if name != "vision_model"},
            "vision_model": context.captioner.name if context.captioner is not None else None,
            "policies": dict(nested.policies) if isinstance(nested, NestedFiles) else {},
            "password": hashlib.sha256(password.encode()).hexdigest() if password is not None else None,
            "question": question,
            **({} if max_images is None else {"max_images": max_images}),
            "images": _image_rules(context) if "image/png" in outputs else None,
        }
    )


class RunningConversions:
    """The conversions that run, by key."""

    def __init__(self) -> None:
        self._runs: dict[str, object] = {}
        self._changed = Condition()

    @contextmanager
    def turn(self, key: str, seconds: float | None) -> Generator[bool]:
        """Waits until no other thread is in the body for this key, at most `seconds`, and runs the body; yields
        whether it waited. Others do not wait for a body whose call is interrupted: it may hang.

        Raises `StreamInterruptedError` if the call is interrupted while it waits.
        """
        run = object()
        waited = self._begin(key, run, seconds)
        end = partial(self._end, key, run)
        try:
            with interruptible(end):
                yield waited
        finally:
            end()

    def _begin(self, key: str, run: object, seconds: float | None) -> bool:
        """Returns whether it waited. After a wait that was too long, the run of the other thread stays the one that
        further threads wait for.
        """
        interruption = current_interruption()
        with interruptible(self._wake), self._changed:
            waited = key in self._runs
            if waited:
                self._changed.wait_for(
                    lambda: key not in self._runs or (interruption is not None and interruption.is_set), seconds
                )
            if interruption is not None:
                interruption.check()
            self._runs.setdefault(key, run)
            return waited

    def _end(self, key: str, run: object) -> None:
        with self._changed:
            if self._runs.get(key) is run:
                del self._runs[key]
                self._changed.notify_all()

    def _wake(self) -> None:
        with self._changed:
            self._changed.notify_all()


_of_process: dict[int, RunningConversions] = {}
"""By process: a forked one has the keys of its parent, but not the threads that will remove them."""


def running_conversions() -> RunningConversions:
    """Returns the conversions that run in this process."""
    process = os.getpid()
    return _of_process.get(process) or _of_process.setdefault(process, RunningConversions())


@dataclass(frozen=True, slots=True)
class NestedFiles:
    """Converts a file inside of a file to text, by the policy for its kind; callable, it blocks."""

    handlers: Sequence[MediaHandler]
    policies: Mapping[MediaKind, str]
    context: MediaContext
    depth: int = 1

    def __call__(self, part: MediaPart) -> Conversion:
        """Returns the text of a file.

        Raises `MediaError` if the policy refuses it, no fallback is usable, or it is nested too deeply.
        """

        source = source_name(part.blob)
        handler, kind = handler_for(part, self.handlers)
        policy = self.policies.get(kind, "auto")
        if policy == "refuse":
            raise MediaError(f"the policy for {kind} is 'refuse'", source=source)
        if self.depth > _DEPTH:
            raise MediaError(f"{source} is nested in more than {_DEPTH} files", source=source)
        fallbacks = [
            each
            for each in allowed_fallbacks(handler, policy)
            if "text" in each.outputs and (each.needs is None or each.needs in self.context.options)
        ]
        if handler is None or not fallbacks:
            raise MediaError(f"nothing converts {part.blob.media_type} to text", source=source)
        inner = replace(
            self.context,
            fallbacks=tuple(each.name for each in fallbacks),
            accepted_outputs=_TEXT,
            to_text=replace(self, depth=self.depth + 1),
            on_progress=no_progress,
        )
        return convert(handler, part, inner)
