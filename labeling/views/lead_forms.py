"""The forms of the QC lead's pages."""

from typing import Any, ClassVar

from django import forms
from django.utils.text import slugify
from django.utils.translation import gettext_lazy as _

from labeling.models import Project, User


class PauseForm(forms.Form):
    reason = forms.CharField(
        label=_("Why"), max_length=300, help_text=_("The labeler reads this on their page.")
    )


class ReadmitForm(forms.Form):
    release_quarantine = forms.BooleanField(
        label=_("Use their set-aside labels again"),
        required=False,
        help_text=_("Off: the labels stay out of training; the export says so."),
    )


class PersonForm(forms.Form):
    username = forms.CharField(label=_("User name"), max_length=150, validators=[User.username_validator])
    first_name = forms.CharField(label=_("First name"), max_length=150, required=False)
    last_name = forms.CharField(label=_("Last name"), max_length=150, required=False)
    role = forms.ChoiceField(label=_("Role"), choices=User.Role.choices, initial=User.Role.LABELER)

    def clean_username(self) -> str:
        name: str = self.cleaned_data["username"]
        if User.objects.filter(username__iexact=name).exists():
            raise forms.ValidationError(_("This user name is taken."))
        return name


class ReasonsField(forms.CharField):
    """One reason a line, kept as a list."""

    widget = forms.Textarea

    def prepare_value(self, value: Any) -> Any:
        return "\n".join(value) if isinstance(value, list) else value

    def clean(self, value: Any) -> Any:
        lines = [line.strip() for line in super().clean(value).splitlines()]
        return [line for line in dict.fromkeys(lines) if line]


class ProjectForm(forms.ModelForm[Project]):
    reasons = ReasonsField(
        label=_("Reasons for a bad or okay step"), required=False, help_text=_("One a line.")
    )

    class Meta:
        model = Project
        fields: ClassVar = [
            "name",
            "mode",
            "guidelines",
            "reasons",
            "screening_questions",
            "screening_pass_mark",
            "gold_per_generation",
            "gold_share",
            "gold_window",
            "gold_mark",
            "overlap",
            "lease_minutes",
            "hourly_rate",
        ]
        labels: ClassVar = {
            "name": _("Name"),
            "mode": _("How a solution is judged"),
            "guidelines": _("Guidelines"),
            "screening_questions": _("Screening questions"),
            "screening_pass_mark": _("Screening pass mark"),
            "gold_per_generation": _("Gold questions per generation"),
            "gold_share": _("Chance of a gold question"),
            "gold_window": _("Gold window"),
            "gold_mark": _("Gold mark"),
            "overlap": _("Labelers per solution"),
            "lease_minutes": _("Minutes a solution is held"),
            "hourly_rate": _("Hourly rate"),
        }
        help_texts: ClassVar = {
            "guidelines": _("Changing the text asks every labeler to accept it again."),
            "screening_pass_mark": _("Share of screening questions that must agree: 0.75 is 75%."),
            "gold_share": _("For each next solution, while gold questions are left for the labeler."),
            "gold_window": _("So many of the latest gold answers are looked at together."),
            "gold_mark": _("A labeler whose window agrees less than this is paused."),
            "overlap": _("For generations opened from now on."),
            "lease_minutes": _("Activity extends it; an abandoned solution goes back to the queue."),
        }

    def clean_overlap(self) -> int:
        overlap: int = self.cleaned_data["overlap"]
        if overlap < 1:
            raise forms.ValidationError(_("At least one labeler must judge a solution."))
        return overlap

    def save(self, commit: bool = True) -> Project:
        project = super().save(commit=False)
        if not project.slug:
            project.slug = self._free_slug(project.name)
        if project.pk and "guidelines" in self.changed_data:
            project.guideline_version += 1
        if commit:
            project.save()
        return project

    @staticmethod
    def _free_slug(name: str) -> str:
        stem = slugify(name)[:50] or "project"
        taken = set(Project.objects.filter(slug__startswith=stem).values_list("slug", flat=True))
        number = 1
        slug = stem
        while slug in taken:
            number += 1
            slug = f"{stem}-{number}"
        return slug
