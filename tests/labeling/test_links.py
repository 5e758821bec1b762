"""Making people, and the links that sign them in."""

from datetime import timedelta

import pytest
from django.utils import timezone

from labeling.models import AuditEntry, Enrolment, SignInLink, User
from labeling.services import people
from tests import make

pytestmark = pytest.mark.django_db


def test_a_link_signs_its_owner_in_until_it_expires() -> None:
    user = make.user()
    token = people.make_sign_in_link(user, days=1, by=make.lead())
    assert people.user_of_link(token) == user
    assert people.user_of_link(token) == user
    assert SignInLink.objects.get().last_used_at is not None
    SignInLink.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert people.user_of_link(token) is None


def test_only_the_digest_of_a_token_is_kept() -> None:
    token = people.make_sign_in_link(make.user())
    link = SignInLink.objects.get()
    assert token not in (link.digest, str(link.__dict__))
    assert len(token) >= 40


@pytest.mark.parametrize("token", ["", "nonsense", "a" * 43])
def test_an_unknown_token_is_nobodys(token: str) -> None:
    people.make_sign_in_link(make.user())
    assert people.user_of_link(token) is None


def test_revoked_links_and_inactive_people_do_not_get_in() -> None:
    one, two = make.user(), make.user()
    tokens = [people.make_sign_in_link(user) for user in (one, two)]
    assert people.revoke_links(one, by=make.lead()) == 1
    User.objects.filter(pk=two.pk).update(is_active=False)
    assert [people.user_of_link(token) for token in tokens] == [None, None]


def test_a_new_labeler_is_enrolled_and_a_lead_is_not() -> None:
    first, second = make.project(), make.project(screening_questions=0)
    person = people.create_person("ada", by=make.lead())
    assert set(person.enrolments.values_list("project", "status")) == {
        (first.pk, "screening"),
        (second.pk, "active"),
    }
    only = people.create_person("bob", project=first)
    assert only.enrolments.count() == 1
    assert not people.create_person("eve", "lead").enrolments.exists()
    assert not person.has_usable_password()
    assert AuditEntry.objects.filter(action="person.created").count() == 3
    with pytest.raises(ValueError, match="role"):
        people.create_person("mallory", "king")


def test_accepting_the_guidelines_remembers_their_version() -> None:
    project = make.project(guideline_version=3)
    enrolment = make.enrolment(project, accepted_guidelines=2)
    people.accept_guidelines(enrolment)
    assert Enrolment.objects.get().accepted_guidelines == 3
