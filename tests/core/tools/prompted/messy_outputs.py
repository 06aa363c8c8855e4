# ruff: noqa: RUF001, E501 - the tokens of DeepSeek have such characters, and outputs are on one line
"""What models write in place of calls, by format: outputs that are read as calls, and outputs that stay text.

Inputs after the tests of vLLM's parsers (github.com/vllm-project/vllm, tests/tool_parsers) are marked with its name.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from abstractcore.schema import ToolCall, ToolSpec
from abstractcore.tools.prompted import TOOL_FORMATS, tool_format

WEATHER = ToolSpec(
    "weather",
    "The weather of a city.",
    {
        "type": "object",
        "properties": {"city": {"type": "string"}, "days": {"type": "integer"}, "units": {"type": ["string", "null"]}},
        "required": ["city"],
    },
)
NOW = ToolSpec("now", "The time.")
SEARCH = ToolSpec("search", "", {"type": "object", "properties": {"query": {"type": "string"}}})
TOOLS = (WEATHER, NOW, SEARCH)
OSLO = ToolCall.of("call_0_0", "weather", {"city": "Oslo"})
LIMA = ToolCall.of("call_0_1", "weather", {"city": "Lima", "days": 3})
TIME = ToolCall.of("call_0_2", "now", {})
WEATHER_OSLO = ("weather", {"city": "Oslo"})
WEATHER_LIMA = ("weather", {"city": "Lima", "days": 3})
THE_TIME: tuple[str, dict[str, Any]] = ("now", {})


class Accepted(NamedTuple):
    """An output with calls: names and arguments, the text beside them, the marker at which it is cut, a repair."""

    output: str
    calls: tuple[tuple[str, dict[str, Any]], ...]
    text: str = ""
    cut_at: str | None = None
    repair: str | None = None


INVENTED = {
    "hermes": "<tool_response>",
    "qwen_coder": "<tool_response>",
    "llama3": "<|start_header_id|>",
    "pythonic": "<|start_header_id|>",
    "mistral": "[TOOL_RESULTS]",
    "gemma3": "```tool_output",
    "gemma4": "<|tool_response>",
    "kimi_k2": "## Return of ",
    "glm": "<tool_response>",
    "deepseek": "<｜tool▁output▁begin｜>",
    "minimax": "<response>",
    "harmony": "<|start|>",
    "react": "Observation:",
}
_OWN_FENCE = ("gemma3", "react", "harmony")


def accepted(name: str) -> list[Accepted]:
    """Returns the outputs of a format that have calls."""
    chosen = tool_format(name)
    oslo, lima, time = (chosen.write_calls([call], TOOLS) for call in (OSLO, LIMA, TIME))
    invented = (
        INVENTED[name]
        + ("functions.weather" if name == "harmony" else "")
        + ("<|message|>" if name == "harmony" else "")
    )
    both = chosen.write_calls([OSLO, LIMA], TOOLS)
    between = "<|start|>assistant" if name == "harmony" else "\n"
    general = [
        Accepted(oslo, (WEATHER_OSLO,)),
        Accepted(lima, (WEATHER_LIMA,)),
        Accepted(time, (THE_TIME,)),
        Accepted(both, (WEATHER_OSLO, WEATHER_LIMA)),
        Accepted(f"\n  {oslo}\n\n", (WEATHER_OSLO,)),
        Accepted(f"{oslo}\nNow I wait.", (WEATHER_OSLO,), "Now I wait."),
        Accepted(f"{oslo}\n{invented}sunny", (WEATHER_OSLO,), cut_at=INVENTED[name]),
        Accepted(f"{oslo}{between}{lima}{between}{oslo}", (WEATHER_OSLO, WEATHER_LIMA, WEATHER_OSLO)),
        Accepted(
            chosen.write_calls([ToolCall.of("a", "search", {"query": 'Ø "quoted" <b>\n{x} [y] \\'})], TOOLS),
            (("search", {"query": 'Ø "quoted" <b>\n{x} [y] \\'}),),
        ),
        Accepted(f"{time}\n", (THE_TIME,)),
    ]
    if name not in _OWN_FENCE:
        general += [
            Accepted(f"```json\n{oslo}\n```", (WEATHER_OSLO,)),
            Accepted(f"Let me look.\n\n```\n{oslo}\n```\nDone.", (WEATHER_OSLO,), "Let me look.Done."),
            Accepted(f"{oslo}<|im_end|>" if name != "deepseek" else f"{oslo}<｜end▁of▁sentence｜>", (WEATHER_OSLO,)),
        ]
    if name != "harmony":
        general.append(Accepted(f"Let me look.\n\n{oslo}", (WEATHER_OSLO,), "Let me look."))
    return [*general, *_ACCEPTED.get(name, ())]


def refused(name: str) -> list[str]:
    """Returns outputs that stay text as they are, with the tools offered."""
    written = tool_format(name).write_calls([OSLO], TOOLS)
    return [
        "",
        "It is sunny in Oslo.",
        "See [weather](https://example.org/weather?city=Oslo) and [1, 2, 3].",
        "```python\nimport weather\n\nprint(weather.__doc__)\n```",
        '{"city": "Oslo", "days": 3}',
        'The object {"name": "Ada", "age": 36} is a person, [{"name": "Bob"}] a list.',
        "Use a tool, <b>please</b>: 1 < 2 and a <|b|> c.",
        "`weather(city='Oslo')` would be the call, [see there].",
        " \n\t\n ",
        f"{written[:4]}",
        "1. weather\n2. now\n\n[TOOL] {weather} <weather> ```weather```",
        *_REFUSED.get(name, ()),
    ]


_ACCEPTED: dict[str, tuple[Accepted, ...]] = {
    "hermes": (
        Accepted(
            '<tool_call>{"name": "weather", "arguments": {"city": "Oslo"}}',
            (WEATHER_OSLO,),
            repair="missing </tool_call>",
        ),
        Accepted(
            '<tool_call>{"name": "weather", "arguments": {"city": "Oslo"}</tool_call>',
            (WEATHER_OSLO,),
            repair="missing bracket",
        ),
        Accepted(
            "<tool_call>{'name': 'weather', 'arguments': {'city': 'Oslo'}}</tool_call>",
            (WEATHER_OSLO,),
            repair="single quotes",
        ),
        Accepted(
            '<tool_call>{"name": "weather", "arguments": {"city": "Oslo",},}</tool_call>',
            (WEATHER_OSLO,),
            repair="trailing comma",
        ),
        Accepted(
            '<tool_call>{name: "weather", arguments: {city: "Oslo"}}</tool_call>',
            (WEATHER_OSLO,),
            repair="keys without quotes",
        ),
        Accepted(
            '<tool_call>{"name": "weather", "arguments": "{\\"city\\": \\"Oslo\\"}"}</tool_call>', (WEATHER_OSLO,)
        ),
        Accepted(
            '<tool_call>\n```json\n{"name": "weather", "arguments": {"city": "Oslo"}}\n```\n</tool_call>',
            (WEATHER_OSLO,),
        ),
        Accepted(
            '<tool_call>[{"name": "weather", "parameters": {"city": "Oslo"}}, {"name": "now"}]</tool_call>',
            (WEATHER_OSLO, THE_TIME),
        ),
        Accepted(
            '<tool_call>{"name": "weather", "arguments": {"city": "Os</tool_call>lo"}}</tool_call>',
            (("weather", {"city": "Os</tool_call>lo"}),),
        ),
        Accepted('<tool_call>{"name": "unknown", "arguments": {}}</tool_call>', (("unknown", {}),)),
        Accepted(
            '<tool_call>{"name": "functions.weather", "arguments": {"city": "Oslo"}}</tool_call>', (WEATHER_OSLO,)
        ),
        Accepted(
            '<tool_call>{"type": "function", "function": {"name": "weather", "arguments": {"city": "Oslo"}}}</tool_call>',
            (WEATHER_OSLO,),
        ),
    ),
    "qwen_coder": (
        Accepted("<function=weather>\n<parameter=city>\nOslo\n</parameter>\n</function>", (WEATHER_OSLO,)),
        Accepted(
            "<tool_call>\n<function=weather>\n<parameter=city>Oslo</parameter>\n</function>\n</tool_call>",
            (WEATHER_OSLO,),
        ),
        Accepted(
            "<tool_call>\n<function=weather>\n<parameter=city>\nOslo\n</function>\n</tool_call>",
            (WEATHER_OSLO,),
            repair="missing </parameter>",
        ),
        Accepted(
            "<tool_call><function=weather><parameter=city>\nOslo\n</parameter>",
            (WEATHER_OSLO,),
            repair="missing </function>",
        ),
        Accepted("<function=search>\n<parameter=query>\n5\n</parameter>\n</function>", (("search", {"query": "5"}),)),
        Accepted(
            "<function=weather>\n<parameter=city>\nLima\n</parameter>\n<parameter=days>\n3\n</parameter>\n</function>",
            (WEATHER_LIMA,),
        ),
        Accepted(
            "<function=search>\n<parameter=query>\na </parameter> b\n</parameter>\n</function>",
            (("search", {"query": "a </parameter> b"}),),
        ),
        Accepted("<function=unknown>\n<parameter=x>\n[1, 2]\n</parameter>\n</function>", (("unknown", {"x": [1, 2]}),)),
    ),
    "llama3": (
        Accepted('<|python_tag|>{"name": "weather", "parameters": {"city": "Oslo"}}<|eom_id|>', (WEATHER_OSLO,)),
        Accepted(
            '{"name": "weather", "parameters": {"city": "Oslo"}};{"name": "now", "parameters": {}}',
            (WEATHER_OSLO, THE_TIME),
        ),  # vLLM
        Accepted('{"name": "weather", "arguments": {"city": "Oslo"}}', (WEATHER_OSLO,)),  # vLLM
        Accepted(
            'Here is the result: {"name": "now", "parameters": {}} Would you like to know more?',
            (THE_TIME,),
            "Here is the result:Would you like to know more?",
        ),  # vLLM
        Accepted(
            '{"name": "weather", "parameters": {"city": "Oslo"}} I used {weather} for this.',
            (WEATHER_OSLO,),
            "I used {weather} for this.",
        ),  # vLLM
        Accepted('{"type": "function", "name": "weather", "parameters": {"city": "Oslo"}}', (WEATHER_OSLO,)),
        Accepted('[{"name": "weather", "parameters": {"city": "Oslo"}}]', (WEATHER_OSLO,)),
        Accepted("{'name': 'weather', 'parameters': {'city': 'Oslo'}}", (WEATHER_OSLO,), repair="single quotes"),
    ),
    "pythonic": (
        Accepted("[weather(city='Oslo')]", (WEATHER_OSLO,)),
        Accepted("<|python_start|>[weather(city='Oslo')]<|python_end|>", (WEATHER_OSLO,)),
        Accepted("<|tool_call_start|>[weather(city='Oslo'), now()]<|tool_call_end|>", (WEATHER_OSLO, THE_TIME)),
        Accepted("<|tool_call_start|>weather(city='Oslo')<|tool_call_end|>", (WEATHER_OSLO,)),
        Accepted("[weather('Oslo')]", (WEATHER_OSLO,)),
        Accepted("[weather(city='Lima', days=3,)]", (WEATHER_LIMA,)),
        Accepted(
            r"[weather(city='Martha\'s Vineyard', units='\"cool units\"')]",
            (("weather", {"city": "Martha's Vineyard", "units": '"cool units"'}),),
        ),  # vLLM
        Accepted("[weather(city='Oslo', units=None)]", (("weather", {"city": "Oslo", "units": None}),)),
    ),
    "mistral": (
        Accepted('[TOOL_CALLS][{"name": "weather", "arguments": {"city": "Oslo"}}]', (WEATHER_OSLO,)),
        Accepted(
            '[TOOL_CALLS] [{"name": "weather", "arguments": {"city": "Oslo"}, "id": "a1b2c3d4e"}]', (WEATHER_OSLO,)
        ),
        Accepted('[TOOL_CALLS]weather{"city": "Oslo"}', (WEATHER_OSLO,)),
        Accepted('[TOOL_CALLS]weather[CALL_ID]a1b2c3d4e[ARGS]{"city": "Oslo"}', (WEATHER_OSLO,)),
        Accepted('[TOOL_CALLS]weather[ARGS]{"city": "Oslo"}[TOOL_CALLS]now[ARGS]{}</s>', (WEATHER_OSLO, THE_TIME)),
        Accepted(
            "[TOOL_CALLS][{'name': 'weather', 'arguments': {'city': 'Oslo'}}]", (WEATHER_OSLO,), repair="single quotes"
        ),
        Accepted('[TOOL_CALLS]unknown[ARGS]{"x": 1}', (("unknown", {"x": 1}),)),
    ),
    "gemma3": (
        Accepted("```tool_code\nprint(weather(city='Oslo'))\n```", (WEATHER_OSLO,)),
        Accepted("```python\nweather(city='Oslo')\nnow()\n```", (WEATHER_OSLO, THE_TIME)),
        Accepted("```tool_code\n[weather(city='Oslo')]\n```", (WEATHER_OSLO,)),
        Accepted("```tool_code\nweather('Oslo')\n```", (WEATHER_OSLO,)),
        Accepted("```tool_code\ndefault_api.weather(city='Oslo')\n```", (WEATHER_OSLO,)),
        Accepted("```tool_code\nweather(city='Oslo'); now()\n```", (WEATHER_OSLO, THE_TIME)),
        Accepted('```tool_code\nsearch(query="""a\n"b" ``` c""")\n```', (("search", {"query": 'a\n"b" ``` c'}),)),
    ),
    "gemma4": (
        Accepted(
            '<|tool_call>call:weather{city:<|"|>Paris, France<|"|>}<tool_call|>',
            (("weather", {"city": "Paris, France"}),),
        ),  # vLLM
        Accepted(
            "<|tool_call>call:f{is_active:true,count:42,score:3.14}<tool_call|>",
            (("f", {"is_active": True, "count": 42, "score": 3.14}),),
        ),  # vLLM
        Accepted(
            '<|tool_call>call:f{nested:{inner:<|"|>value<|"|>},list:[<|"|>a<|"|>,<|"|>b<|"|>]}<tool_call|>',
            (("f", {"nested": {"inner": "value"}, "list": ["a", "b"]}),),
        ),  # vLLM
        Accepted(
            '<|tool_call>call:get-weather{city:<|"|>London<|"|>}<tool_call|>', (("get-weather", {"city": "London"}),)
        ),  # vLLM
        Accepted(
            '<|tool_call>call:f{record_map:{<|"|>3<|"|>:<|"|>new text<|"|>}}<tool_call|>',
            (("f", {"record_map": {"3": "new text"}}),),
        ),  # vLLM
        Accepted("<|tool_call>call:weather{city:Oslo}<tool_call|>", (WEATHER_OSLO,), repair="a text without quotes"),
        Accepted('<|tool_call>call:weather{"city": "Oslo"}<tool_call|>', (WEATHER_OSLO,)),
        Accepted('<|tool_call>call:weather{city:<|"|>Oslo<|"|>}', (WEATHER_OSLO,), repair="missing <tool_call|>"),
    ),
    "kimi_k2": (
        Accepted(
            '<|tool_call_begin|>functions.weather:0<|tool_call_argument_begin|>{"city": "Oslo"}<|tool_call_end|>',
            (WEATHER_OSLO,),
        ),
        Accepted(
            '<|tool_call_begin|>weather:0<|tool_call_argument_begin|>{"city": "Oslo"}<|tool_call_end|>', (WEATHER_OSLO,)
        ),
        Accepted(
            '<|tool_call_begin|>weather<|tool_call_argument_begin|>{"city": "Oslo"}<|tool_call_end|>', (WEATHER_OSLO,)
        ),
        Accepted(
            '<|tool_calls_section_begin|>\n<|tool_call_begin|> functions.weather:0 <|tool_call_argument_begin|> {"city": "Oslo"} <|tool_call_end|>\n<|tool_calls_section_end|>',
            (WEATHER_OSLO,),
        ),
        Accepted("<|tool_call_begin|>functions.now:0<|tool_call_argument_begin|><|tool_call_end|>", (THE_TIME,)),
        Accepted(
            "<|tool_call_begin|>functions.weather:0<|tool_call_argument_begin|>{'city': 'Oslo'}<|tool_call_end|>",
            (WEATHER_OSLO,),
            repair="single quotes",
        ),
        Accepted(
            '<|tool_call_begin|>functions.weather:0<|tool_call_argument_begin|>{"city": "Oslo"}',
            (WEATHER_OSLO,),
            repair="missing <|tool_call_end|>",
        ),
    ),
    "glm": (
        Accepted("<tool_call>weather<arg_key>city</arg_key><arg_value>Oslo</arg_value></tool_call>", (WEATHER_OSLO,)),
        Accepted("<tool_call>now</tool_call>", (THE_TIME,)),
        Accepted(
            "<tool_call> weather \n<arg_key>city</arg_key>\n<arg_value>Oslo</arg_value>\n</tool_call>", (WEATHER_OSLO,)
        ),
        Accepted(
            "<tool_call>weather\n<arg_key>city</arg_key>\n<arg_value>Oslo</arg_value>",
            (WEATHER_OSLO,),
            repair="missing </tool_call>",
        ),
        Accepted(
            "<tool_call>search\n<arg_key>query</arg_key>\n<arg_value>5</arg_value>\n</tool_call>",
            (("search", {"query": "5"}),),
        ),
        Accepted(
            '<tool_call>unknown\n<arg_key>x</arg_key>\n<arg_value>{"a": 1}</arg_value>\n</tool_call>',
            (("unknown", {"x": {"a": 1}}),),
        ),
        Accepted(
            "<tool_call>search\n<arg_key>query</arg_key>\n<arg_value>a </tool_call> b</arg_value>\n</tool_call>",
            (("search", {"query": "a </tool_call> b"}),),
        ),
    ),
    "deepseek": (
        Accepted(
            '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>weather\n```json\n{"city": "Oslo"}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
            (WEATHER_OSLO,),
        ),
        Accepted('<｜tool▁call▁begin｜>weather<｜tool▁sep｜>{"city": "Oslo"}<｜tool▁call▁end｜>', (WEATHER_OSLO,)),
        Accepted(
            '<｜tool▁calls▁begin｜>\n<｜tool▁call▁begin｜>weather<｜tool▁sep｜>{"city": "Oslo"}<｜tool▁call▁end｜>\n<｜tool▁calls▁end｜>',
            (WEATHER_OSLO,),
        ),
        Accepted(
            "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>weather<｜tool▁sep｜>{'city': 'Oslo'}<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
            (WEATHER_OSLO,),
            repair="single quotes",
        ),
        Accepted(
            '<｜tool▁call▁begin｜>weather<｜tool▁sep｜>{"city": "Oslo"}',
            (WEATHER_OSLO,),
            repair="missing <｜tool▁call▁end｜>",
        ),
        Accepted("<｜tool▁call▁begin｜>now<｜tool▁sep｜><｜tool▁call▁end｜>", (THE_TIME,)),
        Accepted('<｜tool▁call▁begin｜>unknown<｜tool▁sep｜>{"x": 1}<｜tool▁call▁end｜>', (("unknown", {"x": 1}),)),
    ),
    "minimax": (
        Accepted('<invoke name="weather"><parameter name="city">Oslo</parameter></invoke>', (WEATHER_OSLO,)),
        Accepted('<minimax:tool_call><invoke name="now"></invoke></minimax:tool_call>', (THE_TIME,)),
        Accepted(
            "<minimax:tool_call>\n<invoke name=weather>\n<parameter name=city>Oslo</parameter>\n</invoke>\n</minimax:tool_call>",
            (WEATHER_OSLO,),
        ),
        Accepted(
            '<minimax:tool_call>\n<invoke name="weather">\n<parameter name="city">Oslo</invoke>\n</minimax:tool_call>',
            (WEATHER_OSLO,),
            repair="missing </parameter>",
        ),
        Accepted(
            '<minimax:tool_call>\n<invoke name="weather">\n<parameter name="city">Oslo</parameter>',
            (WEATHER_OSLO,),
            repair="missing </invoke>",
        ),
        Accepted(
            '<invoke name="search"><parameter name="query">a </parameter> b</parameter></invoke>',
            (("search", {"query": "a </parameter> b"}),),
        ),
        Accepted('<invoke name="unknown"><parameter name="x">[1]</parameter></invoke>', (("unknown", {"x": [1]}),)),
    ),
    "harmony": (
        Accepted('<|channel|>commentary to=functions.weather<|message|>{"city": "Oslo"}<|call|>', (WEATHER_OSLO,)),
        Accepted(
            '<|channel|>commentary to=functions.weather <|constrain|>json<|message|>{"city": "Oslo"}', (WEATHER_OSLO,)
        ),
        Accepted(' to=functions.weather<|channel|>commentary json<|message|>{"city": "Oslo"}', (WEATHER_OSLO,)),
        Accepted(
            '<|start|>assistant to=functions.weather<|channel|>commentary<|message|>{"city": "Oslo"}<|call|>',
            (WEATHER_OSLO,),
        ),
        Accepted(
            "<|channel|>commentary<|message|>I look.<|end|><|start|>assistant<|channel|>commentary to=functions.now<|message|>{}<|call|>",
            (THE_TIME,),
            "I look.",
        ),
        Accepted(
            "<|channel|>commentary to=functions.weather<|message|>{'city': 'Oslo'}<|call|>",
            (WEATHER_OSLO,),
            repair="single quotes",
        ),
        Accepted('<|channel|>commentary to=functions.unknown<|message|>{"x": 1}<|call|>', (("unknown", {"x": 1}),)),
        Accepted("<|channel|>analysis to=functions.now<|message|>{}<|call|>", (THE_TIME,)),
    ),
    "react": (
        Accepted(
            'Thought: I need it.\nAction: weather\nAction Input: {"city": "Oslo"}\nObservation: sunny',
            (WEATHER_OSLO,),
            cut_at="Observation:",
        ),
        Accepted('Action: weather\nAction Input:\n```json\n{"city": "Oslo"}\n```', (WEATHER_OSLO,)),
        Accepted("Action: weather\nAction Input: {'city': 'Oslo'}", (WEATHER_OSLO,), repair="single quotes"),
        Accepted(
            "Action: search\nAction Input: Oslo today\n",
            (("search", {"query": "Oslo today"}),),
            repair="arguments as a text",
        ),
        Accepted("Action: now\n", (THE_TIME,)),
        Accepted("Action: now\nAction Input: None\nObservation: 5", (THE_TIME,), cut_at="Observation:"),
        Accepted('**Action:** weather\n**Action Input:** {"city": "Oslo"}', (WEATHER_OSLO,)),
        Accepted('Action: weather(city="Oslo")\n', (WEATHER_OSLO,)),
        Accepted('Action: weather\nAction Input: {\n  "city": "Oslo"\n}\n', (WEATHER_OSLO,)),
    ),
}

_REFUSED: dict[str, tuple[str, ...]] = {
    "hermes": (
        "<tool_call>",
        "Write <tool_call> and then JSON.",
        "<tool_call>weather</tool_call>",
        '<tool_call>{"name": "\\ud800", "arguments": {}}</tool_call>',
        "<tool_call>{}</tool_call>",
        '<tool_call>{"city": "Oslo"}</tool_call>',
        "<tool_call>[1, 2]</tool_call>",
    ),
    "qwen_coder": (
        "<tool_call>",
        "Write <tool_call> and then <function= with a name.",
        "<function=",
        "<tool_call>\n<function=weather>",
        '<tool_call>{"name": "weather"}</tool_call>',
        "<function=weather and so on>",
    ),
    "llama3": (
        '{"name": "weather"}',  # vLLM: no arguments
        '{"parameters": {}}',  # vLLM
        '{"name": "invalidTool", "parameters": {invalid json}',  # vLLM
        '{"name": "unknown", "parameters": {}}',
        '{"name": "weather", "parameters": {"city": "Oslo"}',
        '{"name": "weather", "parameters": {}, "age": 3}',
    ),
    "pythonic": (
        "[weather(city=unknown_name)]",
        "[weather(city='Oslo']",
        "[unknown(x=1)]",
        "[weather]",
        "hello world[A(A=\t)A(A=,\t\t)A(A=,\t",  # vLLM
        "[f(a='x 'y' 'z), g(b='p 'q' 'r)]",  # vLLM
        "[weather(x=1e999)]",  # vLLM
    ),
    "mistral": (
        "[TOOL_CALLS]",
        "[TOOL_CALLS][]",
        "[TOOL_CALLS][1, 2]",
        "[TOOL_CALLS] and then a name and }",
        "[TOOL_CALLS]weather[ARGS]",
        "[TOOL CALLS]weather{}",
    ),
    "gemma3": (
        "```tool_code\nprint('hello')\n```",
        "```python\nresult = weather(city='Oslo')\n```",
        "```tool_code\nunknown(x=1)\n```",
        "```tool_code\nfor i in range(3):\n    weather(city=i)\n```",
        "```tool_code\n```",
        "```tool_code\nweather(city='Oslo')",
    ),
    "gemma4": (
        "<|tool_call>",
        "<|tool_call>call:",
        "<|tool_call>call:weather<tool_call",
        "<|tool_call>some words and more words {}<tool_call|>",
        "<|tool_call>}",
        "call:weather{}",
    ),
    "kimi_k2": (
        "<|tool_call_begin|>",
        "<|tool_calls_section_begin|><|tool_calls_section_begin|>",
        '<|tool_call_begin|>weather {"city": "Oslo"}<|tool_call_end|>',
        '<|tool_calls_section_begin|>{"city": "Oslo"}',
        "<|tool_call_begin|>functions.weather:0<|tool_call_argument_begin|>",
        "functions.weather:0",
    ),
    "glm": (
        "<tool_call>",
        "Write <tool_call> <b>and</b> so on.",
        '<tool_call>{"name": "weather"}</tool_call>',
        "<tool_call>two words</tool_call>",
        "<tool_call>weather\n<arg_key>city",
        "<tool_call>weather <arg>city</arg></tool_call>",
    ),
    "deepseek": (
        "<｜tool▁calls▁begin｜>",
        "<｜tool▁calls▁begin｜>{}",
        "<｜tool▁call▁begin｜>two words<｜tool▁sep｜>{}<｜tool▁call▁end｜>",
        "<｜tool▁call▁begin｜>weather<｜tool▁sep｜>",
        "<｜tool▁sep｜>weather",
        "<|tool_call_begin|>weather<|tool_sep|>{}",
    ),
    "minimax": (
        "<minimax:tool_call>",
        "<minimax:tool_call> and <invoke",
        "<invoke weather>",
        '<invoke name="weather">',
        "<minimax:tool_call></minimax:tool_call>",
        "<minimax:tool_call>weather</minimax:tool_call>",
    ),
    "harmony": (
        "<|channel|>commentary to=functions.weather",
        "<|channel|>commentary to=functions.weather<|message|>",
        " to=functions.weather",
        "to=functions",
        "<|chan and <|mess",
        "<|start|>assistant",
    ),
    "react": (
        "Action:",
        "Action: none",
        "Action: weather",
        "Action: weather\nAction Input: \n",
        "Action: two words\nAction Input: {}",
        "Thought: it is sunny.",
        "The Action: weather is not at the beginning of the line.",
        "Actions speak louder than words.",
    ),
}
assert {*_ACCEPTED, *_REFUSED} == set(TOOL_FORMATS)
