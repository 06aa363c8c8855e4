"""`Music`: `llm.music`, music of texts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias, Unpack

from ..concurrency import drive
from ..option_help import takes
from ..schema import AudioPart, DocumentPart, MediaResult
from .arguments import checked_text
from .calls import BackendRequest
from .facade import Facade
from .options import MusicOptions

MusicPart: TypeAlias = AudioPart | DocumentPart
"""Sound, or a score."""
_PARTS = (AudioPart, DocumentPart)
_OPTIONS = frozenset(MusicOptions.__annotations__) | {"lyrics"}


class Music(Facade):
    """Composes. Its backend is chosen by `music_backend=...` in `create_llm`; other options that begin with `music_`
    are the backend's.
    """

    capability = "music"

    @takes(MusicOptions)
    def t2m(self, prompt: str, *, lyrics: str | None = None, **options: Unpack[MusicOptions]) -> MediaResult[MusicPart]:
        """Returns music as a text describes it: `llm.music.t2m("a calm waltz").save("waltz.wav")`.
        Of several parts the first is what was asked for; others are stems or scores.

        Raises `CapabilityUnavailableError`, and errors of the backend.
        """
        return drive(self.make(self._caller.sync(), _music_request(prompt, lyrics, options), *_PARTS))

    @takes(MusicOptions)
    async def at2m(
        self, prompt: str, *, lyrics: str | None = None, **options: Unpack[MusicOptions]
    ) -> MediaResult[MusicPart]:
        """The async version of `t2m`."""
        return await self.make(
            self._caller.asynchronous(), _music_request(prompt, lyrics, options), AudioPart, DocumentPart
        )


def _music_request(prompt: object, lyrics: object, options: Mapping[str, Any]) -> BackendRequest:
    return BackendRequest("t2m", "media", (checked_text(prompt, "prompt"),), {**options, "lyrics": lyrics}, _OPTIONS)
