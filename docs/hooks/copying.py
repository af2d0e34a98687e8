"""What the copy button of a session takes: its commands, without prompts and output."""

from __future__ import annotations

import html
import re
from typing import Any

CODE = re.compile(r"(<pre[^>]*>(?:<span></span>)?<code)>(.*?)</code>", flags=re.DOTALL)
TAG = re.compile(r"<[^>]+>")
PYTHON, SHELL = re.compile(r">>> |\.\.\.(?: |$)"), re.compile(r"\$ ")


def on_post_page(output: str, **_: Any) -> str:
    return CODE.sub(with_commands, output)


def with_commands(found: re.Match[str]) -> str:
    """The theme copies the attribute, where there is one, in place of the text."""
    commands = commands_in(html.unescape(TAG.sub("", found[2])))
    return f'{found[1]} data-copy="{html.escape(commands)}">{found[2]}</code>' if commands else found[0]


def commands_in(text: str) -> str:
    """What stands after prompts; nothing if there are none.

    >>> commands_in(">>> for i in range(2):\\n...     print(i)\\n0\\n1\\n")
    'for i in range(2):\\n    print(i)'
    """
    prompts = PYTHON if text.startswith(">>> ") else SHELL
    return "\n".join(line[found.end() :] for line in text.splitlines() if (found := prompts.match(line)))
