"""Links between the pages lead somewhere: to a file that is there, and to a heading that is in it."""

import re
from urllib.parse import unquote

import pytest
from source_tree import ROOT, needs

pytestmark = needs("docs/images", "docs/experiments", "benchmarks/results")
PAGES = sorted(page.relative_to(ROOT).as_posix() for page in (*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")))
CODE = re.compile(r"```.*?```|`[^`\n]*`", re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)\)")


def anchors(page):
    """The names of a page's headings, as GitHub and MkDocs make them."""
    text = re.sub(r"```.*?```", "", page.read_text("utf-8"), flags=re.DOTALL)
    headings = (re.sub(r"[^\w\s-]", "", heading.lower()).strip() for heading in re.findall(r"^#+ (.*)$", text, re.M))
    return {re.sub(r"\s+", "-", heading) for heading in headings}


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page):
    links = [link for link in LINK.findall(CODE.sub("", (ROOT / page).read_text("utf-8"))) if "://" not in link]
    for link in links:
        path, _, anchor = unquote(link).partition("#")
        target = (ROOT / page).parent / path if path else ROOT / page
        assert target.exists(), link
        if anchor:
            assert anchor in anchors(target), link


def test_every_page_is_reached_from_the_readme():
    """By links, one after the other."""
    reached, left = set(), ["README.md", "docs/index.md"]
    while left:
        page = left.pop()
        reached.add(page)
        for link in LINK.findall((ROOT / page).read_text("utf-8")):
            target = ((ROOT / page).parent / link.partition("#")[0]).resolve()
            name = target.relative_to(ROOT).as_posix() if target.is_relative_to(ROOT) else ""
            if name in PAGES and name not in reached:
                left.append(name)
    assert sorted(set(PAGES) - reached) == []
