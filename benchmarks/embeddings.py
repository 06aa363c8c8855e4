"""The embedded embedding model beside sentence-transformers with the original weights: how near the vectors are, which
sections they find, processor time, memory.

`python benchmarks/embeddings.py [--threads N]`. The reference is installed in `.cache/embeddings`, in the versions of
`embeddings.txt`; PyTorch needs 6 GB of disk. Texts are those of this repository's documentation. Each library runs in
processes of its own, in turns, and the best of its runs counts.
"""

from __future__ import annotations

import argparse
import base64
import json
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

_FOLDER = Path(__file__).parent
_ENVIRONMENT = _FOLDER.parent / ".cache" / "embeddings"
_RUNS = 2
_SENTENCES, _TIMED, _CHUNKS = 1000, 300, 20
_FIGURES = ("sentences", "chunks", "query processor", "query", "first", "megabytes")
_FENCED = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)


def sections() -> list[tuple[str, str]]:
    """Returns headings of the documentation and what is under them, as far as both are texts of some length."""
    found: list[tuple[str, str]] = []
    for file in sorted((_FOLDER.parent / "docs").glob("*.md")):
        title, *pieces = re.split(r"^#+ (.+)$", _FENCED.sub("", file.read_text()), flags=re.MULTILINE)
        assert not title.strip()
        for heading, text in zip(pieces[::2], pieces[1::2], strict=True):
            if len(text.split()) >= 20:
                found.append((re.sub(r"[`*\[\]]|\(.*?\)", "", heading), " ".join(text.split())))
    return found


def sentences() -> list[str]:
    """Returns sentences of all decisions and documentation, each once."""
    texts = [_FENCED.sub("", file.read_text()) for file in sorted((_FOLDER.parent / "docs").rglob("*.md"))]
    found = (" ".join(each.split()) for text in texts for each in re.split(r"(?<=[.!?])\s+|\n\n", text))
    return [*dict.fromkeys(each for each in found if 30 <= len(each) <= 300)]


def texts() -> dict[str, list[str]]:
    """Returns all that is embedded. Chunks are long enough to be cut at 256 tokens."""
    every, headed = sentences(), sections()
    words = " ".join(every).split()
    return {
        "sentences": every[:: len(every) // _TIMED][:_TIMED],
        "chunks": [" ".join(words[n * 300 : (n + 1) * 300]) for n in range(_CHUNKS)],
        "query": ["Which models accept images?"],
        "parity": every[:: len(every) // _SENTENCES][:_SENTENCES],
        "headings": [heading for heading, _ in headed],
        "sections": [text for _, text in headed],
    }


def measured(name: str, threads: int, given: dict[str, list[str]]) -> dict[str, Any]:
    """Returns the figures of a library, of a process of its own."""
    python = sys.executable if name == "ours" else str(_ENVIRONMENT / "bin" / "python")
    command = [python, str(_FOLDER / "embeddings_measured.py"), name, str(threads)]
    done = subprocess.run(command, input=json.dumps(given), capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr)
    return json.loads(done.stdout)


def install() -> None:
    """Installs the reference, once."""
    if not (_ENVIRONMENT / "bin" / "python").exists():
        uv = str(Path(sys.executable).parent / "uv")
        subprocess.run([uv, "venv", "-q", str(_ENVIRONMENT)], check=True)
        requirements = ["-r", str(_FOLDER / "embeddings.txt")]
        subprocess.run([uv, "pip", "install", "-q", "-p", str(_ENVIRONMENT), *requirements], check=True)


def matrix(data: str) -> Any:
    """Returns vectors as an array."""
    return np.frombuffer(base64.b64decode(data), "<f4").reshape(-1, 384)


def rank_correlation(first: Any, second: Any) -> float:
    """Returns Spearman's coefficient of all pairs of texts, by the similarities of two sets of vectors."""
    above = np.triu_indices(len(first), 1)
    ranks = [(vectors @ vectors.T)[above].argsort().argsort().astype("f8") for vectors in (first, second)]
    return float(np.corrcoef(*ranks)[0, 1])


def recall(headings: Any, found: Any, most: int) -> float:
    """Returns the share of headings whose own section is among the `most` nearest."""
    nearest = (-(headings @ found.T)).argsort(axis=1)[:, :most]
    return float((nearest == np.arange(len(headings))[:, None]).any(axis=1).mean())


def best(runs: Sequence[dict[str, Any]]) -> dict[str, float]:
    """Returns the least of each figure."""
    return {name: min(run[name] for run in runs) for name in _FIGURES}


def main() -> None:
    """Measures both libraries in turns, and prints figures and ratios."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    threads = parser.parse_args().threads
    install()
    given = texts()
    runs: dict[str, list[dict[str, Any]]] = {"ours": [], "sentence-transformers": []}
    timed = {name: given[name] for name in ("sentences", "chunks", "query")}
    for run in range(_RUNS):
        for name in runs:
            runs[name].append(measured(name, threads, given if run == 0 else timed))
    ours, reference = (runs[name][0] for name in ("ours", "sentence-transformers"))
    cosines = (matrix(ours["parity"]) * matrix(reference["parity"])).sum(axis=1)
    print(f"{len(cosines)} sentences: cosine mean {cosines.mean():.5f}, lowest {cosines.min():.5f}")
    print(f"Spearman of all pairs {rank_correlation(matrix(ours['parity']), matrix(reference['parity'])):.5f}")
    for most in (1, 5):
        shares = [recall(matrix(run["headings"]), matrix(run["sections"]), most) for run in (ours, reference)]
        print(f"recall@{most} of {len(given['headings'])} headings: ours {shares[0]:.3f}, reference {shares[1]:.3f}")
    first, second = best(runs["ours"]), best(runs["sentence-transformers"])
    for name in _FIGURES:
        print(
            f"{name:16} ours {first[name]:8.3f}  reference {second[name]:8.3f}  ratio {second[name] / first[name]:.2f}"
        )


if __name__ == "__main__":
    main()
