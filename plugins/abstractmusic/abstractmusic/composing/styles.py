"""`STYLES`: who plays what in a style of music."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Style:
    """A style, and its usual mood. `melody` and `chords` are instruments to choose from; `pattern`, `bass_line` and
    `beat` are names of patterns in `accompaniment`, `bass` and `drums`; `colour` is the share of sevenths (0 to 1).

    `tempo` limits that of the mood. Without `bass`, `pad` or `beat`, nothing plays it.
    """

    name: str
    mood: str
    melody: tuple[str, ...]
    chords: tuple[str, ...]
    pattern: str
    bass: str = ""
    bass_line: str = "roots"
    pad: str = ""
    beat: str = ""
    meter: str = "4/4"
    tempo: tuple[int, int] = (40, 220)
    colour: float = 0.1
    is_swung: bool = False
    words: str = ""


_ROWS = (
    Style(
        "pop", "happy", ("piano", "electric guitar", "flute", "square lead"),
        ("steel guitar", "piano", "electric piano"), "strum", "bass guitar", "pushed", "pad", "rock",
        words="pop, radio, jingle, indie",
    ),
    Style(
        "rock", "energetic", ("electric guitar", "rock organ", "synth lead"), ("distorted guitar",), "eighths",
        "bass guitar", "eighths", "", "rock", tempo=(100, 180), colour=0.0,
        words="rock, metal, punk, grunge, guitar riff",
    ),
    Style(
        "ballad", "romantic", ("violin", "oboe", "flute", "cello", "clarinet"), ("piano", "guitar"), "arpeggio",
        "double bass", "roots", "strings", "", tempo=(50, 92), colour=0.25,
        words="ballad, slow song, love song",
    ),
    Style(
        "jazz", "happy", ("saxophone", "trumpet", "vibraphone", "clarinet"), ("piano", "electric piano"), "comping",
        "double bass", "walking", "", "swing", tempo=(80, 200), colour=1.0, is_swung=True,
        words="jazz, swing, bebop, cafe, noir, lounge, big band, blues",
    ),
    Style(
        "lofi", "calm", ("electric piano", "vibraphone", "guitar"), ("electric piano", "guitar"), "sparse",
        "bass guitar", "pushed", "pad", "lofi", tempo=(68, 92), colour=0.9, is_swung=True,
        words="lofi, lo-fi, hip hop, hip-hop, study, trip hop",
    ),
    Style(
        "electronic", "energetic", ("synth lead", "square lead"), ("pad", "synth lead"), "sixteenths", "synth bass",
        "offbeats", "strings", "dance", tempo=(110, 150), colour=0.1,
        words=(
            "electronic, techno, house, dance, edm, trance, synthwave, disco, club, chiptune, 8-bit, video game, "
            "cyberpunk, futuristic"
        ),
    ),
    Style(
        "ambient", "dreamy", ("vibraphone", "flute", "celesta", "piano"), ("piano", "harp", "electric piano"),
        "waves", "", "roots", "pad", "", tempo=(50, 90), colour=0.6,
        words="ambient, drone, new age, atmospheric, spa, yoga, background",
    ),
    Style(
        "classical", "happy", ("violin", "flute", "oboe", "clarinet"), ("piano", "strings"), "alberti", "cello",
        "roots", "", "", colour=0.15,
        words="classical, baroque, sonata, minuet, mozart, bach, chamber, string quartet, symphony, elegant",
    ),
    Style(
        "waltz", "romantic", ("violin", "accordion", "clarinet", "flute"), ("piano", "strings", "accordion"),
        "after beats", "double bass", "roots", "", "", "3/4", (84, 190), 0.15,
        words="waltz, vienna, ballroom, musette, carousel, french",
    ),
    Style(
        "lullaby", "calm", ("music box", "celesta", "flute"), ("harp", "piano"), "arpeggio", "", "roots", "strings",
        "", "3/4", (56, 84), 0.05,
        words="lullaby, cradle, baby, bedtime, goodnight",
    ),
    Style(
        "folk", "playful", ("violin", "flute", "accordion", "harmonica"), ("steel guitar", "guitar", "banjo"),
        "strum", "double bass", "root and fifth", "", "light", colour=0.0,
        words="folk, country, acoustic, campfire, bluegrass, western, road",
    ),
    Style(
        "jig", "playful", ("flute", "violin", "accordion"), ("steel guitar", "guitar"), "strum", "double bass",
        "root and fifth", "", "light", "6/8", (96, 132), 0.0,
        words="jig, irish, celtic, pirate, sea shanty, shanty, tavern, medieval",
    ),
    Style(
        "march", "proud", ("trumpet", "flute", "brass"), ("brass", "horn"), "after beats", "tuba", "root and fifth",
        "", "march", tempo=(96, 126), colour=0.0,
        words="march, parade, military, fanfare, marching",
    ),
    Style(
        "cinematic", "epic", ("horn", "strings", "violin", "trumpet", "cello"), ("strings", "piano"), "pulse",
        "double bass", "eighths", "choir", "epic", colour=0.1,
        words="cinematic, film, movie, orchestral, orchestra, soundtrack, score",
    ),
    Style(
        "bossa", "happy", ("flute", "saxophone", "guitar"), ("guitar",), "bossa", "double bass", "root and fifth", "",
        "bossa", tempo=(100, 150), colour=0.9,
        words="bossa, bossa nova, samba, latin, brazil, brazilian, beach, tropical",
    ),
)  # fmt: skip
STYLES: dict[str, Style] = {row.name: row for row in _ROWS}
STYLE_WORDS: dict[str, Style] = {word: row for row in _ROWS for word in (row.name, *row.words.split(", "))}
"""Styles by all of their words."""
