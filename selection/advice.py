"""What to do next in the loop, in one sentence with one button."""

from dataclasses import dataclass

from django.urls import NoReverseMatch, reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from labeling.models import Pool, Project, Solution
from selection import queries, registry
from selection.generations import S
from selection.models import Generation


@dataclass(frozen=True)
class Advice:
    title: str
    text: str
    url: str = ""
    action: str = ""


def next_step(project: Project) -> Advice:
    if not Solution.objects.filter(pool__project=project).exists():
        return Advice(
            _("Bring in solutions"),
            _("Import a pool: problems with solutions that a generator has written."),
            _address("files"),
            _("Import files"),
        )
    generation = queries.latest_generation(project)
    if generation is None:
        text = _("Pick the first solutions by chance. No model is needed yet.")
        return Advice(_("Open generation 0"), text, reverse("generations"), _("Open generation 0"))
    return _of(generation, project)


def _of(generation: Generation, project: Project) -> Advice:
    number = {"n": generation.number}
    page = reverse("generation-detail", args=[generation.number])
    if generation.state == S.FAILED:
        return Advice(
            _("Generation %(n)d stopped") % number, generation.failure, page, _("See what happened")
        )
    if generation.state == S.LABELING:
        return _labeling(generation, page)
    if queries.is_busy(generation):
        text = _("A machine is at work (%s). This page follows it.") % generation.get_state_display()
        return Advice(_("Wait for generation %(n)d") % number, text, page, _("Watch"))
    model = registry.in_use(project)
    number = {"n": generation.number + 1}
    title = _("Open generation %(n)d") % number
    if model is None:
        text = _("No model is in use: promote one, or pick by chance.")
    else:
        text = _("Let %(model)s pick the solutions most worth judging.") % {"model": model.name}
    return Advice(title, text, reverse("generations"), title)


def _labeling(generation: Generation, page: str) -> Advice:
    work, number = queries.work_of(generation), {"n": generation.number}
    if work.is_complete:
        text = _("Every solution is judged. Train on the labels and see whether the new model is better.")
        return Advice(_("Close generation %(n)d") % number, text, page, _("Go and close it"))
    todo = work.counts.waiting + work.counts.in_progress + work.counts.held
    text = ngettext("%d solution waits for labelers.", "%d solutions wait for labelers.", todo) % todo
    return Advice(_("Generation %(n)d is being labeled") % number, text, page, _("See how it goes"))


def _address(name: str) -> str:
    try:
        return reverse(name)
    except NoReverseMatch:
        return ""


@dataclass(frozen=True)
class Stage:
    """A step of the loop as the stepper shows it; `state` is "done", "current", "failed" or ""."""

    title: str
    state: str


def loop_stages(project: Project) -> list[Stage]:
    """The whole loop of the project at a glance."""
    generation = queries.latest_generation(project)
    pools = Pool.objects.filter(project=project).exists()
    if generation is None:
        states = ["done" if pools else "current", "current" if pools else "", "", "", ""]
    else:
        states = {
            S.LABELING: ["done", "done", "current", "", ""],
            S.TRAINING: ["done", "done", "done", "current", ""],
            S.EVALUATING: ["done", "done", "done", "done", "current"],
            S.PROMOTED: ["done", "current", "", "", ""],
            S.REJECTED: ["done", "current", "", "", ""],
        }.get(S(generation.failed_in or generation.state), ["done", "current", "", "", ""])
        if generation.state == S.FAILED:
            states = ["failed" if state == "current" else state for state in states]
    titles = [_("Pool"), _("Pick"), _("Label"), _("Train"), _("Evaluate and promote")]
    return [Stage(title, state) for title, state in zip(titles, states, strict=True)]


def stages_of(generation: Generation, work: queries.Work, sampled: int, scored: int) -> list[Stage]:
    """The steps of one generation with their counts."""
    order = [S.SCORING, S.PICKING, S.LABELING, S.TRAINING, S.EVALUATING]
    present = S(generation.failed_in or generation.state)
    over = present in (S.PROMOTED, S.REJECTED)
    at = len(order) if over else order.index(present) if present in order else 0
    failed = generation.state == S.FAILED
    picked = generation.picks.count()
    titles = [
        _("Scored %s") % f"{scored:,}"
        if scored
        else _("Score")
        if generation.selector
        else _("No scores needed"),
        _("Picked %s") % f"{picked:,}" if picked else _("Pick"),
        _labeled(work, is_open=present == S.LABELING) if picked else _("Label"),
        _("Train"),
        _("Evaluate"),
    ]
    stages = [Stage(_("Sampled %s") % f"{sampled:,}", "done")]
    for index, title in enumerate(titles):
        state = "done" if index < at else ("failed" if failed else "current") if index == at else ""
        stages.append(Stage(title, state))
    verdict = str(generation.get_state_display()) if over else _("Promote")
    final = {S.PROMOTED: "done", S.REJECTED: "failed"}.get(present, "") if over else ""
    return [*stages, Stage(verdict, final)]


def _labeled(work: queries.Work, *, is_open: bool) -> str:
    """While people work the share, afterwards the number: a batch may be closed early."""
    return _("Labeling %d%%") % work.percent if is_open else _("Judged %s") % f"{work.counts.settled:,}"
