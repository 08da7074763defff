"""With forms, masks are filled with characters and capitals, the syllable next to them."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs the model extra")
pytest.importorskip("transformers", reason="needs the model extra")

from transformers import pipeline

from phonemic.forms import form_of
from phonemic.inventory import TRIPLE
from phonemic_bert import PhonemicBertForMaskedLM, PhonemicBertTokenizer, fill_mask
from phonemic_bert.pairs import pairs
from phonemic_bert.syllables import syllables

TEXT = {"vi": "Tôi yêu [MASK] Nội.", "zh": "我在[MASK]口等你"}
FORMS = {
    "composition": "both",
    "head": "joint",
    "output_embeddings": "tied",
    "syllable_inventory": "attested",
    "initializer_range": 0.2,
}


@pytest.fixture(params=[("vi", "joint"), ("vi", "conditional"), ("zh", "joint"), ("zh", "conditional")])
def made(request, tiny):
    """The language, a model with forms, its tokenizer."""
    lang, forms = request.param
    torch.manual_seed(0)
    config = tiny(lang, forms=forms, backbone="modernbert", **FORMS)
    return lang, PhonemicBertForMaskedLM(config).eval(), PhonemicBertTokenizer(lang, form=True)


def test_scores_are_sums_over_the_pairs_that_are_written_so(made):
    lang, model, tokenizer = made
    encoded = tokenizer(TEXT[lang], return_tensors="pt")
    place = int((encoded["input_ids"][0] == tokenizer.mask_token_id).nonzero())
    real = pairs(lang).packed[np.isin(pairs(lang).packed & TRIPLE, syllables(lang))]
    with torch.no_grad():
        hidden = model.bert(**encoded).last_hidden_state[0, place]
        labels = torch.from_numpy(real).long()
        likely = (-model.losses(hidden.expand(len(labels), -1), labels)).exp().numpy()
    sums = {}
    for packed, value in zip(real.tolist(), likely.tolist(), strict=True):
        key = packed & TRIPLE, form_of(packed, lang).text.strip()
        sums[key] = sums.get(key, 0) + value
    order = sorted(sums, key=sums.get, reverse=True)[:20]
    [fillings] = fill_mask(model, tokenizer, TEXT[lang], top_k=20)
    assert [(one.packed & TRIPLE, one.text) for one in fillings] == order
    assert [one.joint for one in fillings] == pytest.approx([sums[key] for key in order], rel=1e-3)
    assert [one.score for one in fillings] == pytest.approx([sums[k] / likely.sum() for k in order], rel=1e-3)
    for one in fillings:
        assert tokenizer.phonemic.vocab.pack(tokenizer.phonemic.factorize(one.syllable)) == one.packed & TRIPLE
        assert form_of(one.packed, lang).text.strip() == one.text


def test_targets_are_written_or_read(made):
    lang, model, tokenizer = made
    given, want = {
        "vi": (["Hà", "an"], {("Hà", "hà"), ("an", "an")}),
        "zh": (["门", "bīng"], {("门", "mén"), ("冰", "bīng"), ("兵", "bīng")}),
    }[lang]
    [fillings] = fill_mask(model, tokenizer, TEXT[lang], top_k=50, targets=given)
    found = {(one.text, one.syllable) for one in fillings}
    assert want <= found
    assert {syllable for _, syllable in found} == {syllable for _, syllable in want}
    with pytest.raises(ValueError, match="'xyz' is not a syllable"):
        fill_mask(model, tokenizer, TEXT[lang], targets=["xyz"])
    with pytest.raises(TypeError, match="not 5"):
        fill_mask(model, tokenizer, TEXT[lang], targets=[5])


def test_a_target_that_no_text_has_is_refused(made):
    lang, model, tokenizer = made
    listed = set((pairs(lang).packed & TRIPLE).tolist())
    rare = next(one for one in syllables(lang).tolist() if one not in listed)
    with pytest.raises(ValueError, match="so rare that the model has learned no way to write it"):
        fill_mask(model, tokenizer, TEXT[lang], targets=[tokenizer.phonemic.spell(rare)])


def test_the_pipeline_writes_them(made, tmp_path):
    lang, model, tokenizer = made
    model.save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    fill = pipeline("fill-mask", model=str(tmp_path))
    target, syllable = {"vi": ("Hà", "hà"), "zh": ("门", "mén")}[lang]
    [found] = fill(TEXT[lang], targets=target)
    assert found["token_str"] == target
    assert found["syllable"] == syllable
    assert found["sequence"] == TEXT[lang].replace("[MASK]", target)
    assert form_of(found["token"], lang).text.strip() == target
    assert ("characters" in found) == (lang == "zh")
