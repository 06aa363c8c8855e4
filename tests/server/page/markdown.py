"""Markdown that models write, and that somebody might have them write."""

from __future__ import annotations

from typing import Final

SAMPLE: Final = """\
# A receipt

### Its total

The total is **12.50 EUR**: *two* espressos and a ~~tip~~ `cake`.
On a line of its own.

| item     | each | |
|----------|-----:|-|
| espresso | 3.00 | x |

3. Add the lines
4. Compare
   - rounding

1. First

2. Second, after an empty line

```python
print("<b>sum</b>")
```

> See [the docs](https://example.com/docs) or [their index][index].

    indented code

---
![a map](https://example.com/map.png)

[index]: https://example.com/index
"""
"""Every element that answers have, a list after a list, and a link whose address follows it."""

HOSTILE: Final = {
    "script": "<script>document.title = 1</script>",
    "event": '<img src="https://example.com/x.png" onerror="document.title = 2"><svg onload=alert(1)>',
    "block of HTML": '<div>\n<iframe src="https://example.com"></iframe>\n</div>\n<style>* { color: red }</style>',
    "link to a script": "[a](javascript:alert(1)) [b](JaVaScRiPt:alert(1)) [c](&#106;avascript:x) <javascript:x>",
    "link to a file": "[a](file:///etc/passwd) [b](data:text/html,<script>alert(1)</script>) [c](vbscript:x)",
    "link with a line": "[a](java\nscript:alert(1)) [b](<java\tscript:alert(1)>) [c]( javascript:alert(1))",
    "link to this server": "[a](/dashboard) [b](//example.com/x) [c](#prompt) [d](?x)",
    "defined link": "[a][x] ![b][x]\n\n[x]: javascript:alert(1)",
    "attributes": '[a](https://example.com/"onclick="alert(1) "title\\" onclick=alert(1)")',
    "image elsewhere": "![a](https://example.com/a.png) ![b](//example.com/b.png) ![c](http://127.0.0.1:9/c.png)",
    "image in the text": "![a](data:image/svg+xml,<svg/onload=alert(1)>) ![b](data:image/png;base64,iVBORw0KGgo=)",
    "language": '```"><script>alert(1)</script>\nx\n```',
    "entities": "&lt;script&gt;alert(1)&lt;/script&gt; &#60;b&#62; &#0; \0",
    "direction": "\u202etxet\u202c \u2066x\u2069 \ufeff",
    "clobbering": "<form id=prompt><input name=value></form> <a id=log name=log></a>\n# log {#log}",
}
"""By what they try: texts of which nothing may run or be loaded."""

LARGE: Final = {
    "brackets": "[" * 1_000_000,
    "fewer brackets": "[" * 20_000,
    "lists in lists": "\n".join("  " * depth + "- x" for depth in range(300)),
    "lists in a line": "- " * 10_000 + "the end",
    "quotes": ">" * 10_000 + "the end",
    "emphasis": "*_" * 10_000 + "x" + "_*" * 10_000,
    "images": "![" * 10_000,
    "backticks": "".join("`" * count + "x" for count in range(300)),
    "table": "|a" * 5_000 + "\n" + "|-" * 5_000 + "\n" + "|x" * 5_000,
    "rows": "|" + "a|" * 200 + "\n|" + "-|" * 200 + "\n" + "|\n" * 20_000,
    "one word": "x" * 90_000,
}
"""By what they are full of: texts that take a naive parser minutes, its stack, or the memory."""
