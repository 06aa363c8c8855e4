"""A picture that a language model draws as data, and changes in a second turn: no image model, no key.

Without an argument the model is scripted. `python picture.py local/qwen2.5-coder-1.5b "two boats"` asks the larger
embedded model, and `python picture.py rules "two boats"` composes by rules. The package
in plugins/abstractvision is needed.
"""

import json
import sys
from typing import Any

from abstractcore import create_llm

DAY: dict[str, Any] = {
    "description": "A lighthouse on a rocky shore at sunset, with two sailing boats and gulls.",
    "width": 1000,
    "height": 750,
    "background": {"colors": ["#3d2c6b", "#d1495b", "#f9a35b", "#ffe0a3"], "positions": [0, 0.25, 0.45, 0.6]},
    "items": [
        {"kind": "circle", "cx": 330, "cy": 430, "r": 70, "fill": "#fff1c1"},
        {"kind": "rect", "x": 0, "y": 450, "width": 1000, "height": 300,
         "fill": {"colors": ["#c8553d", "#1f3b5b"]}},
        {"kind": "polygon", "points": "290,455 370,455 420,750 240,750", "fill": "#ffe0a3", "opacity": 0.35},
        {"kind": "motif", "name": "boat", "x": 180, "y": 450, "size": 130},
        {"kind": "motif", "name": "boat", "x": 520, "y": 500, "size": 190, "color": "#5c3a21", "flip": True},
        {"kind": "path", "d": "M 620 750 Q 640 560 760 540 Q 900 520 1000 590 L 1000 750 Z", "fill": "#2f2a3a"},
        {"kind": "motif", "name": "lighthouse", "x": 800, "y": 330, "size": 460},
        {"kind": "motif", "name": "bird", "x": 420, "y": 180, "size": 70},
        {"kind": "motif", "name": "bird", "x": 500, "y": 220, "size": 45},
        {"kind": "text", "x": 40, "y": 715, "text": "Kap Arkona", "size": 44, "fill": "#ffe0a3", "bold": True},
    ],
}  # fmt: skip
NIGHT: dict[str, Any] = {
    **DAY,
    "description": "The lighthouse at night, under the moon and stars.",
    "background": {"colors": ["#070b24", "#1b2a5c", "#3a4a86"]},
    "items": [
        {"kind": "motif", "name": "moon", "x": 330, "y": 150, "size": 130},
        *({"kind": "motif", "name": "star", "x": x, "y": y, "size": 26} for x, y in ((90, 90), (200, 260), (560, 90))),
        {"kind": "rect", "x": 0, "y": 450, "width": 1000, "height": 300, "fill": {"colors": ["#22305e", "#0a1030"]}},
        *DAY["items"][3:7],
        DAY["items"][9],
    ],
}

prompt = sys.argv[2] if len(sys.argv) > 2 else "A lighthouse on a rocky shore at sunset, with two boats"
options: dict[str, Any] = {"vision_backend": "drawing"}
provider = sys.argv[1] if len(sys.argv) > 1 else "scripted"
if provider == "rules":
    provider, options = "scripted", {**options, "vision_scene": "rules"}
if provider == "scripted":
    options["replies"] = [json.dumps(DAY), json.dumps(NIGHT)]
llm = create_llm(provider, **options)

picture = llm.vision.t2i(prompt, width=800, height=600)
print(picture.save("picture.png"), f"is {picture.metadata['what']}")
night = llm.vision.i2i("Make it night, with a moon and stars.", picture.part)
print(night.save("picture-at-night.png"), f"is {night.metadata['what']}")
large = llm.vision.upscale_image(night.part, scale=2)
print(large.save("picture-large.png"), f"is {large.metadata['what']}, {large.part.to_pil().width} pixels wide")
for warning in (*picture.warnings, *night.warnings):
    print("warning:", warning.message)
