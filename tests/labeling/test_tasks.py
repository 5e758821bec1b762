"""The clock of the people side."""

from datetime import timedelta

import pytest
from django.utils import timezone

from config.celery import app
from labeling import tasks
from labeling.models import Assignment
from tests import make


@pytest.mark.django_db
def test_the_clock_returns_leases_that_ran_out() -> None:
    stale = make.assignment(make.item(project=make.project()))
    fresh = make.assignment(make.item(project=make.project()))
    Assignment.objects.filter(pk=stale.pk).update(lease_expires_at=timezone.now() - timedelta(seconds=1))
    tasks.expire_leases.apply()
    statuses = dict(Assignment.objects.values_list("pk", "status"))
    assert statuses == {stale.pk: "expired", fresh.pk: "leased"}


def test_every_line_of_the_clock_names_a_task_that_exists() -> None:
    app.loader.import_default_modules()
    named = {entry["task"] for entry in app.conf.beat_schedule.values()}
    assert "labeling.tasks.expire_leases" in named
    assert named <= set(app.tasks)
