"""A PDF to a typed object with evidence: every quote is searched in the text of the PDF, and not trusted.

Without an argument it runs with a recorded answer. `python extract_invoice.py local/qwen2.5-coder-1.5b` asks the larger
embedded model, `openai/gpt-5.4-mini` OpenAI's.
"""

import json
import sys
from dataclasses import dataclass
from pathlib import Path

from abstractcore import create_llm


@dataclass
class Item:
    name: str
    amount: float


@dataclass
class Invoice:
    number: str
    date: str
    items: list[Item]
    total: float
    currency: str


RECORDED = {  # the answer of local/qwen2.5-coder-1.5b: the values are right, one quote is of another line
    "value": {
        "number": "HL-2093",
        "date": "14 March 2026",
        "items": [{"name": "Desk lamp, brass", "amount": 1180.0}, {"name": "Delivery", "amount": 54.5}],
        "total": 1234.5,
        "currency": "EUR",
    },
    "quotes": {
        "number": "Harbour Lamps Ltd",
        "date": "14 March 2026",
        "items": [{"name": "Desk lamp, brass", "amount": "1,180.00"}, {"name": "Delivery", "amount": "54.50"}],
        "total": "1,234.50",
        "currency": "EUR",
    },
}

invoice = Path(__file__).parent / "media" / "invoice.pdf"
if len(sys.argv) > 1:
    llm = create_llm(sys.argv[1], temperature=0)
else:
    llm = create_llm("scripted", replies=[json.dumps(RECORDED)])
response = llm.generate("Extract the invoice.", media=[invoice], response_model=Invoice, evidence=True)

print(response.output)
for path, found in response.evidence.items():
    where = f"page {found.page}, {found.start}-{found.end}: {found.text}" if found.text else "not found"
    print(f"{path:15} {where}{f' (DOUBTFUL: {found.reason})' if found.reason else ''}")
