"""The notebook is true: run from its first cell to its last, it gives what it shows."""

import re
from itertools import groupby
from pathlib import Path

import pytest

nbclient = pytest.importorskip("nbclient", reason="needs nbclient and ipykernel, of the dev extra")
nbformat = pytest.importorskip("nbformat", reason="needs nbformat, which nbclient brings")
pytest.importorskip("ipykernel", reason="needs ipykernel, of the dev extra")
for package in ("spacy", "nltk", "pyarrow"):
    pytest.importorskip(package, reason=f"the notebook needs {package}")

EXAMPLES = Path(__file__).parent.parent / "examples"


def shown(cell):
    """The outputs of a cell as text; HTML without what differs from run to run.

    What is printed comes in as many pieces as the kernel happens to send it in, which a busy machine makes more.
    """
    for printed, outputs in groupby(cell.get("outputs", ()), key=lambda output: "text" in output):
        if printed:
            yield "".join(output["text"] for output in outputs)
            continue
        for output in outputs:
            data = output["data"]
            yield data.get("text/html") or re.sub(r" at 0x\w+", "", data["text/plain"])


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_the_tour(tmp_path):
    notebook = nbformat.read(EXAMPLES / "tour.ipynb", as_version=4)
    nbformat.validate(notebook)
    before = [list(shown(cell)) for cell in notebook.cells]
    client = nbclient.NotebookClient(notebook, timeout=None, kernel_name="python3")
    client.execute(cwd=str(EXAMPLES))
    assert [list(shown(cell)) for cell in notebook.cells] == before
    assert sum(map(len, before)) >= 12
