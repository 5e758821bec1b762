"""The web process never loads a model: after every page of the bridge, torch is still not there."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
VISIT = """
import config.wsgi
from django.core.management import call_command
from django.test import Client
from django.test.utils import setup_test_environment
from django.urls import reverse
call_command("migrate", verbosity=0)
setup_test_environment()
from labeling import jobs
from labeling.models import Solution
from selection import requests
from selection.models import Generation
from tests import make
from tests.selection import world

pool = world.pool(make.project(), problems=4, samples=4)
world.label_all(Solution.objects.filter(pool=pool)[:8])
model = world.model(pool.project)
world.scores(pool, model)
solution = Solution.objects.filter(pool=pool).first()
client = Client()
client.force_login(make.researcher(), backend="django.contrib.auth.backends.ModelBackend")

def post(url_name, *args, **data):
    response = client.post(reverse(url_name, args=args), data)
    assert response.status_code == 302, (url_name, response.status_code, response.content[:500])

post("model-train", name="new", recipe="smoke", seed=0)
post("pool-score", pool.pk, model=model.pk)
post("generation-open", pool=pool.pk, selector=model.pk, strategy="convincing_wrong", size=3, random_share=0)
jobs.request_cancel(Generation.objects.get().open_job)
Generation.objects.update(state="labeling")
post("generation-close", 0, recipe="smoke", seed=0)
post("model-promote", model.pk, reason="because")
for name, args in {
    "research": [], "pools": [], "pool-detail": [pool.pk], "solution-detail": [solution.pk], "models": [],
    "model-detail": [model.pk], "generations": [], "generation-detail": [0], "jobs": [], "job-detail": [1],
    "job-status": [1],
}.items():
    response = client.get(reverse(name, args=args))
    assert response.status_code == 200, (name, response.status_code)
import sys
names = ("torch", "transformers", "tokenizers", "safetensors", "numpy", "sympy")
heavy = [name for name in names if name in sys.modules]
assert not heavy, heavy
print("visited")
"""


def test_pages_and_buttons_load_no_model_library(tmp_path: Path) -> None:
    env = os.environ | {
        "STEPMARK_HOME": str(tmp_path),
        "DATABASE_URL": "",
        "REDIS_URL": "",
        "STEPMARK_DEBUG": "true",  # static files need no collecting then
        "DJANGO_SETTINGS_MODULE": "config.settings",
    }
    done = subprocess.run(
        [sys.executable, "-c", VISIT], cwd=ROOT, env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.strip().endswith("visited")
