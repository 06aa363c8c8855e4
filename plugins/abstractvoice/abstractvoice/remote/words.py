"""Words with their times become a transcript: segments end with sentences, at pauses, and where the speaker changes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from abstractcore.schema import Transcript, TranscriptSegment, TranscriptWord

_PAUSE_SECONDS = 1.0
_LONGEST_WORDS = 60


def transcript_of(
    words: Iterable[TranscriptWord], text: str, *, language: str | None, seconds: float | None, model: str
) -> Transcript:
    """Returns the transcript; of `text` alone if the vendor reports no words."""
    grouped = [_segment(group) for group in _groups([word for word in words if word.text.strip()])]
    if not grouped and text.strip():
        grouped = [TranscriptSegment(text.strip())]
    return Transcript(tuple(grouped), language=language or None, seconds=seconds, model=model or None)


def _groups(words: Sequence[TranscriptWord]) -> Iterable[list[TranscriptWord]]:
    group: list[TranscriptWord] = []
    for word in words:
        if group and _parts(group[-1], word, len(group)):
            yield group
            group = []
        group.append(word)
    if group:
        yield group


def _parts(before: TranscriptWord, after: TranscriptWord, count: int) -> bool:
    if before.speaker != after.speaker or before.text.rstrip().endswith((".", "!", "?", "\u3002")):
        return True
    pause = (after.start or 0.0) - (before.end or 0.0) if after.start is not None and before.end is not None else 0.0
    return pause > _PAUSE_SECONDS or count >= _LONGEST_WORDS


def _segment(words: Sequence[TranscriptWord]) -> TranscriptSegment:
    text = " ".join(word.text.strip() for word in words)
    return TranscriptSegment(text, words[0].start, words[-1].end, tuple(words), words[0].speaker)
