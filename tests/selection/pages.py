"""What the tests of the researcher's pages share: signing in, the text of a page, a model's report."""

import re
from typing import Any

from django.test import Client
from django.urls import reverse

from labeling.models import Pool
from selection import loop, requests
from selection.models import Generation
from tests import make

REPORT = {
    "problems": 9,
    "steps": {
        "ratings": 120,
        "prior_bad": 0.25,
        "auroc_bad": 0.871,
        "average_precision_bad": 0.7,
        "calibration_error_bad": 0.05,
        "loss": 0.4,
        "loss_of_prior": 0.6,
    },
    "length_only": {"auroc_bad": 0.55, "average_precision_bad": 0.3},
    "first_error": {"f1": 0.61, "solutions": 40},
    "intervals": {"auroc_bad": [0.8, 0.92]},
}


def signed_in(role: str = "researcher") -> Client:
    client = Client()
    client.force_login(make.user(role), backend="django.contrib.auth.backends.ModelBackend")
    return client


def text_of(client: Client, name: str, *args: Any, query: str = "") -> str:
    response = client.get(reverse(name, args=args) + query)
    assert response.status_code == 200, name
    html = re.sub(r"<(script|style)[\s\S]*?</\1>", "", response.content.decode())
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", html))


def opened(pool: Pool, **rule: Any) -> Generation:
    generation = requests.draft_generation(pool.project, pool, **({"size": 8, "seed": 1} | rule))
    loop.open_generation(generation, lambda _done, _total, _stage: None)
    return generation
