"""`Score`: a piece of music as data. Times are sixteenths from the beginning of the piece, pitches are MIDI numbers."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..theory import Chord, Key, Meter
from .instruments import INSTRUMENTS, Instrument

SLOWEST, FASTEST = 20.0, 320.0
"""Beats a minute that a score may have."""
TAIL = 1.2
"""Seconds after the last bar, in which sounds die away."""


@dataclass(frozen=True, slots=True)
class Note:
    """A note, or several at once. `velocity` is 1 to 127. A syllable whose word goes on ends with `-`."""

    start: int
    length: int
    pitches: tuple[int, ...]
    velocity: int = 80
    lyric: str | None = None

    @property
    def end(self) -> int:
        """Where it ends."""
        return self.start + self.length


@dataclass(frozen=True, slots=True)
class Voice:
    """What one instrument plays, in order of time. `part` is what it does: melody, chords, bass, drums, ...

    With `has_pedal`, notes go on sounding until the harmony changes.
    """

    name: str
    instrument: str
    notes: tuple[Note, ...]
    part: str = "melody"
    has_pedal: bool = False

    @property
    def played_by(self) -> Instrument:
        """The instrument; raises `KeyError` if none has this name."""
        return INSTRUMENTS[self.instrument]


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the form: verse, chorus. `bar` counts from 0."""

    name: str
    bar: int
    bars: int


@dataclass(frozen=True, slots=True)
class Harmony:
    """A chord, from `start` until the next one."""

    start: int
    chord: Chord


@dataclass(frozen=True, slots=True)
class Score:
    """A piece. `tempo` counts beats a minute: dotted quarters in 6/8.

    `is_swung` delays every second eighth when it is played, as jazz does; it is written straight.
    """

    title: str
    key: Key
    meter: Meter
    tempo: float
    bars: int
    voices: tuple[Voice, ...]
    sections: tuple[Section, ...] = ()
    harmony: tuple[Harmony, ...] = ()
    is_swung: bool = False
    composer: str = ""
    moods: tuple[str, ...] = field(default=())

    @property
    def length(self) -> int:
        """Sixteenths in the piece."""
        return self.bars * self.meter.bar

    @property
    def seconds_per_sixteenth(self) -> float:
        """How long a sixteenth is, in seconds."""
        return 60.0 / self.tempo / self.meter.pulse

    @property
    def seconds(self) -> float:
        """How long the piece is, in seconds, until the end of its last bar."""
        return self.length * self.seconds_per_sixteenth

    @property
    def quarters_per_minute(self) -> float:
        """The tempo in quarters."""
        return self.tempo * self.meter.pulse / 4

    def voice(self, part: str) -> Voice | None:
        """Returns the first voice with a part; None if there is none."""
        return next((voice for voice in self.voices if voice.part == part), None)
