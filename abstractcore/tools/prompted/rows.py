# ruff: noqa: RUF001 - the tokens of DeepSeek have such characters
"""The formats that are rows of data, each with the page that publishes it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from .bodies import FirstCharacterGrammar, JsonGrammar, NamedGrammar
from .marked_parser import Marking
from .pythonic_bodies import PythonGrammar
from .tagged_bodies import TagGrammar

TURNS: Final = ("<|im_start|>", "<|start_header_id|>", "<|turn>", "<start_of_turn>", "<|observation|>", "<|user|>")
"""What begins a turn in the templates of ChatML, Llama 3, Gemma 4, Gemma 3 and GLM."""
_ENDS_OF_TURN: Final = ("<|im_end|>", "<|eot_id|>", "<|eom_id|>", "<end_of_turn>", "<turn|>", "</s>")
_NAME: Final = r"(?P<name>[^\s<>{}\[\]()\"'`|｜]{1,128})"

_HERMES: Final = Marking(
    begins={"<tool_call>": JsonGrammar(("</tool_call>",))},
    ends=("</tool_call>", *_ENDS_OF_TURN),
    must_end=True,
    invented=("<tool_response>", *TURNS),
)
_LLAMA3_JSON: Final = JsonGrammar(_ENDS_OF_TURN)
_LLAMA3: Final = Marking(
    begins={
        "<|python_tag|>": _LLAMA3_JSON,
        "{": JsonGrammar(_ENDS_OF_TURN, bare=True),
        "[": JsonGrammar(_ENDS_OF_TURN, bare=True),
    },
    ends=_ENDS_OF_TURN,
    separators=(";",),
    invented=TURNS,
)
_PYTHON_ENDS: Final = ("<|tool_call_end|>", "<|python_end|>", *_ENDS_OF_TURN)
_PYTHON: Final = PythonGrammar(_PYTHON_ENDS)
_PYTHONIC: Final = Marking(
    begins={
        "[": PythonGrammar(bare=True),
        "<|tool_call_start|>": _PYTHON,
        "<|python_start|>": _PYTHON,
    },
    ends=_PYTHON_ENDS,
    separators=(";", ","),
    invented=("<|tool_response_start|>", *TURNS),
)
_MISTRAL: Final = Marking(
    begins={
        "[TOOL_CALLS]": FirstCharacterGrammar(
            JsonGrammar(),
            NamedGrammar(re.compile(r"\[TOOL_CALLS\]\s*" + _NAME + r"\s*(?:\[CALL_ID\][\w-]*\s*)?(?:\[ARGS\])?\s*")),
        )
    },
    ends=_ENDS_OF_TURN,
    separators=(",",),
    invented=("[TOOL_RESULTS]", "[INST]", *TURNS),
)
_GEMMA3_CODE: Final = PythonGrammar(("```",), bare=True, statements=True)
_GEMMA3: Final = Marking(
    begins={"```tool_code": _GEMMA3_CODE, "```tool_call": _GEMMA3_CODE, "```python": _GEMMA3_CODE},
    ends=_ENDS_OF_TURN,
    invented=("```tool_output", *TURNS),
)
_GEMMA4: Final = Marking(
    begins={
        "<|tool_call>": NamedGrammar(
            re.compile(r"<\|tool_call>\s*+(?:call:\s*+)?" + _NAME + r"\s*"), ("<tool_call|>",), gemma=True
        )
    },
    ends=("<tool_call|>", *_ENDS_OF_TURN),
    must_end=True,
    invented=("<|tool_response>", *TURNS),
)
_KIMI_HEADER: Final = (
    r"(?:<\|tool_calls_section_begin\|>\s*)?<\|tool_call_begin\|>\s*(?:functions\.)?(?P<name>[^\s<>{}]+?)(?::\d+)?\s*"
    r"<\|tool_call_argument_begin\|>\s*"
)
_KIMI_CALL: Final = NamedGrammar(re.compile(_KIMI_HEADER), ("<|tool_call_end|>",))
_KIMI: Final = Marking(
    begins={"<|tool_calls_section_begin|>": _KIMI_CALL, "<|tool_call_begin|>": _KIMI_CALL},
    ends=("<|tool_call_end|>", "<|tool_calls_section_end|>", *_ENDS_OF_TURN),
    must_end=True,
    invented=("## Return of ", "<|im_user|>", "<|im_system|>", *TURNS),
)
_DEEPSEEK_HEADER: Final = (
    r"(?:<｜tool▁calls▁begin｜>\s*)?<｜tool▁call▁begin｜>\s*+(?:function\s*+<｜tool▁sep｜>\s*+)?"
    + _NAME
    + r"\s*(?:<｜tool▁sep｜>\s*)?(?:```(?:json)?\s*)?"
)
_DEEPSEEK_CALL: Final = NamedGrammar(re.compile(_DEEPSEEK_HEADER), ("<｜tool▁call▁end｜>",))
_DEEPSEEK: Final = Marking(
    begins={"<｜tool▁calls▁begin｜>": _DEEPSEEK_CALL, "<｜tool▁call▁begin｜>": _DEEPSEEK_CALL},
    ends=("<｜tool▁call▁end｜>", "<｜tool▁calls▁end｜>", "<｜end▁of▁sentence｜>"),
    must_end=True,
    invented=("<｜tool▁outputs▁begin｜>", "<｜tool▁output▁begin｜>", "<｜User｜>"),
)

QWEN_TAGS: Final = TagGrammar(
    head=re.compile(r"(?:<tool_call>\s*)?<function=\s*\"?" + _NAME + r"\"?\s*>"),
    parameter=re.compile(
        r"<parameter=(?P<key>\"[^\"\n]{0,200}\"|[^>\n]{0,200})>(?P<value>.*?)"
        r"(?:(?P<closed></parameter>)(?=\s*(?:<parameter=|</function>|\Z))|(?=<parameter=|</function>\s*\Z)|\Z)",
        re.DOTALL,
    ),
    opens="<parameter=",
    closes="</parameter>",
    end="</function>",
    followers=("</tool_call>", "<tool_call>", "<function=", "<|im_end|>"),
    head_tags=("<function=",),
)
_QWEN: Final = Marking(
    begins={"<tool_call>": QWEN_TAGS, "<function=": QWEN_TAGS},
    ends=("</tool_call>", *_ENDS_OF_TURN),
    invented=("<tool_response>", *TURNS),
)
MINIMAX_TAGS: Final = TagGrammar(
    head=re.compile(r"(?:<minimax:tool_call>\s*)?<invoke\s+name=\"?" + _NAME + r"\"?\s*>"),
    parameter=re.compile(
        r"<parameter\s+name=\"?(?P<key>[^\">]{0,200})\"?>(?P<value>.*?)"
        r"(?:(?P<closed></parameter>)(?=\s*(?:<parameter\s|</invoke>|\Z))|(?=<parameter\s|</invoke>\s*\Z)|\Z)",
        re.DOTALL,
    ),
    opens="<parameter ",
    closes="</parameter>",
    end="</invoke>",
    followers=("</minimax:tool_call>", "<invoke "),
    head_tags=("<invoke ",),
    attribute_keys=True,
)
_MINIMAX: Final = Marking(
    begins={"<minimax:tool_call>": MINIMAX_TAGS, "<invoke ": MINIMAX_TAGS},
    ends=("</minimax:tool_call>", "[e~[", *_ENDS_OF_TURN),
    invented=("<response>", "]~b]tool", "]~b]user", *TURNS),
)
GLM_TAGS: Final = TagGrammar(
    head=re.compile(r"<tool_call>\s*" + _NAME + r"\s*(?=<arg_key>|</tool_call>|\Z)"),
    parameter=re.compile(
        r"<arg_key>(?P<key>[^<]{1,200})</arg_key>\s*<arg_value>(?P<value>.*?)"
        r"(?:(?P<closed></arg_value>)(?=\s*(?:<arg_key>|</tool_call>|\Z))|(?=<arg_key>|</tool_call>\s*\Z)|\Z)",
        re.DOTALL,
    ),
    opens="<arg_key>",
    closes="</arg_value>",
    end="</tool_call>",
    followers=("<tool_call>", "<|observation|>"),
)
_GLM: Final = Marking(
    begins={"<tool_call>": GLM_TAGS},
    ends=("</tool_call>", *_ENDS_OF_TURN),
    invented=("<tool_response>", *TURNS),
)

MARKINGS: Final[Mapping[str, Marking]] = MappingProxyType(
    {
        "hermes": _HERMES,
        "qwen_coder": _QWEN,
        "llama3": _LLAMA3,
        "pythonic": _PYTHONIC,
        "mistral": _MISTRAL,
        "gemma3": _GEMMA3,
        "gemma4": _GEMMA4,
        "kimi_k2": _KIMI,
        "glm": _GLM,
        "deepseek": _DEEPSEEK,
        "minimax": _MINIMAX,
    }
)
