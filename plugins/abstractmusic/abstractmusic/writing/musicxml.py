"""`musicxml_of`: a score as MusicXML 4.0, partwise, for programs that show or print notes."""

from __future__ import annotations

from xml.etree.ElementTree import Element, SubElement, indent, tostring

from ..scores import Harmony, Score, Voice
from ..theory import SIXTEENTHS_PER_QUARTER, Key
from .measures import VALUES, Symbol, measures_of
from .percussion import line_of, merged

_DOCTYPE = (
    b'<?xml version="1.0" encoding="UTF-8" standalone="no"?>\n'
    b'<!DOCTYPE score-partwise PUBLIC "-//Recordare//DTD MusicXML 4.0 Partwise//EN" '
    b'"http://www.musicxml.org/dtds/partwise.dtd">\n'
)
_CLEFS = {"treble": ("G", "2"), "bass": ("F", "4"), "percussion": ("percussion", "")}
_ALTERATIONS = {1: "sharp", 2: "double-sharp", -1: "flat", -2: "flat-flat", 0: "natural"}
_BEAT_UNITS = {2: ("eighth", 0), 4: ("quarter", 0), 6: ("quarter", 1), 8: ("half", 0)}


def musicxml_of(score: Score) -> bytes:
    """Returns the document. Chord symbols and names of sections stand over the first part, lyrics under their notes."""
    root = Element("score-partwise", version="4.0")
    SubElement(SubElement(root, "work"), "work-title").text = _plain(score.title)
    if score.composer:
        creator = SubElement(SubElement(root, "identification"), "creator", type="composer")
        creator.text = _plain(score.composer)
    part_list = SubElement(root, "part-list")
    for number, voice in enumerate(score.voices, 1):
        _list_part(part_list, voice, number)
    for number, voice in enumerate(score.voices, 1):
        _part(root, score, voice, number)
    indent(root)
    return _DOCTYPE + tostring(root, encoding="utf-8") + b"\n"


def _list_part(part_list: Element, voice: Voice, number: int) -> None:
    part = SubElement(part_list, "score-part", id=f"P{number}")
    SubElement(part, "part-name").text = _plain(voice.name)
    drums = sorted({pitch for note in voice.notes for pitch in note.pitches}) if voice.played_by.is_drums else [0]
    for drum in drums:
        instrument = SubElement(part, "score-instrument", id=f"P{number}-I{drum + 1}")
        SubElement(instrument, "instrument-name").text = _plain(voice.instrument)
    for drum in drums:
        midi = SubElement(part, "midi-instrument", id=f"P{number}-I{drum + 1}")
        SubElement(midi, "midi-channel").text = "10" if voice.played_by.is_drums else str(_channel(number))
        SubElement(midi, "midi-program").text = str(voice.played_by.program + 1)
        if voice.played_by.is_drums:
            SubElement(midi, "midi-unpitched").text = str(drum + 1)


def _channel(number: int) -> int:
    """Returns a MIDI channel, 1 to 16, other than 10."""
    return (number - 1) % 15 + 1 + ((number - 1) % 15 >= 9)


def _part(root: Element, score: Score, voice: Voice, number: int) -> None:
    part = SubElement(root, "part", id=f"P{number}")
    notes = merged(voice.notes, score.meter) if voice.played_by.is_drums else voice.notes
    for bar, symbols in enumerate(measures_of(notes, score.meter, score.bars)):
        measure = SubElement(part, "measure", number=str(bar + 1))
        if bar == 0:
            _attributes(measure, score, voice)
        if number == 1:
            _headings(measure, score, bar)
            _with_harmony(measure, score, voice, bar, symbols)
        else:
            _symbols(measure, score.key, voice, number, symbols)
        if bar == score.bars - 1:
            SubElement(SubElement(measure, "barline", location="right"), "bar-style").text = "light-heavy"


def _attributes(measure: Element, score: Score, voice: Voice) -> None:
    attributes = SubElement(measure, "attributes")
    SubElement(attributes, "divisions").text = str(SIXTEENTHS_PER_QUARTER)
    key = SubElement(attributes, "key")
    SubElement(key, "fifths").text = "0" if voice.played_by.is_drums else str(score.key.fifths)
    SubElement(key, "mode").text = score.key.mode
    time = SubElement(attributes, "time")
    SubElement(time, "beats").text = str(score.meter.count)
    SubElement(time, "beat-type").text = str(score.meter.unit)
    sign, line = _CLEFS[voice.played_by.clef]
    clef = SubElement(attributes, "clef")
    SubElement(clef, "sign").text = sign
    if line:
        SubElement(clef, "line").text = line


def _headings(measure: Element, score: Score, bar: int) -> None:
    """Writes the tempo over the first bar, and the name of a section over its first bar."""
    name = next((section.name for section in score.sections if section.bar == bar), None)
    if name:
        SubElement(_direction(measure), "rehearsal").text = _plain(name)
    if bar:
        return
    if score.is_swung:
        SubElement(_direction(measure), "words").text = "Swing"
    metronome = SubElement(_direction(measure), "metronome")
    unit, dots = _BEAT_UNITS[score.meter.pulse]
    SubElement(metronome, "beat-unit").text = unit
    for _ in range(dots):
        SubElement(metronome, "beat-unit-dot")
    SubElement(metronome, "per-minute").text = f"{score.tempo:g}"
    SubElement(measure[-1], "sound", tempo=f"{score.quarters_per_minute:g}")


def _direction(measure: Element) -> Element:
    return SubElement(SubElement(measure, "direction", placement="above"), "direction-type")


def _with_harmony(measure: Element, score: Score, voice: Voice, bar: int, symbols: list[Symbol]) -> None:
    """Writes symbols with the chords that begin in the bar before the symbol at or after which they begin."""
    start = bar * score.meter.bar
    waiting = [each for each in score.harmony if start <= each.start < start + score.meter.bar]
    at = start
    for symbol in symbols:
        while waiting and waiting[0].start < at + symbol.length:
            harmony = waiting.pop(0)
            _harmony(measure, harmony, score.key, harmony.start - at)
        _symbols(measure, score.key, voice, 1, [symbol])
        at += symbol.length


def _harmony(measure: Element, harmony: Harmony, key: Key, offset: int) -> None:
    element, chord = SubElement(measure, "harmony"), harmony.chord
    for name, pitch_class in (("root", chord.root), ("bass", chord.lowest)):
        if name == "bass" and chord.lowest == chord.root:
            continue
        letter, alteration, _ = key.spelled(pitch_class + 60)
        place = SubElement(element, name)
        SubElement(place, f"{name}-step").text = letter
        if alteration:
            SubElement(place, f"{name}-alter").text = str(alteration)
        if name == "root":
            SubElement(element, "kind", text=chord.quality).text = chord.kind
    if offset:
        SubElement(element, "offset").text = str(offset)


def _symbols(measure: Element, key: Key, voice: Voice, number: int, symbols: list[Symbol]) -> None:
    for symbol in symbols:
        if not symbol.pitches:
            note = SubElement(measure, "note")
            SubElement(note, "rest")
            _length(note, symbol)
        for index, pitch in enumerate(symbol.pitches):
            _note(measure, key, voice, number, symbol, pitch, is_chord=index > 0)


def _note(measure: Element, key: Key, voice: Voice, number: int, symbol: Symbol, pitch: int, *, is_chord: bool) -> None:
    note = SubElement(measure, "note")
    if is_chord:
        SubElement(note, "chord")
    is_drum = voice.played_by.is_drums
    letter, alteration, octave = line_of(pitch) if is_drum else key.spelled(pitch)
    place = SubElement(note, "unpitched" if is_drum else "pitch")
    SubElement(place, "display-step" if is_drum else "step").text = letter
    if alteration:
        SubElement(place, "alter").text = str(alteration)
    SubElement(place, "display-octave" if is_drum else "octave").text = str(octave)
    ties = [kind for kind, tied in (("stop", symbol.tied_before), ("start", symbol.tied_after)) if tied]
    _length(note, symbol, ties, instrument=f"P{number}-I{pitch + 1}" if is_drum else "")
    if ties:
        notations = SubElement(note, "notations")
        for kind in ties:
            SubElement(notations, "tied", type=kind)
    if symbol.lyric and not is_chord:
        _lyric(note, symbol.lyric, in_word=symbol.in_word)


def _length(note: Element, symbol: Symbol, ties: list[str] | None = None, *, instrument: str = "") -> None:
    SubElement(note, "duration").text = str(symbol.length)
    for kind in ties or []:
        SubElement(note, "tie", type=kind)
    if instrument:
        SubElement(note, "instrument", id=instrument)
    SubElement(note, "voice").text = "1"
    name, dots = VALUES[symbol.length]
    SubElement(note, "type").text = name
    for _ in range(dots):
        SubElement(note, "dot")


def _lyric(note: Element, text: str, *, in_word: bool) -> None:
    goes_on = text.endswith("-")
    syllabic = ("middle" if goes_on else "end") if in_word else ("begin" if goes_on else "single")
    lyric = SubElement(note, "lyric", number="1")
    SubElement(lyric, "syllabic").text = syllabic
    SubElement(lyric, "text").text = _plain(text.removesuffix("-"))


def _plain(text: str) -> str:
    """Returns a text without characters that XML forbids."""
    return "".join(
        each for each in text if each >= " " and each not in "\ufffe\uffff" and not "\ud800" <= each <= "\udfff"
    )
