"""Several processes, and what is imported when."""

import os
import subprocess
import sys

import pytest

spacy = pytest.importorskip("spacy", reason="needs the spacy extra")
torch = pytest.importorskip("torch", reason="needs the model extra")
pytest.importorskip("transformers", reason="needs the model extra")

from encoder_helpers import run  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:spacy", "ignore::DeprecationWarning:weasel")


PROCESSES = """
import multiprocessing, sys, warnings
import spacy, torch
from spacy.tokens import Doc

if __name__ == "__main__":
    multiprocessing.set_start_method(sys.argv[2])
    torch.set_num_threads(2)
    nlp = spacy.load(sys.argv[1])
    texts = ["Hoà bình ở Huế, hai ba bốn." * 20] * 12
    want = [[token.tag_ for token in doc] for doc in nlp.pipe(texts)]  # torch's threads are up
    got = [[token.tag_ for token in doc] for doc in nlp.pipe(texts, n_process=2, batch_size=3)]
    assert got == want
    print("same")
"""

POSITIONS = """
import multiprocessing, sys
import numpy as np
import spacy, torch

def ask(to):
    doc = nlp.make_doc(text)
    of_doc = read._.phonemic_positions.vectors
    to.send([nlp.get_pipe("phonemic_transformer").positions([doc])[0].vectors, of_doc])

if __name__ == "__main__":
    torch.set_num_threads(2)
    nlp, text = spacy.load(sys.argv[1]), "Hoà bình ở Huế, hai ba bốn." * 20
    read = nlp(text)  # torch's threads are up
    want = read._.phonemic_positions.vectors
    context = multiprocessing.get_context("fork")
    here, there = context.Pipe(duplex=False)
    child = context.Process(target=ask, args=(there,), daemon=True)
    child.start()
    assert here.poll(300), "the forked process waits for ever"
    assert all(np.allclose(found, want, atol=1e-5) for found in here.recv())
    print("same")
"""


class TestProcesses:
    @pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
    def test_positions_in_a_forked_process(self, trained, tmp_path):
        script = tmp_path / "script.py"
        script.write_text(POSITIONS, encoding="utf-8")
        done = subprocess.run(
            [sys.executable, str(script), str(trained / "out" / "model-best")],
            capture_output=True,
            text=True,
            env={**os.environ, "OMP_NUM_THREADS": "2"},
            check=False,
        )
        assert done.stdout.strip() == "same", done.stderr

    @pytest.mark.parametrize("method", ["spawn", "fork"])
    def test_pipe_in_two(self, trained, tmp_path, method):
        script = tmp_path / "script.py"
        script.write_text(PROCESSES, encoding="utf-8")
        environment = {**os.environ, "OMP_NUM_THREADS": "2"}
        done = subprocess.run(
            [sys.executable, str(script), str(trained / "out" / "model-best"), method],
            capture_output=True,
            text=True,
            env=environment,
            check=False,
        )
        assert done.stdout.strip() == "same", done.stderr

    def test_a_gpu_and_fork_are_refused(self, monkeypatch):
        from spacy_phonemic import network

        monkeypatch.setattr(network, "_forked", True)
        with pytest.raises(RuntimeError, match="spawn"):
            network.spare_forked_threads(torch.device("cuda:0"))

    def test_nothing_of_the_model_is_imported_before_it_is_built(self):
        """spaCy's own thinc imports torch where it finds it; transformers and the model wait for an encoder."""
        code = (
            "import spacy, sys; nlp = spacy.blank('vi', config={'nlp': {'tokenizer': {'use_pyvi': False}}}); "
            "nlp.add_pipe('phonemic'); import spacy_phonemic.encoder; "
            "assert not {'transformers', 'phonemic_bert', 'spacy_phonemic.network'} & set(sys.modules)"
        )
        done = run("-c", code)
        assert done.returncode == 0, done.stderr
