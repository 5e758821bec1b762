"""A model's stored reports as pictures and rows for its page. Pure: stored numbers in, SVG and rows out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _

from models_prm.evaluation import plots
from models_prm.evaluation.plots import Bars, Line, Words
from models_prm.evaluation.report import curves_of


@dataclass(frozen=True)
class PoolView:
    """One pool's report: pictures (empty where there is nothing to draw) and the numbers behind them.

    `legend` pairs each curve's dash and marker with its name, for screens that cannot show the names beside
    the lines. `points`, `quintiles`, `kinds` hold rows of (cells, accuracies by curve); `grid` is by neutral.
    """

    pool_id: int
    pool: str
    report: Mapping[str, Any]
    n: int
    names: list[str]
    legend: list[tuple[SafeString, str]]
    curve: SafeString
    points: list[tuple[int, list[Mapping[str, Any]]]]
    quintile_chart: SafeString
    quintiles: list[tuple[Mapping[str, Any], list[float]]]
    grid: list[tuple[str, list[Mapping[str, Any]]]]
    kinds: list[tuple[str, list[tuple[Mapping[str, Any], list[float]]]]]


def pool_views(metrics: Mapping[str, Any]) -> list[PoolView]:
    """The stored reports of a model, newest first; empty when it has scored no pool."""
    entries = sorted(metrics.get("pools", {}).items(), key=lambda item: str(item[1]["at"]), reverse=True)
    return [_view(int(pk), entry) for pk, entry in entries]


def curve_name(key: str) -> str:
    """A curve in the words of the page."""
    names = {
        "prm_product": _("this model"),
        "prm_score": _("this model"),
        "orm_score": _("outcome model"),
        "vote_prm_product": _("vote weighted by model"),
        "vote_prm_score": _("vote weighted by model"),
        "majority": _("majority vote"),
        "oracle": _("any sample right"),
    }
    return names.get(key, key)


def _view(pool_id: int, entry: Mapping[str, Any]) -> PoolView:
    report = entry["report"]
    curves = curves_of(report)
    names = [curve_name(key) for key in curves]
    return PoolView(
        pool_id=pool_id,
        pool=entry["pool"],
        report=report,
        n=report["n"][-1],
        names=names,
        legend=[(_drawn(plots.key(number)), name) for number, name in enumerate(names)],
        curve=_curve(report, curves),
        points=[(n, [points[i] for points in curves.values()]) for i, n in enumerate(report["n"])],
        quintile_chart=_quintile_chart(report, list(curves)),
        quintiles=[(q, [q["accuracy"][key][-1] for key in curves]) for q in report["quintiles"]],
        grid=_grid(report.get("grid")),
        kinds=_kinds(report, list(curves)),
    )


def _drawn(svg: str) -> SafeString:
    """The plotter escapes every text that it is given."""
    return mark_safe(svg)  # noqa: S308


def _curve(report: Mapping[str, Any], curves: Mapping[str, Sequence[Mapping[str, Any]]]) -> SafeString:
    series = [
        Line(
            curve_name(key), [(p["n"], p["accuracy"]) for p in points], [tuple(p["interval"]) for p in points]
        )
        for key, points in curves.items()
    ]
    words = Words(
        _("Best of N"),
        _("N samples per problem"),
        _("problems solved"),
        _("With 95% intervals; the table below holds the numbers."),
    )
    return _drawn(plots.lines(series, words, log_x=True, standalone=False))


def _quintile_chart(report: Mapping[str, Any], keys: Sequence[str]) -> SafeString:
    rows = report["quintiles"]
    if not rows:
        return SafeString("")
    series = [Bars(curve_name(key), [row["accuracy"][key][-1] for row in rows]) for key in keys]
    words = Words(
        _("Best of %d by difficulty") % report["n"][-1],
        _("fifths of the problems, hardest first"),
        _("problems solved"),
        _("The table below holds the numbers."),
    )
    return _drawn(plots.bars([str(row["quintile"]) for row in rows], series, words, standalone=False))


def _kinds(
    report: Mapping[str, Any], keys: Sequence[str]
) -> list[tuple[str, list[tuple[Mapping[str, Any], list[float]]]]]:
    """Tables by subject and by level, where the problems have more than one."""
    titles = {"subjects": _("Subject"), "levels": _("Level")}
    return [
        (title, [(row, [row["accuracy"][key] for key in keys]) for row in report[name]])
        for name, title in titles.items()
        if len(report[name]) > 1
    ]


def _grid(grid: Mapping[str, Any] | None) -> list[tuple[str, list[Mapping[str, Any]]]]:
    """Table 4's cells, a row for what a neutral step counts as: product, then minimum."""
    if not grid:
        return []
    cells = {(cell["reduction"], cell["neutral"]): cell for cell in grid["cells"]}
    names = {"good": _("good"), "bad": _("bad")}
    return [(names[n], [cells["product", n], cells["minimum", n]]) for n in ("good", "bad")]


def reliability_chart(report: Mapping[str, Any]) -> SafeString:
    """Observed share of bad steps against p(bad) on held-out labels; empty without them."""
    rows = report.get("steps", {}).get("reliability_bad") or []
    if not rows:
        return SafeString("")
    points = [(row["predicted"], row["observed"]) for row in rows]
    words = Words(
        _("Is its doubt to be believed?"),
        _("predicted share of bad steps"),
        _("observed share"),
        _("The table below holds the numbers."),
    )
    chart = plots.reliability([(_("this model"), points)], words, perfect=_("perfect"), standalone=False)
    return _drawn(chart)
