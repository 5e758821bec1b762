"""A picture of a search: the tree of its record as one SVG text, with nothing else needed to show it.

Shape and line say what became of a step, colour and number what the scorer thought of the path to it; the
step's text is the tooltip. Colours are a blue-to-orange scale that colour-blind readers can tell apart.
"""

from __future__ import annotations

import re
from xml.sax.saxutils import escape

from models_prm.search.records import Node, SearchRecord

ACROSS, DOWN, RADIUS, EDGE = 58, 74, 17, 40
_NOT_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_STROKES = {
    "chosen": 'stroke="#111" stroke-width="4"',
    "finished": 'stroke="#111" stroke-width="2"',
    "kept": 'stroke="#333" stroke-width="1.5"',
    "pruned": 'stroke="#888" stroke-width="1" opacity="0.55"',
    "unfinished": 'stroke="#888" stroke-width="1.5" stroke-dasharray="4 3"',
    "open": 'stroke="#888" stroke-width="1"',
}
LEGEND = (
    "square: finished solution; thick: chosen; dashed: unfinished; pale: pruned; "
    "number: score of the path; x2: equal proposals"
)


def tree_svg(record: SearchRecord) -> str:
    """The tree as SVG. Every node is drawn; a wide tree makes a wide picture."""
    places = _layout(record.nodes)
    width = max(x for x, _ in places) + 2 * EDGE + RADIUS
    height = max(y for _, y in places) + 2 * EDGE + 50
    chosen = _path(record)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" font-family="sans-serif" font-size="11" role="img">',
        f"<title>{_text(_headline(record))}</title>",
        f'<rect width="{width:.0f}" height="{height:.0f}" fill="#fff"/>',
        f'<text x="10" y="18" font-size="13">{_text(_headline(record))}</text>',
        f'<text x="10" y="{height - 10:.0f}" fill="#444">{_text(LEGEND)}</text>',
    ]
    parts += [_line(node, places, node.id in chosen) for node in record.nodes[1:]]
    parts += [_shape(record, node, *places[node.id]) for node in record.nodes]
    return "\n".join([*parts, "</svg>"]) + "\n"


def _headline(record: SearchRecord) -> str:
    best = record.nodes[record.chosen].value if record.chosen is not None else None
    what = "nothing chosen" if best is None else f"chosen with {best:.3f}"
    cost = f"{record.usage.generated_tokens} tokens written, {record.usage.prm_tokens} scored"
    return f"{record.method}, {record.problem.key}: {what}; {cost}; ended by {record.stopped}"


def _layout(nodes: list[Node]) -> list[tuple[float, float]]:
    """Where each node's middle is: leaves side by side, a parent over the middle of its children."""
    children: dict[int, list[int]] = {}
    for node in nodes[1:]:
        children.setdefault(node.parent, []).append(node.id)
    across = [0.0] * len(nodes)
    leaves = 0
    order: list[int] = []
    stack = [0]
    while stack:
        place = stack.pop()
        order.append(place)
        stack.extend(reversed(children.get(place, [])))
    for place in order:
        if place not in children:
            across[place] = leaves
            leaves += 1
    for place in reversed(order):
        if below := children.get(place):
            across[place] = (across[below[0]] + across[below[-1]]) / 2
    return [(EDGE + ACROSS * across[n.id], EDGE + 20 + DOWN * n.depth) for n in nodes]


def _path(record: SearchRecord) -> set[int]:
    path, place = set(), record.chosen
    while place is not None and place > 0:
        path.add(place)
        place = record.nodes[place].parent
    return path


def _line(node: Node, places: list[tuple[float, float]], on_path: bool) -> str:
    (x1, y1), (x2, y2) = places[node.parent], places[node.id]
    look = 'stroke="#111" stroke-width="3"' if on_path else 'stroke="#aaa" stroke-width="1"'
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" {look}/>'


def _shape(record: SearchRecord, node: Node, x: float, y: float) -> str:
    text = record.problem.text if node.id == 0 else node.text or "(the text ends here)"
    said = [text, f"[{node.fate}{': ' + node.reason if node.reason else ''}]"]
    if node.probs is not None:
        said.append("step: bad {:.3f}, okay {:.3f}, good {:.3f}".format(*node.probs))
    if node.visits:
        said.append(f"visits {node.visits}, mean value {node.total / node.visits:.3f}")
    look = f'fill="{_colour(node.value)}" {_STROKES[node.fate]}'
    if node.finished:
        side = 2 * RADIUS
        shape = f'<rect x="{x - RADIUS:.1f}" y="{y - RADIUS:.1f}" width="{side}" height="{side}" {look}/>'
    else:
        shape = f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{RADIUS}" {look}/>'
    number = "" if node.value is None else f"{node.value:.2f}"
    label = f'<text x="{x:.1f}" y="{y + 4:.1f}" text-anchor="middle">{number}</text>'
    under = f"x{node.count}" if node.count > 1 else ""
    if node.visits:
        under = f"{under} {node.visits} visits".strip()
    note = f'<text x="{x:.1f}" y="{y + RADIUS + 13:.1f}" text-anchor="middle" fill="#444">{under}</text>'
    return f"<g><title>{_text(chr(10).join(said))}</title>{shape}{label}{note if under else ''}</g>"


def _colour(value: float | None) -> str:
    """From orange (0) over white to blue (1); grey where there is no score."""
    if value is None:
        return "#eee"
    share = min(1.0, max(0.0, value))
    low, middle, high = (245, 158, 76), (255, 255, 255), (120, 170, 230)
    ends, place = ((low, middle), share * 2) if share < 0.5 else ((middle, high), share * 2 - 1)
    red, green, blue = (round(a + (b - a) * place) for a, b in zip(*ends, strict=True))
    return f"#{red:02x}{green:02x}{blue:02x}"


def _text(text: str) -> str:
    """Text for XML: escaped, without the characters XML cannot hold."""
    return escape(_NOT_XML.sub("\ufffd", text))
