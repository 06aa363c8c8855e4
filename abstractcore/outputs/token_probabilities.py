"""The probabilities of choices, from the log probabilities of the tokens of an answer."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, cast

from ..schema import ModelReply


class Token(NamedTuple):
    """A token of an answer, and the most probable tokens in its place with their log probabilities."""

    text: str
    logprob: float
    alternatives: Sequence[tuple[str, float]]


def choice_probabilities(reply: ModelReply, chosen: str, names: Sequence[str]) -> dict[str, float] | None:
    """Returns the probability of each name, given that the answer is one of them; None without log probabilities.

    The tokens of the chosen name are compared with their alternatives: a token that only one name continues with adds
    to that name, one that several continue with to each of them equally, up to the token that makes the choice. The sum
    is scaled to 1. A name that is not among the reported alternatives has probability 0.
    """
    tokens = answer_tokens(reply)
    texts = {name: f'{_escaped(name)}"' for name in names}
    joined = "".join(token.text for token in tokens)
    at = joined.rfind(f'"{texts[chosen]}')
    if at < 0:
        return None
    weights = _weights(tokens, at + 1, texts, chosen)
    total = sum(weights.values())
    return {name: weight / total for name, weight in weights.items()} if total > 0 else None


def _weights(tokens: Sequence[Token], start: int, texts: Mapping[str, str], chosen: str) -> dict[str, float]:
    """Returns how probable each name is, unscaled. `start` is the position of the chosen name in the text."""
    weights = dict.fromkeys(texts, 0.0)
    before, reached, end = 1.0, "", 0
    for token in tokens:
        begin, end = end, end + len(token.text)
        if end <= start:
            continue
        prefix = token.text[: max(start - begin, 0)]
        own = token.text[len(prefix) :]
        for text, logprob in token.alternatives:
            if text != token.text and text.startswith(prefix) and text != prefix:
                _share(weights, _continued(texts, reached + text[len(prefix) :]), before * math.exp(logprob))
        before *= math.exp(token.logprob)
        reached += own
        possible = _continued(texts, reached)
        if possible == [chosen] or not possible:
            break
    weights[chosen] += before
    return weights


def _share(weights: dict[str, float], names: Sequence[str], weight: float) -> None:
    for name in names:
        weights[name] += weight / len(names)


def _continued(texts: Mapping[str, str], reached: str) -> list[str]:
    """Returns the names that an answer may still be when its text is `reached`."""
    return [name for name, text in texts.items() if text.startswith(reached) or reached.startswith(text)]


def _escaped(name: str) -> str:
    return json.dumps(name, ensure_ascii=False)[1:-1]


def answer_tokens(reply: ModelReply) -> list[Token]:
    """Returns the tokens of an answer as the wire formats keep them in `provider_metadata`; empty if there are none."""
    metadata = cast("Mapping[str, Any]", reply.provider_metadata)
    given = metadata.get("logprobs")
    if isinstance(given, Mapping):  # OpenAI's Chat Completions
        given = cast("Mapping[str, Any]", given).get("content")
    found = metadata.get("logprobsResult")
    try:
        if isinstance(found, Mapping):
            return _of_gemini(cast("Mapping[str, Any]", found))
        return [_token(each, "logprob", each.get("top_logprobs") or ()) for each in given or ()]
    except (AttributeError, KeyError, TypeError, ValueError):
        return []  # another form: Cohere's has numbers in place of texts


def _of_gemini(found: Mapping[str, Any]) -> list[Token]:
    """https://ai.google.dev/api/generate-content#LogprobsResult"""
    tops = [each.get("candidates", ()) for each in found["topCandidates"]]
    chosen = found["chosenCandidates"]
    return [_token(each, "logProbability", top) for each, top in zip(chosen, tops, strict=True)]


def _token(given: Mapping[str, Any], field: str, alternatives: Sequence[Mapping[str, Any]]) -> Token:
    others = [(str(each["token"]), float(each[field])) for each in alternatives]
    return Token(str(given["token"]), float(given[field]), others)
