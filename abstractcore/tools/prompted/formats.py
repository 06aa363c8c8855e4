"""`ToolFormat`: how tools are described in a prompt, and calls and results written in a conversation.

Writes calls and results of a conversation as the text of its turns.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, TypeAlias, cast

from ...errors import InvalidInputError
from ...schema import TextPart, ToolCall, ToolChoice, ToolResult, ToolSpec
from ...schema.base_error import shown
from . import descriptions
from .descriptions import gemma_value
from .harmony import HarmonyParser
from .lenient_values import as_json
from .marked_parser import MarkedParser
from .offered import CallParser, OfferedTools, ParsedCall
from .react import ReactParser
from .rows import GLM_TAGS, MARKINGS, MINIMAX_TAGS, QWEN_TAGS
from .tagged_bodies import TagGrammar

_IDENTIFIER: Final = re.compile(r"[A-Za-z_]\w*", re.ASCII)


def arguments_json(call: ToolCall) -> str:
    """Returns the arguments of a call as JSON in which no marker can occur; its text if it is not JSON."""
    if call.arguments is None:
        return call.arguments_text
    return as_json(call.arguments).replace("<", "\\u003c")


def json_object(name: str, arguments: str, key: str = "arguments") -> str:
    """Returns a call as an object with its name and arguments."""
    return f'{{"name": {as_json(name)}, "{key}": {arguments}}}'


def python_call(call: ToolCall) -> str:
    """Returns a call in Python's syntax."""
    if call.arguments is None:
        return f"{call.name}({call.arguments_text})"
    named = [f"{key}={python_literal(value)}" for key, value in call.arguments.items() if _IDENTIFIER.fullmatch(key)]
    others = {key: value for key, value in call.arguments.items() if not _IDENTIFIER.fullmatch(key)}
    return f"{call.name}({', '.join([*named, *([f'**{python_literal(others)}'] if others else [])])})"


def python_literal(value: Any) -> str:
    """Returns a JSON value as a Python literal, texts as JSON writes them."""
    if isinstance(value, dict):
        items = cast("dict[str, Any]", value).items()
        return "{" + ", ".join(f"{python_literal(key)}: {python_literal(item)}" for key, item in items) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(python_literal, cast("list[Any]", value))) + "]"
    if isinstance(value, str):
        return json.dumps(value).replace("<", "\\u003c").replace("`", "\\u0060")
    return repr(value)


def gemma_call(call: ToolCall) -> str:
    """Returns a call in the syntax of Gemma 4."""
    arguments = gemma_value(call.arguments) if call.arguments is not None else f"{{{call.arguments_text}}}"
    return f"<|tool_call>call:{call.name}{arguments}<tool_call|>"


def tagged_arguments(call: ToolCall, grammar: TagGrammar, tools: Sequence[ToolSpec], template: str) -> str:
    """Returns the arguments of a call, each in `template` with `{key}` and `{value}`."""
    offered = OfferedTools(tools)
    arguments = call.arguments if call.arguments is not None else {"arguments": call.arguments_text}
    return "".join(
        template.replace("{key}", grammar.write_key(key), 1).replace(
            "{value}", grammar.write_value(value, offered.types(call.name, key)), 1
        )
        for key, value in arguments.items()
    )


def result_text(result: ToolResult) -> str:
    """Returns the text of a result, that of an error with a label; `[image 1]` in place of a file."""
    texts: list[str] = []
    files = 0
    for part in result.content:
        if isinstance(part, TextPart):
            texts.append(part.text)
        else:
            files += 1
            texts.append(f"[{part.type} {files}]")
    text = "\n".join(texts) if files else "".join(texts)
    return f"Error: {text}" if result.is_error else text


# ruff: noqa: RUF001 - the tokens of DeepSeek have such characters


Named: TypeAlias = Sequence[tuple[str, ToolResult]]
"""Results, each with the name of its tool."""
_PLAIN_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
"""Names that every format can call."""


@dataclass(frozen=True, slots=True)
class ToolFormat:
    """One format of tools in prompts. `stop` are stop sequences with which a model cannot invent results.

    `source` is the page that publishes the format.
    """

    name: str
    source: str
    listing: str
    tool: Callable[[ToolSpec], str]
    how: str
    calls: Callable[[Sequence[ToolCall], Sequence[ToolSpec]], str]
    results: Callable[[Named], str]
    stop: tuple[str, ...] = ()

    def describe(
        self,
        tools: Sequence[ToolSpec],
        choice: ToolChoice | None = None,
        parallel: bool | None = None,
        *,
        examples: bool = False,
    ) -> str:
        """Returns the text for the system message: the tools, how to call them, and whether the model must. It ends
        with what depends on the round, so that prompt caches hold the rest.
        """
        listed = self.listing.replace("{tools}", "\n".join(map(self.tool, tools)), 1)
        when = descriptions.when_to_call(tools, choice, parallel, examples=examples)
        return (
            f"{listed}\n\n{when}"
            if choice is not None and choice.mode == "none"
            else f"{listed}\n\n{self.how}\n\n{when}"
        )

    def can_call(self, name: str) -> bool:
        """Returns whether a call of a tool named `name` can be read: not if markers or separators are in the name."""
        if _PLAIN_NAME.fullmatch(name) is not None:
            return True
        tool, parser = ToolSpec(name), self.parser((ToolSpec(name),))
        found = parser.feed(self.write_calls((ToolCall.of("call", name, {}),), (tool,))) + parser.finish()
        return [piece.name for piece in found if isinstance(piece, ParsedCall)] == [name]

    def write_calls(self, calls: Sequence[ToolCall], tools: Sequence[ToolSpec] = ()) -> str:
        """Returns calls as the text of an assistant turn. Some formats write values by the schemas of `tools`."""
        return self.calls(calls, tools)

    def write_results(self, results: Named) -> str:
        """Returns results as the text of a user turn, in the order of their calls."""
        return self.results(results)

    def parser(self, tools: Iterable[ToolSpec]) -> CallParser:
        """Returns a parser for one reply."""
        offered = OfferedTools(tools)
        if self.name == "react":
            return ReactParser(offered)
        return HarmonyParser(offered) if self.name == "harmony" else MarkedParser(MARKINGS[self.name], offered)


def _each(before: str, after: str, between: str = "\n") -> Callable[[Named], str]:
    return lambda results: between.join(before + result_text(result) + after for _, result in results)


def _json_calls(
    before: str, after: str, between: str, key: str = "arguments"
) -> Callable[[Sequence[ToolCall], object], str]:
    def write(calls: Sequence[ToolCall], tools: object) -> str:
        return between.join(before + json_object(call.name, arguments_json(call), key) + after for call in calls)

    return write


def _qwen_calls(calls: Sequence[ToolCall], tools: Sequence[ToolSpec]) -> str:
    template = "<parameter={key}>\n{value}\n</parameter>\n"
    return "\n".join(
        f"<tool_call>\n<function={call.name}>\n{tagged_arguments(call, QWEN_TAGS, tools, template)}"
        "</function>\n</tool_call>"
        for call in calls
    )


def _glm_calls(calls: Sequence[ToolCall], tools: Sequence[ToolSpec]) -> str:
    template = "<arg_key>{key}</arg_key>\n<arg_value>{value}</arg_value>\n"
    return "\n".join(
        f"<tool_call>{call.name}\n{tagged_arguments(call, GLM_TAGS, tools, template)}</tool_call>" for call in calls
    )


def _minimax_calls(calls: Sequence[ToolCall], tools: Sequence[ToolSpec]) -> str:
    template = '<parameter name="{key}">{value}</parameter>\n'
    invokes = "".join(
        f'<invoke name="{call.name}">\n{tagged_arguments(call, MINIMAX_TAGS, tools, template)}</invoke>\n'
        for call in calls
    )
    return f"<minimax:tool_call>\n{invokes}</minimax:tool_call>"


def _kimi_calls(calls: Sequence[ToolCall], tools: object) -> str:
    written = "".join(
        f"<|tool_call_begin|>functions.{call.name}:{index}<|tool_call_argument_begin|>{arguments_json(call)}"
        "<|tool_call_end|>"
        for index, call in enumerate(calls)
    )
    return f"<|tool_calls_section_begin|>{written}<|tool_calls_section_end|>"


def _kimi_results(results: Named) -> str:
    return "\n".join(
        f"## Return of functions.{name}:{index}\n{result_text(result)}" for index, (name, result) in enumerate(results)
    )


def _deepseek_calls(calls: Sequence[ToolCall], tools: object) -> str:
    written = "".join(
        f"<｜tool▁call▁begin｜>{call.name}<｜tool▁sep｜>{arguments_json(call)}<｜tool▁call▁end｜>" for call in calls
    )
    return f"<｜tool▁calls▁begin｜>{written}<｜tool▁calls▁end｜>"


def _gemma4_results(results: Named) -> str:
    return "".join(
        f"<|tool_response>response:{name}{descriptions.gemma_value({'value': result_text(result)})}<tool_response|>"
        for name, result in results
    )


def _harmony_calls(calls: Sequence[ToolCall], tools: object) -> str:
    return "<|start|>assistant".join(
        f"<|channel|>commentary to=functions.{call.name} <|constrain|>json<|message|>{arguments_json(call)}<|call|>"
        for call in calls
    )


def _harmony_results(results: Named) -> str:
    return "".join(
        f"<|start|>functions.{name} to=assistant<|channel|>commentary<|message|>{result_text(result)}<|end|>"
        for name, result in results
    )


_TOOLS: Final = "You can call these tools, given as JSON Schemas:\n<tools>\n{tools}\n</tools>"
_PYTHON_LISTING: Final = "You can call these functions, given as JSON:\n{tools}"
_TEMPLATES: Final = "https://github.com/ggml-org/llama.cpp/tree/master/models/templates"

_FORMATS: Final = (
    ToolFormat(
        "hermes",
        "https://github.com/NousResearch/Hermes-Function-Calling",
        _TOOLS,
        descriptions.function,
        "To call a tool, write an object with its name and arguments within <tool_call></tool_call> tags:\n"
        '<tool_call>\n{"name": TOOL_NAME, "arguments": ARGUMENTS_OBJECT}\n</tool_call>',
        _json_calls("<tool_call>\n", "\n</tool_call>", "\n"),
        _each("<tool_response>\n", "\n</tool_response>"),
        ("<tool_response>",),
    ),
    ToolFormat(
        "qwen_coder",
        "https://huggingface.co/Qwen/Qwen3-Coder-480B-A35B-Instruct, chat_template.jinja",
        _TOOLS,
        descriptions.function,
        "To call a tool, write exactly this, with the tool's name, and a parameter for each argument:\n"
        "<tool_call>\n<function=TOOL_NAME>\n<parameter=PARAMETER_NAME>\nVALUE\n</parameter>\n</function>\n</tool_call>",
        _qwen_calls,
        _each("<tool_response>\n", "\n</tool_response>"),
        ("<tool_response>",),
    ),
    ToolFormat(
        "llama3",
        "https://www.llama.com/docs/model-cards-and-prompt-formats/llama3_1, JSON based tool calling",
        "You can call these functions, given as JSON:\n{tools}",
        descriptions.function,
        "To call a function, write only a JSON object with its name and arguments:\n"
        '{"name": FUNCTION_NAME, "parameters": ARGUMENTS_OBJECT}\n'
        'Do not use variables. Separate several calls by "; ".',
        _json_calls("", "", "; ", "parameters"),
        _each("Result of the call: ", ""),
    ),
    ToolFormat(
        "pythonic",
        "https://www.llama.com/docs/model-cards-and-prompt-formats/llama4, zero-shot function calling",
        _PYTHON_LISTING,
        descriptions.plain_function,
        "To call functions, write only a list of calls in Python's syntax, with all arguments named:\n"
        "[function_name1(name1=value1, name2=value2), function_name2()]",
        lambda calls, tools: "[" + ", ".join(map(python_call, calls)) + "]",
        _each("Result of the call: ", ""),
    ),
    ToolFormat(
        "mistral",
        "https://docs.mistral.ai/cookbooks/concept-deep-dive-tokenization-tool_calling",
        "[AVAILABLE_TOOLS]\n{tools}\n[/AVAILABLE_TOOLS]",
        descriptions.function,
        "To call a tool, write its name and its arguments as a JSON object:\n"
        "[TOOL_CALLS]TOOL_NAME[ARGS]ARGUMENTS_OBJECT",
        lambda calls, tools: "".join(f"[TOOL_CALLS]{call.name}[ARGS]{arguments_json(call)}" for call in calls),
        lambda results: "".join(
            "[TOOL_RESULTS]" + as_json({"name": name, "content": result_text(result)}) + "[/TOOL_RESULTS]"
            for name, result in results
        ),
        ("[TOOL_RESULTS]",),
    ),
    ToolFormat(
        "gemma3",
        "https://ai.google.dev/gemma/docs/capabilities/function-calling",
        _PYTHON_LISTING,
        descriptions.plain_function,
        "To call functions, write only a code block of calls in Python's syntax, with all arguments named:\n"
        "```tool_code\nfunction_name(name1=value1, name2=value2)\n```",
        lambda calls, tools: "```tool_code\n" + "\n".join(map(python_call, calls)) + "\n```",
        _each("```tool_output\n", "\n```"),
        ("```tool_output",),
    ),
    ToolFormat(
        "gemma4",
        f"{_TEMPLATES}/gemma4.jinja",
        "{tools}",
        descriptions.gemma_declaration,
        'To call a tool, write its name and its arguments, texts between <|"|>:\n'
        '<|tool_call>call:TOOL_NAME{name1:<|"|>text<|"|>,name2:5}<tool_call|>',
        lambda calls, tools: "".join(map(gemma_call, calls)),
        _gemma4_results,
        ("<|tool_response>",),
    ),
    ToolFormat(
        "kimi_k2",
        "https://github.com/MoonshotAI/Kimi-K2/blob/main/docs/tool_call_guidance.md",
        "# Tools\n{tools}",
        descriptions.function,
        "To call tools, write a section of calls, each with the name, its number in the section, and the arguments "
        "as a JSON object:\n<|tool_calls_section_begin|><|tool_call_begin|>functions.TOOL_NAME:0"
        "<|tool_call_argument_begin|>"
        "ARGUMENTS_OBJECT<|tool_call_end|><|tool_calls_section_end|>",
        _kimi_calls,
        _kimi_results,
        ("## Return of ",),
    ),
    ToolFormat(
        "glm",
        f"{_TEMPLATES}/GLM-4.6.jinja",
        _TOOLS,
        descriptions.function,
        "To call a tool, write its name, and a key and a value for each argument:\n<tool_call>TOOL_NAME\n"
        "<arg_key>PARAMETER_NAME</arg_key>\n<arg_value>VALUE</arg_value>\n</tool_call>",
        _glm_calls,
        _each("<tool_response>\n", "\n</tool_response>"),
        ("<tool_response>",),
    ),
    ToolFormat(
        "deepseek",
        f"{_TEMPLATES}/deepseek-ai-DeepSeek-V3.1.jinja",
        "## Tools\n{tools}",
        descriptions.function,
        "To call tools, write this, with the arguments as a JSON object:\n"
        "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>TOOL_NAME"
        "<｜tool▁sep｜>ARGUMENTS_OBJECT<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
        _deepseek_calls,
        _each("<｜tool▁output▁begin｜>", "<｜tool▁output▁end｜>", ""),
        ("<｜tool▁output▁begin｜>", "<｜tool▁outputs▁begin｜>"),
    ),
    ToolFormat(
        "minimax",
        "https://huggingface.co/MiniMaxAI/MiniMax-M2/blob/main/docs/tool_calling_guide.md",
        _TOOLS,
        descriptions.plain_function,
        "To call tools, write an invoke element for each call, and in it a parameter element for each argument:\n"
        '<minimax:tool_call>\n<invoke name="TOOL_NAME">\n<parameter name="PARAMETER_NAME">VALUE</parameter>\n'
        "</invoke>\n"
        "</minimax:tool_call>",
        _minimax_calls,
        _each("<response>", "</response>"),
        ("<response>",),
    ),
    ToolFormat(
        "harmony",
        "https://github.com/openai/harmony/blob/main/docs/format.md",
        "# Tools\n## functions\n{tools}",
        descriptions.plain_function,
        "To call a tool, write a message to it in the commentary channel, with the arguments as a JSON object:\n"
        "<|channel|>commentary to=functions.TOOL_NAME <|constrain|>json<|message|>ARGUMENTS_OBJECT<|call|>",
        _harmony_calls,
        _harmony_results,
    ),
    ToolFormat(
        "react",
        "https://arxiv.org/abs/2210.03629",
        "You can use these tools, given as JSON:\n{tools}",
        descriptions.plain_function,
        "To use a tool, write these lines:\nThought: why the tool is needed\nAction: TOOL_NAME\n"
        "Action Input: the arguments as a JSON object on one line\n\n"
        "When you know the answer, write it after this label:\nFinal Answer:",
        lambda calls, tools: "\n".join(f"Action: {call.name}\nAction Input: {arguments_json(call)}" for call in calls),
        _each("Observation: ", ""),
        ("\nObservation:",),
    ),
)
_BY_NAME: Final[Mapping[str, ToolFormat]] = MappingProxyType({each.name: each for each in _FORMATS})

TOOL_FORMATS: Final = tuple(_BY_NAME)
"""The names of all formats."""


def tool_format(name: str) -> ToolFormat:
    """Returns the format named `name`; raises `InvalidInputError` for an unknown one."""
    found = _BY_NAME.get(name)
    if found is None:
        names = ", ".join(("native", *TOOL_FORMATS))
        raise InvalidInputError(
            f"unknown format of tools {shown(name)}", path="tool_format", hint=f"Use one of {names}."
        )
    return found
