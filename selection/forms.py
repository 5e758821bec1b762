"""The forms of the researcher's pages."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from labeling.models import Pool, Project
from selection import comparison, registry
from selection.models import ModelVersion

STRATEGY_NAMES = {
    "convincing_wrong": _("convincing wrong answers (needs a model)"),
    "uniform": _("uniform: every sample has the same chance"),
    "random_wrong": _("wrong answers at random"),
    "uncertainty": _("most uncertain (needs a model)"),
    comparison.STRATEGY: _("blind comparison of model, outcome model and vote"),
}


def _recipes(project: Project) -> list[tuple[str, str]]:
    default = registry.default_recipe(project)
    names = [default, *(name for name in registry.recipes() if name != default)]
    return [(name, name) for name in names]


class TrainForm(forms.Form):
    name = forms.CharField(label=_("Name"), max_length=120, help_text=_("New in this project."))
    kind = forms.ChoiceField(
        label=_("Kind"),
        choices=ModelVersion.Kind.choices,
        required=False,
        help_text=_("Process: on labels. Outcome: on grades."),
    )
    recipe = forms.ChoiceField(label=_("Recipe"), help_text=_("Model size and training, a file in recipes/."))
    seed = forms.IntegerField(
        label=_("Seed"), initial=0, min_value=0, max_value=2**31, help_text=_("Same seed, same model.")
    )

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.project = project
        self.fields["recipe"].choices = _recipes(project)  # type: ignore[attr-defined]
        self.fields["name"].initial = registry.free_name(project, "prm")

    def clean_kind(self) -> str:
        return str(self.cleaned_data["kind"] or ModelVersion.Kind.PRM)

    def clean_name(self) -> str:
        name = str(self.cleaned_data["name"]).strip()
        if ModelVersion.objects.filter(project=self.project, name=name).exists():
            raise forms.ValidationError(_("A model of this name exists already."))
        return name


class ScoreForm(forms.Form):
    model: forms.ModelChoiceField[ModelVersion] = forms.ModelChoiceField(
        ModelVersion.objects.none(), label=_("Model"), empty_label=None
    )

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["model"].queryset = registry.usable(project)  # type: ignore[attr-defined]


class OpenForm(forms.Form):
    pool: forms.ModelChoiceField[Pool] = forms.ModelChoiceField(
        Pool.objects.none(), label=_("Pool"), empty_label=None
    )
    selector: forms.ModelChoiceField[ModelVersion] = forms.ModelChoiceField(
        ModelVersion.objects.none(), label=_("Model"), required=False, empty_label=_("none")
    )
    strategy = forms.ChoiceField(label=_("Strategy"))
    size = forms.IntegerField(
        label=_("Size"),
        required=False,
        min_value=1,
        max_value=100_000,
        help_text=_("Solutions in all (in a blind comparison: problems)."),
    )
    per_problem = forms.IntegerField(
        label=_("Per problem"),
        required=False,
        min_value=1,
        max_value=10_000,
        help_text=_("At most this many of one problem. Without a size: this many of each."),
    )
    random_share = forms.FloatField(
        label=_("Random slice"),
        initial=0.1,
        min_value=0,
        max_value=1,
        help_text=_("Share drawn by chance from the whole pool, for estimates without the rule's bias."),
    )
    seed = forms.IntegerField(
        label=_("Seed"), required=False, min_value=0, max_value=2**31, help_text=_("Empty: drawn and kept.")
    )

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        in_use = registry.in_use(project)
        self.fields["pool"].queryset = Pool.objects.filter(project=project)  # type: ignore[attr-defined]
        self.fields["selector"].queryset = registry.usable(project)  # type: ignore[attr-defined]
        self.fields["selector"].initial = in_use
        self.fields["strategy"].choices = [(s, STRATEGY_NAMES[s]) for s in STRATEGY_NAMES]  # type: ignore[attr-defined]
        self.fields["strategy"].initial = "convincing_wrong" if in_use else "uniform"
        self.fields["size"].initial = 30 if project.is_practice else 100

    def clean(self) -> dict[str, Any]:
        values = super().clean() or {}
        if not values.get("size") and not values.get("per_problem") and not self.errors:
            raise forms.ValidationError(_("Say how many: a size, a number per problem, or both."))
        return values


class CloseForm(forms.Form):
    recipe = forms.ChoiceField(label=_("Recipe"))
    seed = forms.IntegerField(label=_("Seed"), min_value=0, max_value=2**31, required=False)

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["recipe"].choices = _recipes(project)  # type: ignore[attr-defined]


class ReasonForm(forms.Form):
    reason = forms.CharField(
        label=_("Why"), max_length=300, help_text=_("Kept with the verdict and in the log.")
    )
