"""A song as a model writes it."""

from __future__ import annotations

import json
from typing import Any

RAIN: dict[str, Any] = {
    "title": "Rain",
    "key": "A minor",
    "meter": "4/4",
    "tempo": 84,
    "style": "ballad",
    "sections": [
        {
            "name": "verse",
            "chords": ["Am", "F", "C", "G"],
            "lyrics": "Rain on the window\nslowly it falls",
            "voices": [
                {
                    "part": "melody",
                    "instrument": "oboe",
                    "bars": ["E5:1 D5:0.5 C5:0.5 A4:2", "A4:1 C5:1 F5:2", "E5:1.5 G5:0.5 E5:2", "D5:3 r:1"],
                }
            ],
        },
        {
            "name": "chorus",
            "chords": ["F", "G", "E", "Am"],
            "lyrics": "",
            "voices": [
                {
                    "part": "melody",
                    "instrument": "oboe",
                    "bars": ["A5:1 G5:1 F5:1 E5:1", "D5:1 E5:1 F5:1 G5:1", "A5:2 G#5:2", "A5:4"],
                },
                {"part": "bass", "instrument": "cello", "bars": ["F2:4", "G2:4", "E2:4", "A2:4"]},
            ],
        },
    ],
}


def sheet(**changes: Any) -> str:
    """The answer of a model: the song with other fields."""
    return json.dumps({**RAIN, **changes})
