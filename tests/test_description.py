"""The page of a release in the registry: what its links lead to."""

import os
import re
import subprocess
import sys
from email import message_from_string

import pytest
from source_tree import ROOT, needs

pytestmark = needs("setup.py", "README.md", "docs/images")
HOME = "https://github.com/example/phonemic"


def metadata(folder, **environment):
    """The metadata that setup.py writes."""
    pytest.importorskip("setuptools")
    pytest.importorskip("Cython")
    others = {name: value for name, value in os.environ.items() if not name.startswith("GITHUB_")}
    command = [sys.executable, "setup.py", "-q", "egg_info", "--egg-base", folder]
    subprocess.run(command, cwd=ROOT, env=others | environment, check=True, capture_output=True)
    return message_from_string((folder / "phonemic.egg-info" / "PKG-INFO").read_text("utf-8"))


def links(found):
    return re.findall(r"\]\(([^)\s]+)\)", found.get_payload())


def test_links_lead_to_the_files_of_the_release(tmp_path):
    found = metadata(tmp_path, GITHUB_SERVER_URL="https://github.com", GITHUB_REPOSITORY="example/phonemic")
    paths = [re.fullmatch(rf"{HOME}/(blob|raw)/v{found['Version']}/([^#]+)(?:#.*)?", link) for link in links(found)]
    assert len(paths) > 20
    assert [path[2] for path in paths if not (ROOT / path[2]).is_file()] == []
    assert {path[2] for path in paths if path[1] == "raw"} == {"docs/images/homophones.svg"}
    assert found["Description-Content-Type"] == "text/markdown"
    named = dict(line.split(", ") for line in found.get_all("Project-URL"))
    assert set(named) == {"Changelog", "Documentation", "Issues", "Source"}
    assert all(url.startswith(HOME) for url in named.values())


def test_without_a_repository_there_are_no_dead_links(tmp_path):
    found = metadata(tmp_path)
    assert [link for link in links(found) if "://" not in link] == []
    assert "Quickstart · Tour, as a notebook" in found.get_payload()
    assert "Scores of five encoders" not in found.get_payload()
    assert found.get_all("Project-URL") is None
