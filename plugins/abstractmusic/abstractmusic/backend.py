"""`Composer`: the backend of `llm.music` that composes: the model writes a score, or rules do, and plays it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from time import monotonic
from typing import Any, Literal, cast, get_args

from abstractcore import AbstractCoreError, CallWarning, InvalidInputError, OutputValidationError, RequestTimeoutError
from abstractcore.ports import BackendOwner, Made

from .composing import RULES, Wishes, composed, wishes_of
from .files import FORMATS, SCORES, parts_of
from .scores import Score
from .written import Sheet, instruction_for, read_score

Who = Literal["auto", "model"]
_WHO = get_args(Who)
_TOO_SMALL = "local"
"""The provider of the embedded model, which is too small to write music: rules are better, and faster."""


@dataclass(frozen=True, slots=True)
class Composition:
    """A score, who composed it, and what there is to say about it."""

    score: Score
    composer: str
    repairs: tuple[str, ...] = ()
    by_rules: tuple[str, ...] = ()
    warnings: list[CallWarning] = field(default_factory=list[CallWarning])


class Composer:
    """Composes a score by the model, or by rules where that cannot, and plays it.

    `music_composer` and `music_soundfont` of `create_llm` are its options.
    """

    is_local = True

    def __init__(self, owner: BackendOwner) -> None:
        self._owner = owner

    async def t2m(
        self,
        prompt: str,
        *,
        lyrics: str = "",
        format: str = "wav",
        seconds: float | None = None,
        duration: float | None = None,
        tempo: float | None = None,
        key: str | None = None,
        meter: str | None = None,
        mood: str | None = None,
        seed: int | None = None,
        also: Sequence[str] = (),
    ) -> Made:
        """Returns the music as a file, and further ones: `also` names formats of scores, and "stems".

        `duration` is another name of `seconds`. Raises `InvalidInputError` for impossible wishes, and with the option
        `music_composer="model"` errors of the model, where rules would compose otherwise.
        """
        _check(format, also)
        wanted = seconds if seconds is not None else duration
        wishes = wishes_of(prompt, lyrics=lyrics, seconds=wanted, tempo=tempo, key=key, meter=meter, mood=mood)
        made = await self._composition(wishes, seed)
        warnings = [*made.warnings, *_unmet(wishes, made.score, format)]
        soundfont = cast("str | None", self._owner.config.get("music_soundfont"))
        report = self._until_the_limit()
        parts = await self._owner.runtime.call(
            lambda: parts_of(made.score, wishes.seconds, format, also, soundfont, report)
        )
        return Made(parts, model=made.composer, warnings=warnings, metadata=_metadata(made, wishes, seed))

    async def _composition(self, wishes: Wishes, seed: int | None) -> Composition:
        """Returns the piece that the model composes, or rules where it cannot."""
        llm, who = self._owner.llm, self._who()
        if who == "auto" and llm.provider == _TOO_SMALL:
            return await self._by_rules(wishes, seed)
        try:
            reply = await self._owner.generate(instruction_for(wishes), response_model=Sheet)
            read = await self._owner.runtime.call(lambda: read_score(reply.output, wishes, seed))
        except RequestTimeoutError:
            raise
        except (AbstractCoreError, ValueError) as error:
            if who == "model":
                raise _failed(error) from error
            composition = await self._by_rules(wishes, seed)
            why = " ".join(str(error).split())[:300]
            composition.warnings.append(
                CallWarning("composed_by_rules", "composer", f"The model wrote no score, so rules composed: {why}")
            )
            return composition
        name = f"{llm.provider}/{reply.model or llm.model}"
        return Composition(read.score, name, read.repairs, read.by_rules)

    def _until_the_limit(self) -> Callable[[float, float | None, str], None]:
        """Returns a function that reports progress, and ends the work of a call whose time is over."""
        left = self._owner.time_left
        end = None if left is None else monotonic() + left

        def report(done: float, total: float | None, what: str) -> None:
            if end is not None and monotonic() > end:
                raise RequestTimeoutError("The time limit was reached while the music was played.")
            self._owner.progress(done, total, what)

        return report

    def _who(self) -> Who:
        value = self._owner.config.get("music_composer") or "auto"
        if value not in _WHO:
            hint = f"Write one of {', '.join(_WHO)}, or music_backend='rules'."
            raise InvalidInputError(f"no composer is called {str(value)[:40]!r}", path="music_composer", hint=hint)
        return cast("Who", value)

    async def _by_rules(self, wishes: Wishes, seed: int | None) -> Composition:
        score = await self._owner.runtime.call(lambda: composed(wishes, seed))
        warnings: list[CallWarning] = []
        if not wishes.understood and wishes.mood is None:
            about = f"{score.moods[1]} in a {score.moods[0]} mood"
            warnings.append(
                CallWarning(
                    "prompt_not_understood",
                    "prompt",
                    f"Rules know no word of the prompt for a mood, a style or an instrument: it is {about}.",
                )
            )
        return Composition(score, RULES, by_rules=("all",), warnings=warnings)


class RulesComposer(Composer):
    """Composes by rules, without asking the model."""

    async def _composition(self, wishes: Wishes, seed: int | None) -> Composition:
        return await self._by_rules(wishes, seed)


def _check(format: str, also: Sequence[str]) -> None:
    for path, name, known in [("format", format, FORMATS), *(("also", each, (*SCORES, "stems")) for each in also)]:
        if name not in known:
            hint = f"Write one of {', '.join(known)}."
            raise InvalidInputError(f"no format is called {str(name)[:40]!r}", path=path, hint=hint)


def _failed(error: Exception) -> Exception:
    """Returns the error of a model that was to compose: for an answer that cannot be read, a typed one."""
    if isinstance(error, AbstractCoreError):
        return error
    return OutputValidationError(f"The model's score cannot be played: {error}.")


def _unmet(wishes: Wishes, score: Score, format: str) -> list[CallWarning]:
    """Returns warnings for what was asked for and could not be done."""
    warnings: list[CallWarning] = []
    if score.seconds > wishes.seconds:
        text = f"One bar at {score.tempo:g} beats a minute lasts {score.seconds:.1f} seconds: the music is longer."
        warnings.append(CallWarning("longer", "seconds", text, wishes.seconds, round(score.seconds, 1)))
    if wishes.lyrics.strip():
        melody = score.voice("melody")
        sung = any(note.lyric for note in melody.notes) if melody else False
        text = "Their melody is played, and no voice sings the words" if format not in SCORES else ""
        if not sung:
            text = "No note has a syllable of them"
        if text:
            warnings.append(CallWarning("lyrics_not_sung", "lyrics", f"{text}: the words stand in MIDI and MusicXML."))
    return warnings


def _metadata(made: Composition, wishes: Wishes, seed: int | None) -> dict[str, Any]:
    score = made.score
    return {
        "composer": made.composer,
        "title": score.title,
        "key": score.key.name,
        "meter": score.meter.name,
        "tempo": score.tempo,
        "bars": score.bars,
        "sections": [section.name for section in score.sections],
        "voices": [{"name": voice.name, "instrument": voice.instrument, "part": voice.part} for voice in score.voices],
        "moods": list(score.moods),
        "understood": list(wishes.understood),
        "repairs": list(made.repairs),
        "by_rules": list(made.by_rules),
        "seed": seed,
    }
