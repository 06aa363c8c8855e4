"""A song from one sentence, as sound, MIDI and MusicXML: a model writes the score, and it is played on this machine.

Without an argument the model is scripted. `python song.py openai/gpt-5.4-mini "a sea shanty"` asks a real one, and
`python song.py rules "a sea shanty"` composes by rules, without a model. Needs the package in plugins/abstractmusic.
"""

import json
import sys
from pathlib import Path

from abstractcore import create_llm

SCRIPTED = {
    "title": "Harbour Lights",
    "key": "D minor",
    "meter": "3/4",
    "tempo": 108,
    "style": "waltz",
    "sections": [
        {
            "name": "verse",
            "chords": ["Dm", "Gm", "C", "F", "Bb", "Gm", "A", "A"],
            "lyrics": "Harbour lights are burning low\nwhere do all the sailors go",
            "voices": [
                {
                    "part": "melody",
                    "instrument": "accordion",
                    "bars": ["A4:1 F4:1 A4:1", "Bb4:1 A4:1 G4:1", "E4:3", "r:3",
                             "D5:1 D5:1 Bb4:1", "Bb4:1 A4:1 G4:1", "A4:3", "r:3"],
                }
            ],
        },
        {
            "name": "chorus",
            "chords": ["Dm", "F", "Gm", "Dm", "Gm", "Dm", "A7", "Dm"],
            "voices": [
                {
                    "part": "melody",
                    "instrument": "accordion",
                    "bars": ["D5:2 E5:1", "F5:2 C5:1", "D5:1 Bb4:2", "A4:3",
                             "Bb4:1 D5:1 Bb4:1", "A4:1 F4:1 A4:1", "G4:1 E4:1 C#4:1", "D4:3"],
                }
            ],
        },
    ],
}  # fmt: skip

arguments = sys.argv[1:]
prompt = arguments[1] if len(arguments) > 1 else "a waltz about a harbour at night"
if not arguments:
    llm = create_llm("scripted", replies=[json.dumps(SCRIPTED)])
elif arguments[0] == "rules":
    llm = create_llm(music_backend="rules")
else:
    llm = create_llm(arguments[0])

song = llm.music.t2m(prompt, seconds=30, seed=1, also=["midi", "musicxml"])
print(f"{song.metadata['title']}, in {song.metadata['key']}, by {song.model}")
for part, name in zip(song.parts, ("song.wav", "song.mid", "song.musicxml"), strict=True):
    print(part.save(Path(name)), part.blob.media_type)
print("arranged by rules:", song.metadata["by_rules"])
for warning in song.warnings:
    print(warning.message)
