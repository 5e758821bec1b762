from django.apps import AppConfig
from django.utils.module_loading import autodiscover_modules


class SelectionConfig(AppConfig):
    name = "selection"
    verbose_name = "Selection"

    def ready(self) -> None:
        from selection import plugs

        plugs.connect()
        # Both apps' kinds of background work (labeling.jobs), in every process.
        autodiscover_modules("job_kinds")
