"""The lead's pages: what they show, who may act, what acting does."""

import pytest
from django.test import Client
from django.urls import reverse

from labeling.models import AuditEntry, Enrolment, Label, Problem, Project, User
from tests import make

pytestmark = pytest.mark.django_db


def client_of(user: User) -> Client:
    client = Client()
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    return client


@pytest.fixture
def project() -> Project:
    return make.project()


@pytest.fixture
def lead(project: Project) -> Client:
    return client_of(make.lead())


def standing(project: Project, person: User) -> Enrolment:
    return Enrolment.objects.get(project=project, user=person)


class TestLabelers:
    def test_it_shows_counts_and_gold_with_its_interval(self, project: Project, lead: Client) -> None:
        person = make.labeler(project)
        make.label(project=project, labeler=person, ratings=[1, 1, -1])
        make.label(make.gold_item(project, first_error=1), labeler=person, ratings=[1, -1])
        page = lead.get(reverse("lead"))
        text = page.content.decode()
        assert person.username in text
        assert "100%" in text
        assert "n = 1" in text

    def test_it_says_so_when_nobody_is_enrolled(self, project: Project, lead: Client) -> None:
        assert "Nobody is enrolled yet" in lead.get(reverse("lead")).content.decode()

    def test_without_a_project_it_asks_for_one(self) -> None:
        response = client_of(make.lead()).get(reverse("lead"))
        assert response["Location"] == reverse("project-create")

    def test_a_labeler_may_not_look(self, project: Project) -> None:
        assert client_of(make.labeler(project)).get(reverse("lead")).status_code == 403


class TestPausing:
    def test_pausing_takes_effect_and_gives_the_reason(self, project: Project, lead: Client) -> None:
        person = make.labeler(project)
        pk = standing(project, person).pk
        lead.post(reverse("labeler-pause", args=[pk]), {"reason": "please call me"})
        after = standing(project, person)
        assert (after.status, after.status_reason) == (Enrolment.Status.PAUSED, "please call me")
        assert "please call me" in lead.get(reverse("labeler-detail", args=[pk])).content.decode()

    def test_pausing_needs_a_reason(self, project: Project, lead: Client) -> None:
        person = make.labeler(project)
        lead.post(reverse("labeler-pause", args=[standing(project, person).pk]), {"reason": " "})
        assert standing(project, person).status == Enrolment.Status.ACTIVE

    def test_readmitting_can_release_the_labels(self, project: Project, lead: Client) -> None:
        person = make.labeler(project)
        make.label(project=project, labeler=person)
        pk = standing(project, person).pk
        lead.post(reverse("labeler-pause", args=[pk]), {"reason": "a look"})
        assert Label.objects.filter(quarantined_at__isnull=False).count() == 1
        lead.post(reverse("labeler-readmit", args=[pk]), {"release_quarantine": "on"})
        assert standing(project, person).status == Enrolment.Status.ACTIVE
        assert not Label.objects.filter(quarantined_at__isnull=False).exists()

    @pytest.mark.parametrize("name", ["labeler-pause", "labeler-readmit", "labeler-link"])
    def test_a_labeler_may_not_act(self, project: Project, name: str) -> None:
        person = make.labeler(project)
        pk = standing(project, person).pk
        assert client_of(person).post(reverse(name, args=[pk]), {"reason": "x"}).status_code == 403

    @pytest.mark.parametrize("name", ["labeler-pause", "labeler-readmit", "labeler-link"])
    def test_looking_changes_nothing(self, project: Project, lead: Client, name: str) -> None:
        pk = standing(project, make.labeler(project)).pk
        assert lead.get(reverse(name, args=[pk])).status_code == 405


class TestLinks:
    def test_a_link_signs_its_owner_in(self, project: Project, lead: Client) -> None:
        person = make.labeler(project)
        page = lead.post(reverse("labeler-link", args=[standing(project, person).pk]))
        assert page["Cache-Control"] == "no-store"
        url = page.context["url"]
        browser = Client()
        browser.get(url)
        assert browser.session["_auth_user_id"] == str(person.pk)

    def test_no_link_to_a_person_of_another_office(self, project: Project, lead: Client) -> None:
        boss = make.researcher()
        pk = make.enrolment(project, boss).pk
        response = lead.post(reverse("labeler-link", args=[pk]))
        assert response.status_code == 302

    def test_a_new_labeler_is_enrolled_and_gets_a_link(self, project: Project, lead: Client) -> None:
        page = lead.post(reverse("person-create"), {"username": "ada", "role": "labeler"})
        assert "/in/" in page.context["url"]
        assert Enrolment.objects.filter(user__username="ada", project=project).exists()

    def test_a_taken_name_is_refused_with_the_reason(self, project: Project, lead: Client) -> None:
        make.user(username="ada")
        page = lead.post(reverse("person-create"), {"username": "Ada", "role": "labeler"})
        assert "taken" in page.content.decode()


class TestProblems:
    def reported(self, project: Project) -> Problem:
        problem = make.problem(project)
        for _ in range(2):
            item = make.item(make.solution(problem))
            make.label(item, ratings=[], finish_reason="bad_problem", note="no answer possible")
        problem.refresh_from_db()
        return problem

    def test_a_held_problem_waits_for_the_decision(self, project: Project, lead: Client) -> None:
        problem = self.reported(project)
        assert problem.status == Problem.Status.HELD
        assert "no answer possible" in lead.get(reverse("lead-problems")).content.decode()

    @pytest.mark.parametrize(("word", "status"), [("bad", Problem.Status.BAD), ("ok", Problem.Status.OK)])
    def test_the_lead_decides(self, project: Project, lead: Client, word: str, status: str) -> None:
        problem = self.reported(project)
        lead.post(reverse("problem-decide", args=[problem.pk]), {"decision": word})
        problem.refresh_from_db()
        assert problem.status == status
        assert AuditEntry.objects.filter(action="problem.decided").exists()
        assert "problem.decided" in lead.get(reverse("audit")).content.decode()


FORM = {
    "name": "Algebra",
    "mode": "first_error",
    "guidelines": "",
    "reasons": "wrong rule\n\nwrong rule\nother",
    "screening_questions": 12,
    "screening_pass_mark": 0.8,
    "gold_per_generation": 10,
    "gold_share": 0.2,
    "gold_window": 8,
    "gold_mark": 0.6,
    "overlap": 1,
    "lease_minutes": 20,
}


class TestProjects:
    def test_a_project_is_made_with_its_own_rules(self) -> None:
        client = client_of(make.lead())
        client.post(reverse("project-create"), FORM)
        made = Project.objects.get(name="Algebra")
        assert (made.screening_questions, made.screening_pass_mark) == (12, 0.8)
        assert made.reasons == ["wrong rule", "other"]
        assert made.slug == "algebra"

    def test_new_guidelines_have_a_new_version(self, project: Project, lead: Client) -> None:
        values = {**FORM, "name": project.name}
        lead.post(reverse("project-edit", args=[project.pk]), {**values, "guidelines": "Read twice."})
        project.refresh_from_db()
        assert project.guideline_version == 2
        lead.post(reverse("project-edit", args=[project.pk]), {**values, "guidelines": "Read twice."})
        project.refresh_from_db()
        assert project.guideline_version == 2

    def test_overlap_of_zero_is_refused(self, project: Project, lead: Client) -> None:
        page = lead.post(reverse("project-edit", args=[project.pk]), {**FORM, "overlap": 0})
        assert "At least one labeler" in page.content.decode()

    def test_the_chosen_project_is_the_one_shown(self, project: Project, lead: Client) -> None:
        other = make.project(name="Second")
        lead.post(reverse("project-choose", args=[other.pk]))
        assert lead.get(reverse("lead")).context["project"] == other
