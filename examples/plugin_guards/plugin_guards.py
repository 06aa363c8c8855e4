"""Three guards for `abstractcore serve`: one changes texts, one refuses a stream as it comes, one asks a model."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from abstractcore import LLM, ModelCall
from abstractcore.ports import Edit, GuardContext, GuardServices, Refusal, TextPiece, with_texts
from abstractcore.registry import hookimpl

EMAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")


@dataclass
class Emails:
    """Replaces e-mail addresses, in calls and in answers."""

    replacement: str
    hold_back = 254  # the longest address (RFC 5321)

    def check_call(self, call: ModelCall, context: GuardContext) -> ModelCall:
        return with_texts(call, lambda text, kind: EMAIL.sub(lambda match: self.replacement, text))

    def check_text(self, piece: TextPiece, context: GuardContext) -> list[Edit]:
        return [Edit(*match.span(), self.replacement) for match in EMAIL.finditer(piece.text)]


@dataclass
class Forbidden:
    """Refuses answers with one of some words, before any of the word is sent."""

    words: re.Pattern[str]
    hold_back: int
    read_only = True  # the bytes of streams go through untouched

    def check_text(self, piece: TextPiece, context: GuardContext) -> Refusal | None:
        return Refusal("it has a word that is not allowed here") if self.words.search(piece.text) else None


@dataclass
class Judge:
    """Asks a model whether a question is allowed."""

    llm: LLM
    rule: str
    read_only = True

    async def check_call(self, call: ModelCall, context: GuardContext) -> Refusal | None:
        question = f"{self.rule}\nAnswer yes or no.\n\n<question>\n{call.messages[-1].text}\n</question>"
        verdict = await self.llm.agenerate(question)
        return None if verdict.content.strip().lower().startswith("yes") else Refusal(f"not allowed: {self.rule}")


class Redactor:
    name, summary = "emails", "replaces e-mail addresses"

    def connect(self, options: Mapping[str, Any], services: GuardServices) -> Emails:
        return Emails(str(options.get("replacement", "[e-mail]")))


class Refuser:
    name, summary = "words", "refuses answers with one of some words"

    def connect(self, options: Mapping[str, Any], services: GuardServices) -> Forbidden:
        words = [str(word) for word in options["words"]]
        pattern = re.compile(rf"\b(?:{'|'.join(map(re.escape, words))})\b", re.IGNORECASE)
        return Forbidden(pattern, max(map(len, words)))


class Asker:
    name, summary = "judge", "asks a model whether a question is allowed"

    def connect(self, options: Mapping[str, Any], services: GuardServices) -> Judge:
        return Judge(services.llm(str(options["model"])), str(options["rule"]))


@hookimpl
def register_guards() -> list[Redactor | Refuser | Asker]:
    return [Redactor(), Refuser(), Asker()]
