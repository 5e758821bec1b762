"""The forms of the files page."""

from typing import Any

from django import forms
from django.core.files.uploadedfile import UploadedFile
from django.utils.translation import gettext_lazy as _

from labeling.exporting import FORMATS as EXPORT_FORMATS
from labeling.formats.registry import AUTO, FORMATS, names
from labeling.importing import ImportOptions
from labeling.importing.options import KIND_TITLES

MAX_BYTES = 2 * 1024**3


def _all_formats() -> list[tuple[str, Any]]:
    known = dict.fromkeys(form.name for kind in FORMATS.values() for form in kind)
    return [(AUTO, _("find out by itself")), *((name, name) for name in known)]


class ImportForm(forms.Form):
    kind = forms.ChoiceField(label=_("What the file holds"), choices=list(KIND_TITLES.items()))
    file = forms.FileField(
        label=_("File"),
        help_text=_("JSON lines or a JSON array, plain or gzip. You see a preview first."),
    )
    pool = forms.CharField(
        label=_("Pool"), required=False, max_length=120, help_text=_("For solutions: the pool they go to.")
    )
    format = forms.ChoiceField(label=_("Format"), required=False, choices=_all_formats)
    dataset = forms.CharField(label=_("Data set"), required=False, max_length=60)
    split = forms.ChoiceField(
        label=_("Split"),
        required=False,
        choices=[("", _("leave as it is")), ("train", _("train")), ("test", _("test: never trained on"))],
    )
    generation = forms.IntegerField(
        label=_("Generation of gold"),
        required=False,
        min_value=-1,
        help_text=_("-1 is screening; empty: every generation from 0 on."),
    )
    repeats = forms.BooleanField(
        label=_("Equal records are samples of their own"), required=False, help_text=_("Only for pools.")
    )

    def clean_file(self) -> UploadedFile:
        file: UploadedFile = self.cleaned_data["file"]
        if (file.size or 0) > MAX_BYTES:
            raise forms.ValidationError(_("The file is over 2 GB: import it by command on the server."))
        return file

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        kind, chosen = data.get("kind", ""), data.get("format") or AUTO
        if kind == "solutions" and not data.get("pool", "").strip():
            self.add_error("pool", _("Name the pool that the solutions go to."))
        if kind and chosen not in names(kind):
            self.add_error("format", _("This kind of file has no such format."))
        return data

    def options(self) -> ImportOptions:
        data = self.cleaned_data
        return ImportOptions(
            format=data["format"] or AUTO,
            dataset=data["dataset"],
            split=data["split"] or None,
            pool=data["pool"].strip(),
            generation=data["generation"],
            repeats=data["repeats"],
        )


class ConfirmForm(forms.Form):
    name = forms.CharField(max_length=32, widget=forms.HiddenInput)


class ExportForm(forms.Form):
    format = forms.ChoiceField(label=_("Format"), choices=[(name, name) for name in EXPORT_FORMATS])
    generation = forms.IntegerField(
        label=_("Generation"), required=False, min_value=-1, help_text=_("Empty: all of them.")
    )
    only_usable = forms.BooleanField(
        label=_("Only what training may use"),
        required=False,
        help_text=_("Leaves out gold, screening, extras and quarantined labels, and says how many."),
    )
