"""Reads MusicXML files with music21, and writes what they have as JSON, an object a file."""

import json
import sys
from importlib import import_module
from typing import Any

music21: Any = import_module("music21")
harmony, key, meter, stream, tempo = music21.harmony, music21.key, music21.meter, music21.stream, music21.tempo


def read(path: str) -> dict[str, Any]:
    score: Any = music21.converter.parse(path)
    first = score.parts[0].recurse()
    return {
        "title": score.metadata.title,
        "parts": [read_part(part) for part in score.parts],
        "sharps": first.getElementsByClass(key.KeySignature)[0].sharps,
        "meter": first.getElementsByClass(meter.TimeSignature)[0].ratioString,
        "quarters_per_minute": first.getElementsByClass(tempo.MetronomeMark)[0].getQuarterBPM(),
        "chords": [
            [float(chord.getOffsetInHierarchy(score)) * 4, sorted({pitch.pitchClass for pitch in chord.pitches})]
            for chord in first.getElementsByClass(harmony.ChordSymbol)
        ],
    }


def read_part(part: Any) -> dict[str, Any]:
    bars = list(part.getElementsByClass(stream.Measure))
    notes = [note for note in part.flatten().notes if not isinstance(note, harmony.ChordSymbol)]
    return {
        "name": part.partName,
        "bars": len(bars),
        "incomplete": [bar.number for bar in bars if bar.duration.quarterLength != bar.barDuration.quarterLength],
        "sounding": [
            [float(note.offset) * 4, sorted(pitch.midi for pitch in note.pitches)]
            for note in notes
            if note.tie is None or note.tie.type == "start"
        ],
        "letters": [note.pitches[0].name for note in notes if note.pitches],
        "lyrics": [[note.lyrics[0].text, note.lyrics[0].syllabic] for note in notes if note.lyrics],
    }


sys.stdout.write(json.dumps([read(path) for path in sys.argv[1:]]))
