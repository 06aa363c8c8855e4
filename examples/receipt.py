"""A photo of a receipt to a typed object, with a model that accepts no images: OCR reads the photo on this machine.

Without an argument it runs with a scripted answer. `python receipt.py local/qwen2.5-coder-1.5b` asks the larger
embedded model, `openai/gpt-5.4-mini` OpenAI's, which gets the text as well: the policy says so.
"""

import json
import sys
from dataclasses import dataclass
from pathlib import Path

from abstractcore import create_llm


@dataclass
class Item:
    name: str
    quantity: int
    amount: float


@dataclass
class Receipt:
    shop: str
    number: str
    date: str
    items: list[Item]
    total: float
    currency: str


SCRIPTED = {
    "shop": "Corner Bakery",
    "number": "004812",
    "date": "2026-11-21",
    "items": [
        {"name": "Rye bread", "quantity": 2, "amount": 7.60},
        {"name": "Apple cake", "quantity": 1, "amount": 4.25},
        {"name": "Coffee", "quantity": 3, "amount": 8.40},
        {"name": "Orange juice", "quantity": 1, "amount": 3.10},
    ],
    "total": 25.69,
    "currency": "EUR",
}

photo = Path(__file__).parent / "media" / "receipt.jpg"
if len(sys.argv) > 1:
    llm = create_llm(sys.argv[1], temperature=0)
else:
    llm = create_llm("scripted", replies=[json.dumps(SCRIPTED)])
response = llm.generate("Extract the receipt.", media=[photo], response_model=Receipt, media_policy={"image": "ocr"})

decision = response.media[0]
print(f"{decision.source}: {decision.fallback}, since {decision.reason}")
if decision.sent is not None and decision.sent.text is not None:
    for anchor in decision.sent.anchors:
        print(f"  {decision.sent.text[anchor.start : anchor.end]:24} at {anchor.box}")
print(response.output)
