"""Code that torch.compile generates, of the heads alone: its loss was right and its gradient a thousand times too large."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs the model extra")
pytest.importorskip("transformers", reason="needs the model extra")

from phonemic.inventory import FORM_SHIFT, TRIPLE
from phonemic_bert import PhonemicBertForMaskedLM
from phonemic_bert.pairs import pairs
from phonemic_bert.triples import triples

pytestmark = [
    pytest.mark.compiled,
    # Where dynamo leaves the graph, it looks at gradients of tensors that have none.
    pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor that is not a leaf:UserWarning"),
]

#: Labels of as many positions: syllables by their number, of which the last one is the rarest.
LABELS = [0, 5, 400, -1, 3000, 77, 900, 12]


def assert_same_gradients(model, labels, parameters):
    """Loss and gradients of a compiled model are those of the model itself."""
    hidden = torch.randn(8, 24, requires_grad=True)
    wanted = [hidden, *parameters]
    plain, compiled = (
        [loss, *torch.autograd.grad(loss.sum(), wanted)]
        for loss in (model.losses(hidden, labels), torch.compile(model.losses, dynamic=False)(hidden, labels))
    )
    for one, other in zip(plain, compiled, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-5)


def test_of_the_joint_head(tiny):
    torch.manual_seed(0)
    model = PhonemicBertForMaskedLM(tiny("zh", head="joint")).train()
    labels = torch.from_numpy(triples("zh").packed[LABELS].astype(np.int64))
    assert_same_gradients(model, labels, model.heads.parameters())


@pytest.mark.parametrize("forms", ["joint", "conditional"])
def test_of_the_heads_that_predict_forms(tiny, forms):
    """They are tied to the embeddings."""
    torch.manual_seed(0)
    fields = {"composition": "both", "head": "joint", "output_embeddings": "tied", "syllable_inventory": "attested"}
    fields |= {"form_dropout": 0.3, "form_noise": 0.1, "num_form_bigram_buckets": 64, "backbone": "modernbert"}
    model = PhonemicBertForMaskedLM(tiny("zh", forms=forms, **fields)).train()
    labels = torch.from_numpy(pairs("zh").packed[LABELS].astype(np.int64))
    labels[3], labels[4] = labels[3] & TRIPLE, labels[4] & TRIPLE | 127 << FORM_SHIFT
    embeddings = model.bert.embeddings
    read = [*embeddings.forms.parameters(), *embeddings.table.parameters()]
    assert_same_gradients(model, labels, [*model.heads.parameters(), *read])
