"""One report, three shapes: JSON for programs, Markdown for people, SVG plots. Imports nothing heavy.

    report = Report("best-of-n", best_of_n_report(load_pool(path)), title="Pool A")
    report.write(Path("report"))                  # report.json, report.md and its *.svg

The data come from `pool_report` (kind "best-of-n"), `rated` ("steps") and
`processbench` ("processbench"); only plain numbers, so that a report can be stored in a database
and drawn where numpy is not.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from models_prm.evaluation import plots
from models_prm.evaluation.plots import Bars, Line, Words

NAMES = {
    "prm_score": "PRM",
    "orm_score": "ORM",
    "score": "score",
    "prm_product": "PRM, product",
    "prm_minimum": "PRM, minimum",
    "prm_product_neutral_bad": "PRM, product, neutral bad",
    "prm_minimum_neutral_bad": "PRM, minimum, neutral bad",
    "prm_geometric_mean": "PRM, geometric mean",
    "prm_mean": "PRM, mean",
    "prm_last": "PRM, last step",
    "majority": "majority vote",
    "oracle": "oracle (pass@N)",
}
"""What people call each curve."""


@dataclass(frozen=True)
class Table:
    """Column titles and rows of cells as they are shown."""

    titles: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True)
class Section:
    """A part of a report: a heading, sentences, a table, and the name of a chart; any of them may lack."""

    heading: str
    sentences: Sequence[str] = ()
    table: Table | None = None
    chart: str | None = None


@dataclass(frozen=True)
class Report:
    """Numbers of one kind of evaluation. Raises ValueError for a kind that nothing describes."""

    kind: str
    data: Mapping[str, Any]
    title: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.kind not in _SECTIONS:
            raise ValueError(f"no report of kind {self.kind!r}: choose one of {', '.join(_SECTIONS)}")

    def json(self) -> str:
        """Everything, as a JSON object with `kind`, `title`, `facts` and the data."""
        head = {"kind": self.kind, "title": self.title, "facts": dict(self.facts)}
        return json.dumps({**head, **self.data}, indent=2) + "\n"

    def sections(self) -> list[Section]:
        """The report in words and tables, in reading order; parts without data are left out."""
        return _SECTIONS[self.kind](self.data)

    def charts(self) -> dict[str, str]:
        """SVG texts by name, each a file that stands alone; charts without data are left out."""
        return {name: svg for name, draw in _CHARTS[self.kind].items() if (svg := draw(self.data))}

    def markdown(self, folder: str = "") -> str:
        """Headings, sentences, tables; charts as images from `folder`."""
        charts = self.charts()
        parts = [f"# {self.title or self.kind}"]
        parts += [f"- {name}: {value}" for name, value in self.facts.items()]
        for section in self.sections():
            parts += [f"## {section.heading}", *section.sentences]
            if section.chart in charts:
                parts.append(f"![{section.heading}]({folder}{section.chart}.svg)")
            if section.table is not None:
                parts.append(_markdown_table(section.table))
        return "\n\n".join(parts) + "\n"

    def write(self, directory: Path) -> list[Path]:
        """Write report.json, report.md and one SVG a chart; returns their paths."""
        directory.mkdir(parents=True, exist_ok=True)
        texts = {"report.json": self.json(), "report.md": self.markdown()}
        texts |= {f"{name}.svg": svg for name, svg in self.charts().items()}
        for name, text in texts.items():
            (directory / name).write_text(text, encoding="utf-8")
        return [directory / name for name in texts]


def name_of(key: str) -> str:
    """The name of a curve in words."""
    vote = key.removeprefix("vote_")
    return f"vote weighted by {NAMES.get(vote, vote)}" if vote != key else NAMES.get(key, key)


def curves_of(data: Mapping[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """The curves that belong in one picture: lead, ORM, the lead's vote, majority, oracle; lead first."""
    best, lead = data["best_of_n"], data["lead"]
    shown = {name: best[name] for name in dict.fromkeys((lead, "orm_score")) if name in best}
    if lead in data["weighted_vote"]:
        shown[f"vote_{lead}"] = data["weighted_vote"][lead]
    return {**shown, "majority": data["majority"], "oracle": data["pass_at_n"]}


def percent(value: float | None, digits: int = 1) -> str:
    """0.782 as 78.2; a dash for nothing."""
    return "–" if value is None else f"{100 * value:.{digits}f}"


def decimal(value: float | None) -> str:
    """Three digits; a dash for nothing."""
    return "–" if value is None else f"{value:.3f}"


def _interval(point: Mapping[str, Any]) -> str:
    low, high = point["interval"]
    return f"{percent(point['accuracy'])} ({percent(low)} to {percent(high)})"


def _markdown_table(table: Table) -> str:
    lines = [table.titles, ["---"] * len(table.titles), *table.rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


# Best of N.


def _pool_sections(data: Mapping[str, Any]) -> list[Section]:
    curves = {**curves_of(data), **{k: v for k, v in data["best_of_n"].items() if k != data["lead"]}}
    rows = [[str(n), *(_interval(points[i]) for points in curves.values())] for i, n in enumerate(data["n"])]
    about = (
        f"{data['samples']:,} samples of {data['problems']:,} problems. Accuracy in percent of the best of N "
        "random samples, exact; in brackets the 95% interval over problems."
    )
    errors = [p["draw_error"] for c in curves.values() for p in c if "draw_error" in p]
    if errors:
        about += (
            f" Votes are estimated from random subsets: standard error at most {percent(max(errors), 2)}."
        )
    return [
        Section("Best of N", [about], Table(["N", *map(name_of, curves)], rows), "curve"),
        *_difference_section(data),
        *_grid_section(data),
        *_quintile_section(data),
        *_kind_sections(data),
        *_reasoning_section(data),
        _small_print(data),
    ]


def _difference_section(data: Mapping[str, Any]) -> list[Section]:
    rows = []
    for pair in data["differences"]:
        point = pair["points"][-1]
        low, high = point["interval"]
        cells = [f"{100 * v:+.1f}" for v in (point["difference"], low, high)]
        rows.append(
            [name_of(pair["second"]), cells[0], f"{cells[1]} to {cells[2]}", percent(point["p_above"], 0)]
        )
    if not rows:
        return []
    heading = f"{name_of(data['lead'])} against the others at N = {data['n'][-1]}"
    titles = ["against", "points ahead", "95% interval", "ahead in % of draws"]
    return [Section(heading, ["On the same bootstrap draws of problems."], Table(titles, rows))]


def _grid_section(data: Mapping[str, Any]) -> list[Section]:
    grid = data["grid"]
    if grid is None:
        return []
    cells = {(c["reduction"], c["neutral"]): _interval(c) for c in grid["cells"]}
    rows = [[f"neutral is {n}", cells["product", n], cells["minimum", n]] for n in ("good", "bad")]
    heading = f"Four ways to score a solution, best of {grid['n']}"
    return [Section(heading, (), Table(["", "product", "minimum"], rows))]


def _quintile_section(data: Mapping[str, Any]) -> list[Section]:
    if not data["quintiles"]:
        return []
    names = list(curves_of(data))
    rows = [
        [
            str(q["quintile"]),
            f"{percent(q['pass_rate'][0], 0)} to {percent(q['pass_rate'][1], 0)}",
            str(q["problems"]),
            *(percent(q["accuracy"][name][-1]) for name in names),
        ]
        for q in data["quintiles"]
    ]
    titles = ["quintile (1 is hardest)", "pass rate", "problems", *map(name_of, names)]
    return [Section(f"By difficulty, best of {data['n'][-1]}", (), Table(titles, rows), "quintiles")]


def _kind_sections(data: Mapping[str, Any]) -> list[Section]:
    names = list(curves_of(data))
    sections = []
    for key, heading in (("subjects", "By subject"), ("levels", "By level")):
        rows = [
            [kind["name"], str(kind["problems"]), *(percent(kind["accuracy"][name]) for name in names)]
            for kind in data[key]
        ]
        if rows:
            titles = [key.removesuffix("s"), "problems", *map(name_of, names)]
            sections.append(Section(f"{heading}, best of {data['n'][-1]}", (), Table(titles, rows)))
    return sections


def _reasoning_section(data: Mapping[str, Any]) -> list[Section]:
    if not data.get("reasoning"):
        return []
    keys = ("answer_right", "fully_right", "of_right_answers")
    rows = [
        [name_of(name), f"{row['judged']:.0f} of {row['problems']}", *(percent(row[key]) for key in keys)]
        for name, row in data["reasoning"].items()
    ]
    titles = ["picked by", "judged", "answer right", "no step wrong either", "of right answers"]
    said = ["Picks from all samples of a problem; the last column is the share without a wrong step."]
    return [Section("Reasoning of what is picked", said, Table(titles, rows))]


def _small_print(data: Mapping[str, Any]) -> Section:
    unfinished = data["unfinished"]
    said = [f"{unfinished['samples']:,} unfinished samples keep their slot and may not win."]
    would = [f"{name_of(k)}: {v:.1f}" for k, v in unfinished["would_have_won"].items() if v > 0]
    if would:
        said.append(f"Problems in which one of them has the best score of all: {'; '.join(would)}.")
    minima = data["minima_on_last_step"]
    if minima is not None:
        said.append(
            f"The lowest step is the last one in {percent(minima['share'])}% of solutions "
            f"({percent(minima['by_chance'])}% by chance)."
        )
    tied = {k: n for k, n in data["tied_problems"].items() if n}
    if tied:
        said.append(
            "Problems with tied scores: " + "; ".join(f"{name_of(k)} {n}" for k, n in tied.items()) + "."
        )
    weights = {k: how for k, how in data["vote_weights"].items() if how != "as they are"}
    if weights:
        said.append(
            "Weights of votes: " + "; ".join(f"{how} of {name_of(k)}" for k, how in weights.items()) + "."
        )
    return Section("Small print", said)


def _curve_chart(data: Mapping[str, Any]) -> str:
    series = [
        Line(name_of(name), [(p["n"], p["accuracy"]) for p in points], [tuple(p["interval"]) for p in points])
        for name, points in curves_of(data).items()
    ]
    words = Words(
        "Best of N", "N samples per problem", "problems solved", "Lines with 95% intervals over problems"
    )
    return plots.lines(series, words, log_x=True)


def _quintile_chart(data: Mapping[str, Any]) -> str:
    if not data["quintiles"]:
        return ""
    names = list(curves_of(data))
    series = [Bars(name_of(n), [q["accuracy"][n][-1] for q in data["quintiles"]]) for n in names]
    words = Words(
        f"Best of {data['n'][-1]} by difficulty", "quintile by pass rate, 1 is hardest", "problems solved"
    )
    return plots.bars([str(q["quintile"]) for q in data["quintiles"]], series, words)


# Steps.


def _step_sections(data: Mapping[str, Any]) -> list[Section]:
    steps, agreed, first = data["steps"], data["agreement"], data["first_error"]
    rows = [
        ["AUROC (bad step)", decimal(steps["auroc_bad"]), "0.500"],
        [
            "average precision (bad step)",
            decimal(steps["average_precision_bad"]),
            decimal(steps["prior_bad"]),
        ],
        ["log loss", decimal(steps["loss"]), decimal(steps["loss_of_prior"])],
        ["Brier score (bad step)", decimal(steps["brier_bad"]), decimal(steps["brier_of_prior"])],
        ["accuracy (bad or not)", decimal(steps["accuracy_bad_at_half"]), "–"],
    ]
    found = [
        ["precision", decimal(first["precision"])],
        ["recall", decimal(first["recall"])],
        ["F1", decimal(first["f1"])],
        ["exact, with solutions without an error", decimal(first["exact"])],
        ["at most one step away", decimal(first["within_one"])],
        ["ProcessBench's F1 (of two accuracies)", decimal(first["processbench"]["f1"])],
    ]
    both = [
        ["same rating of three", decimal(agreed["same"]), decimal(agreed["kappa"])],
        ["bad or not", decimal(agreed["same_bad"]), decimal(agreed["kappa_bad"])],
    ]
    measured = f"{steps['ratings']:,} rated steps of {data['solutions']:,} solutions."
    judged = f"{first['solutions']:,} solutions judged to the end, {first['with_error']:,} with an error."
    return [
        Section("Steps", [measured], Table(["measure", "value", "without skill"], rows)),
        _calibration_section(data),
        Section("First error", [judged], Table(["measure", "value"], found)),
        Section("Model and people", (), Table(["", "agreement", "Cohen's kappa"], both)),
    ]


def _calibration_section(data: Mapping[str, Any]) -> Section:
    plain, scaled = data["calibration"], data["calibration"].get("scaled")
    rows = [
        [title, decimal(plain[key]), *([decimal(scaled[key])] if scaled else [])]
        for title, key in (
            ("calibration error (ECE)", "error"),
            ("Brier score", "brier"),
            ("log loss", "loss"),
        )
    ]
    said = []
    if scaled:
        said.append(
            f"Temperature {plain['temperature']:.3f}, fitted on {data['validation_solutions']:,} validation "
            "solutions only."
        )
    titles = ["p(bad)", "as it is", *(["with temperature"] if scaled else [])]
    return Section("Calibration", said, Table(titles, rows), "reliability")


def _reliability_chart(data: Mapping[str, Any]) -> str:
    plain, scaled = data["calibration"], data["calibration"].get("scaled")
    curves = [("as it is", _bins(plain))] + ([("with temperature", _bins(scaled))] if scaled else [])
    if not any(points for _, points in curves):
        return ""
    words = Words(
        "Reliability of p(bad)", "predicted", "observed", "Bins of equal size; the dotted line is perfect"
    )
    return plots.reliability(curves, words)


def _bins(part: Mapping[str, Any]) -> list[tuple[float, float]]:
    return [(row["predicted"], row["observed"]) for row in part["reliability"]]


# ProcessBench.


def _bench_sections(data: Mapping[str, Any]) -> list[Section]:
    rows = [
        [name, str(r["solutions"]), *(percent(r[k]) for k in ("error_accuracy", "correct_accuracy", "f1"))]
        for name, r in data["subsets"].items()
    ]
    rows.append(["mean", "", "", "", percent(data["mean_f1"])])
    said = [f"Threshold {data['threshold']:.4g}" + (
        f", chosen on {data['fitted_on']}; mean F1 of the other subsets {percent(data['mean_f1_elsewhere'])}."
        if data["fitted_on"] else "."
    )]  # fmt: skip
    said.append("F1 is the harmonic mean of the two accuracies; the mean over subsets is not weighted.")
    titles = ["subset", "solutions", "erroneous found", "correct left alone", "F1"]
    return [Section("ProcessBench", said, Table(titles, rows), "subsets")]


def _bench_chart(data: Mapping[str, Any]) -> str:
    names = (("error_accuracy", "erroneous found"), ("correct_accuracy", "correct left alone"), ("f1", "F1"))
    series = [Bars(title, [r[key] for r in data["subsets"].values()]) for key, title in names]
    return plots.bars(list(data["subsets"]), series, Words("ProcessBench", "subset", "share"))


_SECTIONS: dict[str, Callable[[Mapping[str, Any]], list[Section]]] = {
    "best-of-n": _pool_sections,
    "steps": _step_sections,
    "processbench": _bench_sections,
}
_CHARTS: dict[str, dict[str, Callable[[Mapping[str, Any]], str]]] = {
    "best-of-n": {"curve": _curve_chart, "quintiles": _quintile_chart},
    "steps": {"reliability": _reliability_chart},
    "processbench": {"subsets": _bench_chart},
}
