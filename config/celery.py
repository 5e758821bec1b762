"""The Celery application. Queues: "default" for short work, "gpu" for training and scoring."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

app = Celery("stepmark")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
