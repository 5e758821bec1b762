"""A project's guidelines as blocks to show: headings, lists and paragraphs of a plain text."""

import re
from dataclasses import dataclass, field

HEADING = re.compile(r"^#{1,4}\s+(.+)$")
BULLET = re.compile(r"^\s*[-*]\s+(.+)$")


@dataclass
class Block:
    kind: str  # "heading", "list", "text"
    text: str = ""
    items: list[str] = field(default_factory=list)


def blocks(text: str) -> list[Block]:
    """`# ` begins a heading, `- ` a list item, an empty line a new paragraph; all else is text."""
    found: list[Block] = []
    for line in text.replace("\r\n", "\n").split("\n"):
        heading, bullet = HEADING.match(line), BULLET.match(line)
        if heading:
            found.append(Block("heading", heading[1].strip()))
        elif bullet:
            if not found or found[-1].kind != "list":
                found.append(Block("list"))
            found[-1].items.append(bullet[1].strip())
        elif not line.strip():
            found.append(Block("end"))
        elif found and found[-1].kind == "text":
            found[-1].text += f"\n{line}"
        elif found and found[-1].kind == "list" and line[0].isspace():
            found[-1].items[-1] += f" {line.strip()}"
        else:
            found.append(Block("text", line))
    return [block for block in found if block.kind != "end"]
