"""What the rules understand of a prompt, and which of its words they leave out."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from ..motif_names import MotifName
from ..motifs import takes_color
from .vocabulary import Relation, Setting, Side, motif_words, setting_words, vocabulary

LONGEST_PROMPT = 20_000
"""The characters of a prompt that are read."""
_WORD = re.compile(r"\d+|[^\W\d_]+(?:['\u2019][^\W\d_]+)*")
_POSSESSIVE = re.compile(r"['\u2019]s$")
_QUOTED = re.compile(r"[\"“„»]([^\"“”»«]{1,80})[\"”“«]")
_MOST_MENTIONED = 60

Detail: TypeAlias = Literal["count", "color", "side", "relation"]


@dataclass
class Mention:
    """A motif that the prompt names: how many, in which colour, where.

    `relation` says that they are on, under, over, beside or behind another mention, which is given by its index;
    `is_related` that they have been placed so. `word` is the one that names them, `said` those of the details.
    """

    name: MotifName
    count: int
    color: str | None = None
    side: Side | None = None
    relation: tuple[Relation, int] | None = None
    is_related: bool = False
    word: str = ""
    said: dict[Detail, str] = field(default_factory=dict[Detail, str])


@dataclass
class ReadPrompt:
    """What the rules understood of a prompt. `removes`: the motifs that it names are to go, by the words `removing`.

    `settings` has the words of each setting.
    """

    mentions: list[Mention] = field(default_factory=list[Mention])
    settings: dict[Setting, list[str]] = field(default_factory=dict[Setting, list[str]])
    captions: list[str] = field(default_factory=list[str])
    removing: list[str] = field(default_factory=list[str])
    daylight: list[str] = field(default_factory=list[str])
    _left_out: dict[str, None] = field(default_factory=dict[str, None])

    @property
    def removes(self) -> bool:
        """Whether it says that something is to go."""
        return bool(self.removing)

    @property
    def left_out(self) -> tuple[str, ...]:
        """The words that mean something and are not drawn, each once."""
        return tuple(self._left_out)

    def leave_out(self, words: Iterable[str]) -> None:
        """Notes words that are not drawn; words that mean nothing in a picture are not noted."""
        self._left_out.update(dict.fromkeys(word for word in words if word not in vocabulary().filler))

    def leave_out_of(self, mention: Mention, *details: Detail) -> None:
        """Notes the words of details of a mention that are not drawn."""
        self.leave_out(mention.said[detail] for detail in details if detail in mention.said)

    def leave_out_settings(self, settings: Iterable[Setting]) -> None:
        """Notes the words of settings that are not drawn, but for those that name a motif which is."""
        drawn = {mention.name for mention in self.mentions}
        for setting in settings:
            self.leave_out(word for word in self.settings[setting] if motif_words().get(word) not in drawn)

    def leave_out_captions(self, captions: Iterable[str]) -> None:
        """Notes the words of quoted texts that are not drawn."""
        for caption in captions:
            self.leave_out(_words(caption))


@dataclass
class _PendingMention:
    """What has been said about the next motif, and by which words."""

    color: str | None = None
    count: int | None = None
    relation: Relation | None = None
    said: dict[Detail, str] = field(default_factory=dict[Detail, str])


def read_prompt(prompt: str) -> ReadPrompt:
    """Finds motifs, colours, numbers, places, settings and quoted captions in a prompt."""
    prompt = prompt[:LONGEST_PROMPT]
    read = ReadPrompt(captions=[" ".join(quoted.split()) for quoted in _QUOTED.findall(prompt)])
    pending, before = _PendingMention(), ""
    for word in _words(_QUOTED.sub(" ", prompt)):
        setting = setting_words().get(word)
        if setting is not None:
            read.settings.setdefault(setting, []).append(word)
        if name := motif_words().get(word):
            if _continues(read.mentions[-1:], before, word, name):
                read.leave_out(pending.said.values())
            else:
                _mention(read, name, word, pending)
            pending = _PendingMention()
        elif word in vocabulary().removing:
            read.removing.append(word)
        elif word in vocabulary().daylight:
            read.daylight.append(word)
        elif not _is_about_motifs(word, read, pending) and setting is None:
            read.leave_out([word])
        before = word
    read.leave_out(pending.said.values())
    return read


def _words(text: str) -> list[str]:
    return [_POSSESSIVE.sub("", word) for word in _WORD.findall(text.lower())]


def _is_about_motifs(word: str, read: ReadPrompt, pending: _PendingMention) -> bool:
    """Notes a word that says something of a motif; returns False for any other word."""
    known = vocabulary()
    if color := known.color(word):
        _say(read, pending, "color", word)
        pending.color = color
    elif word in known.numbers or word.isdecimal():
        _say(read, pending, "count", word)
        pending.count = _number(word)
    elif word in known.sides and read.mentions:
        last = read.mentions[-1]
        read.leave_out_of(last, "side")
        last.side, last.said["side"] = known.sides[word], word
        read.leave_out([pending.said.pop("relation", "the")])
        pending.relation = None
    elif word in known.relations:
        _say(read, pending, "relation", word)
        pending.relation = known.relations[word]
    else:
        return False
    return True


def _say(read: ReadPrompt, pending: _PendingMention, detail: Detail, word: str) -> None:
    """Notes what is said of the next motif; the word that said it before is not drawn."""
    if detail in pending.said:
        read.leave_out([pending.said[detail]])
    pending.said[detail] = word


def _number(word: str) -> int:
    known = vocabulary().numbers.get(word)
    return known or max(min(int(word[:3]), _MOST_MENTIONED), 1)


def _is_exact(word: str) -> bool:
    """Returns whether as many motifs are drawn as a word says."""
    return not word.isdecimal() or (len(word) <= 3 and int(word) == _number(word))


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


def _mention(read: ReadPrompt, name: MotifName, word: str, pending: _PendingMention) -> None:
    mentions, said = read.mentions, pending.said
    crowd = vocabulary().crowds.get(word)
    count = crowd or pending.count or _usual_count(word)
    if sum(each.count for each in mentions) + count > _MOST_MENTIONED:
        is_drawn = any(each.name == name for each in mentions)
        read.leave_out([*said.values(), *(() if is_drawn else (word,))])
        return
    earlier = mentions[-1] if mentions else None
    own: dict[Detail, str] = {detail: said[detail] for detail in ("count", "color") if detail in said}
    mention = Mention(name, count, pending.color, word=word, said=own)
    mentions.append(mention)
    if "count" in own and (crowd is not None or not _is_exact(own["count"])):
        read.leave_out_of(mention, "count")
    if not takes_color(name):
        read.leave_out_of(mention, "color")
    if pending.relation is None:
        return
    if earlier and earlier.name != name and earlier.relation is None:  # "a cat under a tree" places the cat
        earlier.relation, earlier.said["relation"] = (pending.relation, len(mentions) - 1), said["relation"]
    else:
        read.leave_out([said["relation"]])
