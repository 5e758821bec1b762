"""The README of a model directory: what the card says, for people. Imports nothing heavy."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

README = "README.md"
_CLASS_NAMES = {-1: "bad (-1)", 0: "okay (0)", 1: "good (+1)"}
_READOUT = {"mark": "at the step mark", "before": "at the last token before the step mark"}


def write_readme(directory: Path, card: Mapping[str, Any]) -> None:
    """Write the README from a card; only what the card says is in it."""
    (directory / README).write_text(render(card), encoding="utf-8")


def render(card: Mapping[str, Any]) -> str:
    """Markdown with classes, design, read-out, marks, splitter, recipe, data and metrics."""
    design = card.get("design", "label")
    tokens = ", ".join(f"`{token}`" for token in card["label_tokens"])
    outcome = card.get("kind") == "orm"
    lines = [
        f"# {card.get('name', 'Reward model')}",
        "",
        "An outcome reward model: read at the last step."
        if outcome
        else "A process reward model: read at every step.",
        "",
        "| | |",
        "|---|---|",
        f"| classes, in the order of its rows | {', '.join(_CLASS_NAMES[c] for c in card['classes'])} |",
        f"| design | {'classification head' if design == 'head' else f'label tokens {tokens}'} |",
        f"| read-out | {_READOUT[card.get('readout', 'mark')]} |",
        f"| marks | `{card['solution_mark']}` after the problem, `{card['step_mark']}` after each step |",
        f"| longest path | {card['max_length']} tokens |",
    ]
    for key, name in (
        ("splitter", "splitter of the steps"),
        ("base", "base"),
        ("parameters", "weights"),
        ("data_sha256", "SHA-256 of the data snapshot"),
        ("fingerprint", "fingerprint of settings and data"),
    ):
        if card.get(key) is not None:
            lines.append(f"| {name} | {card[key]} |")
    for key, title in (("train", "Trained on"), ("held_out", "Held-out numbers"), ("recipe", "Recipe")):
        if card.get(key):
            lines += ["", f"## {title}", "", "| | |", "|---|---|"]
            lines += [
                f"| {name} | {_shown(value)} |"
                for name, value in card[key].items()
                if not isinstance(value, list)
            ]
    lines += ["", "Load it with `models_prm.scoring.PrmScorer.load(directory)`.", ""]
    return "\n".join(lines)


def _shown(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.5g}"
    if isinstance(value, Mapping):
        return ", ".join(f"{k}: {_shown(v)}" for k, v in value.items())
    return str(value).replace("|", "\\|").replace("\n", " ")
