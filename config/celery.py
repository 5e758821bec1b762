"""The Celery application. Queues: "default" for short work, "gpu" for training and scoring."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

app = Celery("stepmark")
app.config_from_object("django.conf:settings", namespace="CELERY")
# The clock (celery beat): other apps add their own lines in their tasks.py.
app.conf.beat_schedule = {
    "expire-leases": {"task": "labeling.tasks.expire_leases", "schedule": 60, "options": {"expires": 60}},
}
app.autodiscover_tasks()
