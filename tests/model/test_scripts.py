"""Traditional text in a model that has learned from simplified text."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs the model extra")
pytest.importorskip("transformers", reason="needs the model extra")

from phonemic import Tokenizer
from phonemic.inventory import TRIPLE
from phonemic_bert import PhonemicBertForMaskedLM
from phonemic_bert.modeling.prepared import PreparedEncoder
from phonemic_bert.pairs import pairs

FORMS = {
    "forms": "joint",
    "composition": "both",
    "head": "joint",
    "output_embeddings": "tied",
    "syllable_inventory": "attested",
    "num_bigram_buckets": 50,
    "num_form_bigram_buckets": 70,
}
TEXTS = [("銀行門鎖", "银行门锁"), ("問題變得簡單", "问题变得简单")]


def ids(text):
    return torch.from_numpy(Tokenizer("zh", readings="context", form=True).encode(text).ids).long()


@pytest.fixture
def model(tiny):
    torch.manual_seed(0)
    return PhonemicBertForMaskedLM(tiny("zh", **FORMS)).eval()


@pytest.mark.parametrize("texts", TEXTS)
def test_both_scripts_are_read_alike(model, texts):
    traditional, simplified = (ids(text)[None] for text in texts)
    assert torch.equal(traditional & TRIPLE, simplified & TRIPLE)
    assert not torch.equal(traditional, simplified)
    with torch.no_grad():
        one, two = (model.bert(ids).last_hidden_state for ids in (traditional, simplified))
        assert torch.allclose(one, two, atol=1e-5)
        prepared = PreparedEncoder(model.bert)
        assert torch.allclose(prepared(traditional), prepared(simplified), atol=1e-5)


def test_a_form_that_is_exchanged_becomes_another(model):
    """Never that of the simplified character, which the model sees already."""
    forms = model.bert.embeddings.forms.train()
    forms.set_shares(0.0, 1.0)
    [found] = ids("銀")
    drawn = forms.disturbed(found.expand(1, 500)).unique()
    assert len(drawn) > 3
    assert not {int(found), int(ids("银")[0])} & set(drawn.tolist())
    assert set((drawn & TRIPLE).tolist()) == {int(found) & TRIPLE}


def test_what_is_listed_stays_as_it_is():
    listed = pairs("zh")
    assert not np.isin(listed.traditional, listed.packed).any()
    assert np.isin(listed.simplified, listed.packed).all()
    assert np.array_equal(listed.traditional & TRIPLE, listed.simplified & TRIPLE)


def sentences(path):
    blocks = path.read_text("utf-8").strip().split("\n\n")
    return ["".join(line.split("\t")[1] for line in block.split("\n") if line[0].isdigit()) for block in blocks]


def test_a_treebank_in_both_scripts(data, model):
    """UD GSD and its conversion by others: unlisted characters with the same reading have the same ids."""
    texts = [sentences(data(f"zh/ud_{name}/zh_{name}-ud-test.conllu")) for name in ("gsd", "gsdsimp")]
    assert len(texts[0]) == len(texts[1]) == 500
    tokenizer, listed = Tokenizer("zh", form=True), pairs("zh").packed
    read = model.bert.embeddings.forms.pairs.read
    same = other = 0
    for traditional, simplified in zip(*texts, strict=True):
        if len(traditional) != len(simplified):
            continue
        for one, two in zip(traditional, simplified, strict=True):
            if one == two or not ("一" <= one <= "鿿" and "一" <= two <= "鿿"):
                continue
            first, second = (tokenizer.encode(char).ids for char in (one, two))
            if np.array_equal(first & TRIPLE, second & TRIPLE) and first not in listed and second in listed:
                seen = read(torch.from_numpy(first).long())
                same += torch.equal(seen, read(torch.from_numpy(second).long()))
                other += 1
    assert other > 3000
    assert same > 0.99 * other, f"{same} of {other}"
