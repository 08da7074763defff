"""Several processes, and what is imported when."""

import multiprocessing

import pytest

spacy = pytest.importorskip("spacy", reason="needs the spacy extra")
torch = pytest.importorskip("torch", reason="needs the model extra")
pytest.importorskip("transformers", reason="needs the model extra")

from encoder_helpers import run  # noqa: E402
from spacy_helpers import run_script  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:spacy", "ignore::DeprecationWarning:weasel")


PROCESSES = """
import multiprocessing, sys, warnings
import spacy, torch
from spacy.tokens import Doc

if __name__ == "__main__":
    torch.set_num_threads(2)
    nlp = spacy.load(sys.argv[1])
    texts = ["Hoà bình ở Huế, hai ba bốn." * 20] * 6
    want = [[token.tag_ for token in doc] for doc in nlp.pipe(texts)]  # torch's threads are up
    for method in sys.argv[2:]:
        multiprocessing.set_start_method(method, force=True)
        got = [[token.tag_ for token in doc] for doc in nlp.pipe(texts, n_process=2, batch_size=2)]
        assert got == want, method
        print("same")
"""

POSITIONS = """
def ask(to):
    doc = nlp.make_doc(texts[0])
    of_doc = read._.phonemic_positions.vectors
    to.send([nlp.get_pipe("phonemic_transformer").positions([doc])[0].vectors, of_doc])

if __name__ == "__main__":
    import numpy as np

    read = nlp(texts[0])
    wanted = read._.phonemic_positions.vectors
    here, there = multiprocessing.Pipe(duplex=False)
    child = multiprocessing.Process(target=ask, args=(there,), daemon=True)
    child.start()
    assert here.poll(300), "the forked process waits for ever"
    assert all(np.allclose(found, wanted, atol=1e-5) for found in here.recv())
    print("same")
"""


class TestProcesses:
    def test_pipe_in_two(self, trained, tmp_path):
        """In two processes, spawned and forked; where they are forked, also the vectors of positions in one."""
        methods = [one for one in ("spawn", "fork") if one in multiprocessing.get_all_start_methods()]
        code = PROCESSES + POSITIONS * ("fork" in methods)
        done = run_script(tmp_path, code, trained / "out" / "model-best", *methods, OMP_NUM_THREADS="2")
        assert done.stdout.split() == ["same"] * (len(methods) + ("fork" in methods)), done.stderr

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
