"""The paper's models pass over forms: ids and ``ids & 0xFFFFFF`` give the same, in training, masking and inspection."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs the model extra")
transformers = pytest.importorskip("transformers", reason="needs the model extra")

from transformers import DataCollatorForLanguageModeling, Trainer, TrainingArguments, pipeline

from phonemic.forms import ESCAPED
from phonemic.inventory import FORM_SHIFT, TRIPLE, UNKNOWN_ID
from phonemic_bert import (
    HolisticCollator,
    PhonemicBertForMaskedLM,
    PhonemicBertForSequenceClassification,
    PhonemicBertForTokenClassification,
    PhonemicBertModel,
    PhonemicBertTokenizer,
    fill_mask,
)
from phonemic_bert.inspection.masking import mask_each
from phonemic_bert.inspection.nearest import NearestSyllables
from phonemic_bert.modeling.composition import check_positions, components
from phonemic_bert.pretraining.models import measured
from phonemic_bert.tokenization.positions import SPECIAL_IDS

MASK = SPECIAL_IDS["[MASK]"]
#: White space, an escape, capitals, emoji; characters of high ranks.
TEXTS = {"vi": ["Quốc  kỳ bay hÀ 😀, HÒA hòa", "Tôi\nđi\tHuế"], "zh": ["银行 门\u200d 王，1 A", "嶷嶷長龘 ☃\ufe0f"]}
HALF = {"mlm_probability": 0.5, "mask_replace_prob": 1, "random_replace_prob": 0}
BACKBONES = {
    "paper": {},
    "modern": {
        "backbone": "modernbert",
        "composition": "both",
        "conv_kernel_size": 3,
        "num_bigram_buckets": 64,
        "head": "joint",
    },
    "tied": {
        "backbone": "modernbert",
        "composition": "product",
        "head": "joint",
        "output_embeddings": "tied",
        "pooling": "mean",
    },
    "attested": {
        "composition": "table",
        "head": "joint",
        "output_embeddings": "untied",
        "syllable_inventory": "attested",
        "num_bigram_buckets": 64,
    },
}


@pytest.fixture(params=["vi", "zh"])
def lang(request):
    return request.param


def batch_of(lang):
    rows = PhonemicBertTokenizer(lang, form=True)(TEXTS[lang], padding=True, return_tensors="pt")
    assert (rows["input_ids"] > TRIPLE).any()
    return rows


def made(cls, config):
    torch.manual_seed(1)
    model = cls(config).eval()
    for parameter in model.parameters():  # nothing begins at 0, as tables of bigrams do
        torch.nn.init.normal_(parameter, std=0.2)
    return model


def plain(rows):
    return {**rows, "input_ids": rows["input_ids"] & TRIPLE}


@pytest.mark.parametrize("kind", BACKBONES)
def test_the_encoder_passes_over_forms(tiny, lang, kind):
    rows, model = batch_of(lang), made(PhonemicBertModel, tiny(lang, **BACKBONES[kind]))
    with torch.no_grad():
        ours, want = model(**rows), model(**plain(rows))
        assert torch.equal(ours.last_hidden_state, want.last_hidden_state)
        assert torch.equal(ours.pooler_output, want.pooler_output)
        embedded = model.embeddings.embed(rows["input_ids"].to(torch.int32))
        assert torch.equal(embedded, model.embeddings.embed(plain(rows)["input_ids"].to(torch.int32)))


@pytest.mark.parametrize("kind", BACKBONES)
@pytest.mark.parametrize("training", [True, False])
def test_what_is_predicted_is_the_triple(tiny, lang, kind, training):
    rows, model = batch_of(lang), made(PhonemicBertForMaskedLM, tiny(lang, **BACKBONES[kind]))
    model.train(training)
    known = rows["input_ids"] & 255 > UNKNOWN_ID & 255 + 4
    labels = torch.where(known, rows["input_ids"], -100)
    bare = torch.where(known, rows["input_ids"] & TRIPLE, -100)
    torch.manual_seed(0)
    ours = model(**rows, labels=labels)
    torch.manual_seed(0)
    want = model(**plain(rows), labels=bare)
    assert torch.equal(ours.loss, want.loss)
    assert torch.equal(ours.losses, want.losses)
    if not training:
        assert torch.equal(ours.best, want.best)
        assert (ours.best <= TRIPLE).all()
        with torch.no_grad():
            own, other = measured(ours, labels), measured(want, bare)
        assert own.keys() == other.keys()
        assert all(torch.equal(own[name], other[name]) for name in own)


def test_right_is_who_has_the_triple(tiny):
    model = made(PhonemicBertForMaskedLM, tiny())
    ids = batch_of("vi")["input_ids"]
    best = model(ids, labels=torch.full_like(ids, ids[0, 1])).best.view(ids.shape)
    with_forms = best | 3 << FORM_SHIFT
    assert measured(model(ids, labels=with_forms), with_forms)["accuracy"] == ids.numel()


def test_positions_are_checked_without_their_forms():
    ids = batch_of("vi")["input_ids"]
    check_positions(ids, 256)
    assert torch.equal(components(ids), components(ids & TRIPLE))
    for wrong in (MASK | 1 << FORM_SHIFT, 1 << FORM_SHIFT, -1, -100, 0x040405 | 5 << FORM_SHIFT):
        with pytest.raises(ValueError, match="input_ids hold"):
            check_positions(torch.tensor([[wrong]]), 256)
    with pytest.raises(ValueError, match="the vocabulary has 112"):
        check_positions(torch.tensor([[200 | 7 << 8 | 8 << 16 | 9 << FORM_SHIFT]]), 112)


def rows_of(lang, **options):
    tokenizer = PhonemicBertTokenizer(lang, form=True)
    return tokenizer, [tokenizer(text, **options) for text in TEXTS[lang]]


@pytest.mark.parametrize("with_mask", [True, False])
def test_whole_positions_are_masked(lang, with_mask):
    tokenizer, rows = rows_of(lang, return_special_tokens_mask=with_mask)
    batch = HolisticCollator(tokenizer, mlm_probability=1.0)([dict(row) for row in rows])
    ids = tokenizer.pad([{"input_ids": row["input_ids"]} for row in rows], return_tensors="pt")["input_ids"]
    special = torch.isin(ids & TRIPLE, torch.tensor([*SPECIAL_IDS.values()]))
    chosen = ~special & (ids >> FORM_SHIFT != ESCAPED)
    assert torch.equal(batch["input_ids"], torch.where(chosen, MASK, ids))
    assert torch.equal(batch["labels"], torch.where(chosen, ids, -100))
    assert lang == "zh" or (ids >> FORM_SHIFT == ESCAPED).any()


def test_masks_without_forms_are_those_of_before():
    """The collator's own masking draws as transformers' does."""
    tokenizer = PhonemicBertTokenizer("vi")
    rows = [{"input_ids": tokenizer(text)["input_ids"]} for text in TEXTS["vi"]]
    ours = HolisticCollator(tokenizer, mlm_probability=0.5, seed=None)
    stock = DataCollatorForLanguageModeling(tokenizer, **HALF)
    torch.manual_seed(0)
    one = ours(rows)
    torch.manual_seed(0)
    other = stock(rows)
    assert all(torch.equal(one[name], other[name]) for name in ("input_ids", "labels"))


@pytest.mark.parametrize("kind", ["paper", "tied"])
def test_trainer_and_the_stock_collator(tiny, lang, kind, tmp_path):
    tokenizer, rows = rows_of(lang)
    stock = DataCollatorForLanguageModeling(tokenizer, **HALF)
    args = TrainingArguments(
        str(tmp_path), max_steps=2, report_to=[], use_cpu=True, save_strategy="no", disable_tqdm=True, logging_steps=1
    )
    model = made(PhonemicBertForMaskedLM, tiny(lang, **BACKBONES[kind]))
    trainer = Trainer(model, args, data_collator=stock, train_dataset=[dict(row) for row in rows * 4])
    assert np.isfinite(trainer.train().training_loss)


@pytest.mark.filterwarnings("ignore:.is_gradient_checkpointing. is deprecated:FutureWarning")  # peft calls it
def test_peft_adapters(tiny, lang):
    peft = pytest.importorskip("peft", reason="needs peft")
    config = peft.LoraConfig(task_type="SEQ_CLS", target_modules=["query"], modules_to_save=["pooler"])
    model = peft.get_peft_model(made(PhonemicBertForSequenceClassification, tiny(lang)), config)
    rows = batch_of(lang)
    loss = model(**rows, labels=torch.tensor([0, 1])).loss
    loss.backward()
    model.eval()
    with torch.no_grad():
        assert torch.equal(model(**rows).logits, model(**plain(rows)).logits)


@pytest.mark.filterwarnings("ignore:.is_gradient_checkpointing. is deprecated:FutureWarning")  # peft calls it
@pytest.mark.parametrize(("kind", "layers"), [("paper", "query"), ("modern", "Wqkv")])
@pytest.mark.parametrize("pooling", ["first", "mean"])
def test_an_adapted_pooler_sees_no_padding(tiny, kind, layers, pooling):
    peft = pytest.importorskip("peft", reason="needs peft")
    config = peft.LoraConfig(task_type="SEQ_CLS", target_modules=[layers], modules_to_save=["pooler"])
    base = made(PhonemicBertForSequenceClassification, tiny("vi", **BACKBONES[kind], pooling=pooling))
    model = peft.get_peft_model(base, config).eval()
    tokenizer = PhonemicBertTokenizer("vi", form=True)
    rows = tokenizer(["Hôm nay tôi đi học ở Hà Nội.", "Chào"], padding=True, return_tensors="pt")
    alone = tokenizer("Chào", return_tensors="pt")
    with torch.no_grad():
        short = model(**alone).logits[0]
        torch.testing.assert_close(model(**rows).logits[1], short)
    torch.testing.assert_close(model(**rows).logits[1], short)


def test_fill_mask(tiny, tmp_path):
    tokenizer, model = PhonemicBertTokenizer("vi", form=True), made(PhonemicBertForMaskedLM, tiny())
    text = "Tôi  yêu [MASK] Việt, hÀ 😀"
    found = fill_mask(model, tokenizer, text, top_k=3)
    assert [text[one.start : one.end] for one in found[0]] == ["[MASK]"] * 3
    assert all(one.packed <= TRIPLE for one in found[0])
    for each, form in (("with", True), ("without", False)):
        model.save_pretrained(tmp_path / each)
        PhonemicBertTokenizer("vi", form=form).save_pretrained(tmp_path / each)
    fill = pipeline("fill-mask", model=str(tmp_path / "with"))
    described = fill(text, top_k=3)
    assert [one["token_str"] for one in described] == [one.syllable for one in found[0]]
    assert described[0]["sequence"] == text.replace("[MASK]", found[0][0].syllable)
    loaded = PhonemicBertForMaskedLM.from_pretrained(tmp_path / "without")
    with pytest.raises(ValueError, match=r"reads with form=True, but the model has learned from text with form=False"):
        fill_mask(loaded, tokenizer, text)


@pytest.mark.parametrize("strategy", ["none", "simple", "first", "average", "max"])
def test_words_of_token_classification(tiny, tmp_path, strategy):
    """Bytes are no words of their own, and white space is none."""
    labels = {"id2label": {0: "B-X", 1: "I-X"}, "label2id": {"B-X": 0, "I-X": 1}}
    model = made(PhonemicBertForTokenClassification, tiny(**labels))
    model.save_pretrained(tmp_path)
    PhonemicBertTokenizer("vi", form=True).save_pretrained(tmp_path)
    text = "Hà  Nội hÀ 😀 x\u0301y\n漢字"
    found = pipeline("token-classification", model=str(tmp_path), aggregation_strategy=strategy)(text)
    assert all(text[one["start"] : one["end"]] == one["word"] for one in found)
    if strategy == "none":
        assert [one["word"] for one in found] == ["Hà", "Nội", "hÀ", "😀", "x\u0301", "y", "漢", "字"]
    else:
        assert all(one["word"].strip() == one["word"] for one in found)


def test_inspection_passes_over_forms(tiny, lang):
    tokenizer, model = PhonemicBertTokenizer(lang, form=True), made(PhonemicBertForMaskedLM, tiny(lang))
    text = TEXTS[lang][0]
    ids = tokenizer(text, add_special_tokens=False)["input_ids"]
    found = mask_each(model, tokenizer, text)
    assert [one is None for one in found] == [one & TRIPLE == UNKNOWN_ID for one in ids]
    native = next(one for one, packed in zip(found, ids, strict=True) if one is not None and packed >> FORM_SHIFT)
    assert native.rank is not None
    assert native.score is not None
    nearest = NearestSyllables(model.bert)
    assert nearest.of(ids, 2) == nearest.of([one & TRIPLE for one in ids], 2)
    assert len(nearest.of(ids, 2)) == len(ids)
