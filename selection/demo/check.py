"""`demo --check`: what a person would see first, asked over HTTP, with the time it took."""

from typing import Any

from selection.simulate.browser import Browser

PAGES = {
    "labeler": ["/label/", "/label/guidelines/"],
    "lead": ["/lead/", "/lead/problems/"],
    "researcher": ["/research/", "/files/", "/jobs/"],
}


def first_solution(base_url: str, links: dict[str, str], project: str) -> dict[str, Any]:
    """Open each person's first pages and take the labeler's first solution; its assignment.

    Raises Refused for a page that does not open, and ValueError when no solution comes.
    """
    for role, pages in PAGES.items():
        browser = Browser(base_url)
        browser.get(links[role])
        for page in pages:
            browser.get(page)
        if role == "labeler":
            labeler = browser
    labeler.post_form("/label/guidelines/", {"accept": "on"})
    answer = labeler.send_json("POST", f"/api/projects/{project}/next/", {"have": []})
    if answer.get("state") != "work" or not answer["assignment"]["steps"]:
        raise ValueError(
            f"the first solution did not come: {answer.get('state')} {answer.get('message', '')}"
        )
    return dict(answer["assignment"])
