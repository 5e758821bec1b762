from django.apps import AppConfig


class SelectionConfig(AppConfig):
    name = "selection"
    verbose_name = "Selection"

    def ready(self) -> None:
        from selection import plugs

        plugs.connect()
