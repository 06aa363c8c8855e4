"""Finds notes that say the same in other words, and groups of similar ones. Offline, with the embedded model.

Run: python examples/duplicates.py [FILE with a text a line]
"""

import sys
from pathlib import Path

from abstractcore import create_llm

NOTES = [
    "The office is closed on Monday.",
    "Please bring the budget report to the meeting.",
    "On Monday the office will be closed.",
    "The printer on the second floor is out of paper.",
    "Bring the report on the budget to the meeting, please.",
    "There is no paper left in the second floor printer.",
    "Lunch is at noon.",
]


def main() -> None:
    """Prints pairs of near-duplicates, then groups of texts that are about the same."""
    texts = [line for line in Path(sys.argv[1]).read_text().splitlines() if line.strip()] if sys.argv[1:] else NOTES
    embeddings = create_llm().embed(texts, truncate=True)
    for first, second, score in embeddings.duplicates(0.9):
        sys.stdout.write(f"{score:.2f}  {texts[first]}\n      {texts[second]}\n")
    for number, group in enumerate(embeddings.clusters(0.75), 1):
        sys.stdout.write(f"group {number}: lines {', '.join(str(position + 1) for position in group)}\n")
    left = len(texts) - sum(map(len, embeddings.clusters(0.75)))
    sys.stdout.write(f"{len(texts)} texts, {left} of them like no other\n")


if __name__ == "__main__":
    main()
