"""ReAct: lines `Thought:`, `Action:`, `Action Input:` and `Final Answer:` (Yao et al., arXiv:2210.03629)."""

from __future__ import annotations

from typing import Final

from .bodies import argument_call
from .lenient_values import UnreadableError, as_json
from .marked_parser import join_texts
from .offered import OfferedTools, ParsedCall, ParsedReasoning, Piece
from .pythonic_bodies import CallReader
from .value_ends import MORE, ThinkingScanner, ValueEnd

_LABELS: Final = ("Thought:", "Action:", "Action Input:", "Final Answer:", "Observation:")
_BEGINNINGS: Final = frozenset(label[:end] for label in _LABELS for end in range(1, len(label)))
_NO_ACTION: Final = frozenset({"none", "finish", "final answer", "no action"})
_INVENTED: Final = "\nObservation:"
_MARKUP: Final = " \t*"


class ReactParser:
    """A `CallParser` for ReAct. `visits` counts the characters it has looked at.

    A thought is reasoning if an action or a final answer follows; else it is the answer, as written. A call needs a
    name and arguments, or the name of an offered tool without parameters.
    """

    def __init__(self, offered: OfferedTools) -> None:
        self._offered = offered
        self._out: list[Piece] = []
        self._mode = "text"
        self._line: str | None = ""
        self._raw: list[str] = []
        self._thought: list[str] = []
        self._name: list[str] = []
        self._input: list[str] = []
        self._value: ValueEnd | None = None
        self._first = ""
        self._ticks = 0
        self._spaces: list[str] = []
        self._strip = False
        self._any_text = False
        self._after_call = False
        self._thinking = ThinkingScanner()
        self.cut_at: str | None = None
        self.visits = 0

    def feed(self, text: str) -> list[Piece]:
        """Returns text that is certainly not part of a call, and complete calls."""
        index = 0
        while index < len(text) and self.cut_at is None:
            if self._value is not None:
                index = self._read_value(self._value, text, index)
            elif self._line is None and self._mode == "input":
                self.visits += 1
                self._read_input(text[index])
                index += 1
            elif self._line is None:
                newline = text.find("\n", index)
                end = len(text) if newline < 0 else newline + 1
                self.visits += end - index
                begin, index = index, end
                self._line = "" if newline >= 0 else None
                self._add(text[begin:end])
            else:
                self._line += text[index]
                index += 1
                self.visits += 1
                self._read_line()
        out, self._out = self._out, []
        return join_texts(out)

    def finish(self, *, truncated: bool = False) -> list[Piece]:
        """Returns the rest."""
        if self.cut_at is None:
            line, self._line = self._line, None
            if line:
                self._add(line)
            if self._mode in ("action", "input") and not truncated:
                self._end_action()
            self._give_up()
            self._out += ["".join(self._spaces)] if self._spaces else []
        out, self._out = self._out, []
        return join_texts(out)

    def _read_line(self) -> None:
        """Decides whether the line begins with a label."""
        line = self._line or ""
        label = line.lstrip(_MARKUP)
        if label in _LABELS and not self._thinking.inside:
            self._line = None
            self._label(label, line)
        elif (label not in _BEGINNINGS and label) or self._thinking.inside:
            self._line = "" if line.endswith("\n") else None
            if self._mode == "action" and self._name and line.strip():
                self._end_action()
            self._add(line)

    def _label(self, label: str, line: str) -> None:
        if self._mode in ("action", "input") and label != "Action Input:":
            self._end_action()
        if label == "Observation:" and self._after_call:
            self.cut_at = label
        elif label == "Action:" or (label == "Thought:" and self._mode == "text"):
            if self._mode == "text":
                self._raw = []
            self._mode = "action" if label == "Action:" else "thought"
            self._name, self._input, self._first = [], [], ""
            self._raw.append(line)
        elif label == "Action Input:" and self._mode == "action":
            self._mode = "input"
            self._raw.append(line)
        elif label == "Final Answer:" and (self._mode == "thought" or not self._any_text):
            self._reason()
            self._mode = "text"
        else:
            self._add(line)

    def _add(self, text: str) -> None:
        """Adds text behind a label, or a line without one."""
        if self._mode in ("text", "thought"):
            self._thinking.follow(text)
        if self._mode == "text":
            self._emit(text)
            return
        self._raw.append(text)
        if self._mode == "thought":
            self._thought.append(text)
        elif self._mode == "action":
            self._name.append(text)
        else:
            self._raw.pop()
            for character in text:
                self._read_input(character)

    def _read_input(self, character: str) -> None:
        """Reads arguments: an object, in a code fence or not, or a text up to the end of the line."""
        self._raw.append(character)
        if not self._first and character in _MARKUP + "\n":
            self._line = "" if character == "\n" else None
            return
        self._first = self._first or character
        if character == "{" and self._first in "{`":
            self._value = ValueEnd()
            self._value.feed(character)
            self._input = [character]
        elif self._first not in "{`":
            self._input.append(character)
            if character == "\n":
                self._end_action()
                self._line = ""

    def _read_value(self, value: ValueEnd, text: str, index: int) -> int:
        end = value.feed(text, index)
        stop = len(text) if end == MORE else end
        self.visits += stop - index
        self._raw.append(text[index:stop])
        self._input.append(text[index:stop])
        if end != MORE:
            self._value = None
            self._line = None
            self._end_action()
        return stop

    def _end_action(self) -> None:
        """Puts out the call, or its text if it is none."""
        self._value = None
        name_text = "".join(self._name).strip().strip("*`").strip()
        arguments, cut, _ = "".join(self._input).partition(_INVENTED)
        call = self._call(name_text, arguments.strip().strip("`").strip())
        if call is None:
            self._give_up()
            return
        self._reason()
        self._ticks = 3 if self._first == "`" else 0
        self._out.append(call)
        self._mode, self._after_call = "text", True
        if cut:
            self.cut_at = _INVENTED.strip()

    def _call(self, name_text: str, arguments: str) -> ParsedCall | None:
        if name_text.endswith(")") and not arguments:
            try:
                calls = CallReader(name_text, self._offered).calls()
            except UnreadableError:
                return None
            return calls[0] if len(calls) == 1 and calls[0].name in self._offered else None
        name = self._offered.named(name_text)
        if name is None or (name.lower() in _NO_ACTION and name not in self._offered):
            return None
        parameters = self._offered.parameters(name)
        if arguments.startswith("{"):
            return argument_call(name, arguments)
        if not arguments or arguments in ("None", "null"):
            return ParsedCall(name) if name in self._offered and not parameters else None
        if len(parameters) != 1:
            return None
        return ParsedCall(name, as_json({parameters[0]: arguments.strip("\"'")}), "arguments as a text")

    def _reason(self) -> None:
        thought = "".join(self._thought).strip()
        if thought:
            self._out.append(ParsedReasoning(thought))
        self._thought, self._raw = [], []
        self._strip, self._spaces = True, []

    def _give_up(self) -> None:
        """Puts out as text what may have been a call."""
        raw, self._raw, self._thought = "".join(self._raw), [], []
        self._mode = "text"
        self._emit(raw)

    def _emit(self, text: str) -> None:
        """Puts out text, and holds back white space at its end, which is dropped before a call. Behind a call, white
        space and the end of a code fence are dropped.
        """
        if self._strip:
            text = text.lstrip()
            while self._ticks and text[:1] == "`":
                self._ticks -= 1
                text = text[1:].lstrip()
            self._strip = not text
        content = text.rstrip()
        if content:
            self._any_text = True
            self._out.append("".join([*self._spaces, content]))
            self._spaces = []
        if len(content) < len(text):
            self._spaces.append(text[len(content) :])
