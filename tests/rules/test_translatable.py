"""Every word that a page shows can be translated: text in templates stands inside translation tags."""

import re

import pytest

from tests.rules.source import files, name

BLOCKS = re.compile(r"\{%\s*blocktrans(?:late)?\b.*?\{%\s*endblocktrans(?:late)?\s*%\}", re.DOTALL)
TAGS = re.compile(r"\{%.*?%\}|\{\{.*?\}\}|\{#.*?#\}", re.DOTALL)
COMMENTS = re.compile(r"\{%\s*comment\b.*?\{%\s*endcomment\s*%\}|<!--.*?-->", re.DOTALL)
# The one block that holds the name of a CSS class.
CLASSES = re.compile(r"\{% block body_class %\}[\w -]*\{% endblock %\}")
# Names of keys and programs, and raw code, are the same in every language.
RAW = re.compile(r"<(script|style|kbd|code|pre)\b.*?</\1>", re.DOTALL | re.IGNORECASE)
SPOKEN = re.compile(r"""\b(?:aria-label|alt|placeholder|title|data-confirm)=["']([^"']*)["']""")
HTML = re.compile(r"<[^>]*>", re.DOTALL)
WORD = re.compile(r"[A-Za-z]{2,}")
SAME_EVERYWHERE = {"Stepmark", "nbsp", "amp", "middot", "lt", "gt", "times", "rarr", "larr", "ndash", "mdash"}

TEMPLATES = files(".html", under="templates")


def untranslated(text: str) -> list[str]:
    text = COMMENTS.sub(" ", text)
    text = CLASSES.sub(" ", BLOCKS.sub(" ", text))
    text = TAGS.sub(" ", text)
    spoken = " ".join(SPOKEN.findall(text))
    visible = HTML.sub(" ", RAW.sub(" ", text))
    return [word for word in WORD.findall(f"{visible} {spoken}") if word not in SAME_EVERYWHERE]


@pytest.mark.parametrize("path", TEMPLATES, ids=name)
def test_no_template_holds_bare_words(path) -> None:  # type: ignore[no-untyped-def]
    if path.suffix == ".html":
        assert not untranslated(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("html", "words"),
    [
        ('<p>{% translate "Hello" %}</p>', []),
        ("<p>Hello {{ name }}</p>", ["Hello"]),
        ("{% blocktranslate with n=n %}{{ n }} labels{% endblocktranslate %}", []),
        ('<img alt="A chart">', ["chart"]),
        ("<kbd>Enter</kbd> &nbsp; Stepmark", []),
    ],
)
def test_the_rule_itself_finds_bare_words(html: str, words: list[str]) -> None:
    assert untranslated(html) == words
