"""What the rules understand of a prompt."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from ..motif_names import MotifName
from .vocabulary import Relation, Setting, Side, motif_words, setting_words, vocabulary

_WORD = re.compile(r"[a-z]+|\d+")
_QUOTED = re.compile(r"[\"“„»]([^\"“”»«]{1,80})[\"”“«]")
_LONGEST_PROMPT = 20_000
_MOST_MENTIONED = 60


@dataclass
class Mention:
    """A motif that the prompt names: how many, in which colour, where.

    `relation` says that they are on, under, over, beside or behind another mention, which is given by its index.
    """

    name: MotifName
    count: int
    color: str | None = None
    side: Side | None = None
    relation: tuple[Relation, int] | None = None


@dataclass
class ReadPrompt:
    """What the rules understood of a prompt; `unknown` are the words that they did not, each once.

    `removes`: the motifs that it names are to go.
    """

    mentions: list[Mention] = field(default_factory=list[Mention])
    settings: list[Setting] = field(default_factory=list[Setting])
    captions: list[str] = field(default_factory=list[str])
    removes: bool = False
    unknown: list[str] = field(default_factory=list[str])


@dataclass
class _Pending:
    """What has been said about the next motif."""

    color: str | None = None
    count: int | None = None
    relation: Relation | None = None


def read_prompt(prompt: str) -> ReadPrompt:
    """Finds motifs, colours, numbers, places, settings and quoted captions in a prompt."""
    prompt = prompt[:_LONGEST_PROMPT]
    read = ReadPrompt(captions=[" ".join(quoted.split()) for quoted in _QUOTED.findall(prompt)])
    pending, before = _Pending(), ""
    for word in map(str, _WORD.findall(_QUOTED.sub(" ", prompt).lower())):
        setting = setting_words().get(word)
        if setting is not None and setting not in read.settings:
            read.settings.append(setting)
        if name := motif_words().get(word):
            if not _continues(read.mentions[-1:], before, word, name):
                _mention(read.mentions, name, word, pending)
            pending = _Pending()
        elif word in vocabulary().removing:
            read.removes = True
        elif not _is_about_motifs(word, read, pending) and setting is None and word not in read.unknown:
            read.unknown.append(word)
        before = word
    return read


def _is_about_motifs(word: str, read: ReadPrompt, pending: _Pending) -> bool:
    """Notes a word that says something of a motif; returns False for an unknown word."""
    known = vocabulary()
    if color := known.color(word):
        pending.color = color
    elif word in known.numbers or word.isdigit():
        pending.count = max(known.numbers.get(word) or min(int(word[:3]), _MOST_MENTIONED), 1)
    elif word in known.sides and read.mentions:
        read.mentions[-1].side = known.sides[word]
        pending.relation = None
    elif word in known.relations:
        pending.relation = known.relations[word]
    return color is not None or word in known.numbers or word.isdigit() or word in known.filler


def _continues(last: list[Mention], before: str, word: str, name: MotifName) -> bool:
    """Returns whether a word belongs to the motif before it, as in "pine trees" and "birthday cake"."""
    is_same = bool(last) and (last[0].name == name or (name == "tree" and last[0].name in ("pine", "palm")))
    if not is_same or before not in motif_words():
        return False
    last[0].count = max(last[0].count, _usual_count(word))
    return True


def _usual_count(word: str) -> int:
    is_plural = word.endswith("s") and word[:-1] in motif_words()
    return vocabulary().crowds.get(word) or (3 if is_plural else 1)


def _mention(mentions: list[Mention], name: MotifName, word: str, pending: _Pending) -> None:
    count = vocabulary().crowds.get(word) or pending.count or _usual_count(word)
    if sum(each.count for each in mentions) + count > _MOST_MENTIONED:
        return
    mentions.append(Mention(name, count, pending.color))
    earlier = mentions[-2] if len(mentions) > 1 else None  # "a cat under a tree" places the cat
    if pending.relation and earlier and earlier.name != name and earlier.relation is None:
        earlier.relation = pending.relation, len(mentions) - 1
