"""The tables of README.md and docs/ are those of the files in benchmarks/results, and figures in prose are among them."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
if not (ROOT / "benchmarks" / "results").exists():
    pytest.skip("needs the source tree's benchmarks", allow_module_level=True)

from benchmarks import report  # noqa: E402
from benchmarks.tables import TABLES, register  # noqa: E402

register()
PAGES = {page.relative_to(ROOT).as_posix(): page.read_text("utf-8") for page in report.pages()}
MARKED = {name: text for name, text in PAGES.items() if "<!-- table: " in text}


@pytest.mark.parametrize("page", MARKED)
def test_tables_are_made_from_the_results(page):
    assert report.filled(MARKED[page]) == MARKED[page]


def test_every_table_is_on_a_page():
    named = {name for text in MARKED.values() for name in re.findall(r"<!-- table: ([^>]+?) -->", text)}
    assert named == set(TABLES)


def test_a_changed_figure_is_noticed():
    text = "<!-- table: headline: why -->\n\nold\n\n<!-- end of table -->"
    assert "old" not in report.filled(text)


def test_every_results_page_has_a_footer_for_each_file():
    for name, text in MARKED.items():
        if name.startswith("docs/results/"):
            assert re.search(r"^\*20\d\d-\d\d-\d\d, phonemic .*: `.*`\.\*$", text, re.MULTILINE), name
