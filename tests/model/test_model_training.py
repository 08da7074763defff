"""Masking, checkpoints, Trainer, PEFT."""

import json
import math
import pickle
import warnings

import pytest

torch = pytest.importorskip("torch", reason="needs the model extra")
transformers = pytest.importorskip("transformers", reason="needs the model extra")

from safetensors.torch import load_file, save_file
from transformers import (
    AutoConfig,
    AutoModel,
    AutoModelForMaskedLM,
    AutoModelForMultipleChoice,
    AutoModelForQuestionAnswering,
    AutoModelForSequenceClassification,
    AutoModelForTokenClassification,
    DataCollatorForLanguageModeling,
    Trainer,
    TrainingArguments,
    set_seed,
)

from phonemic.inventory import MASK
from phonemic_bert import (
    CheckpointError,
    HolisticCollator,
    PhonemicBertConfig,
    PhonemicBertForMaskedLM,
    PhonemicBertForMultipleChoice,
    PhonemicBertForQuestionAnswering,
    PhonemicBertForSequenceClassification,
    PhonemicBertForTokenClassification,
    PhonemicBertModel,
    PhonemicBertTokenizer,
)

PACKED_MASK = MASK * 0x010101


@pytest.fixture(scope="module")
def tokenizer():
    return PhonemicBertTokenizer("vi")


@pytest.fixture
def rows(tokenizer, vi_lines):
    encoded = tokenizer(vi_lines, return_special_tokens_mask=True)
    return [{name: encoded[name][row] for name in encoded} for row in range(len(vi_lines))]


# --- H-MLM


def test_masking_is_whole_triples_of_real_positions(tokenizer, rows):
    batch = HolisticCollator(tokenizer, mlm_probability=0.5, seed=1)(rows)
    ids, labels = batch["input_ids"], batch["labels"]
    plain = tokenizer.pad({"input_ids": [row["input_ids"] for row in rows]}, return_tensors="pt")["input_ids"]
    chosen = labels != -100
    assert 0.4 < chosen.sum() / (plain > 0).sum() < 0.6
    assert (ids[chosen] == PACKED_MASK).all()
    assert torch.equal(ids[~chosen], plain[~chosen])
    assert torch.equal(labels[chosen], plain[chosen])
    special = torch.tensor(
        [tokenizer.get_special_tokens_mask(row, already_has_special_tokens=True) for row in plain.tolist()]
    )
    assert not chosen[special.bool()].any()


def test_share_is_the_papers_and_seeded(tokenizer, rows):
    many = rows * 60
    chosen = HolisticCollator(tokenizer, seed=3)(many)["labels"] != -100
    count = sum(len(row["input_ids"]) - 2 for row in many)
    assert abs(int(chosen.sum()) - 0.15 * count) < 4 * math.sqrt(count * 0.15 * 0.85)
    again = HolisticCollator(tokenizer, seed=3)(many)["labels"] != -100
    other = HolisticCollator(tokenizer, seed=4)(many)["labels"] != -100
    assert torch.equal(chosen, again)
    assert not torch.equal(chosen, other)


def test_a_mask_column_or_none_gives_the_same(tokenizer, rows):
    """The special positions come from the tokenizer's column, or else are looked for among the ids."""
    bare = [{name: value for name, value in row.items() if name != "special_tokens_mask"} for row in rows]
    with_column, without = (HolisticCollator(tokenizer, seed=2)(part) for part in (rows, bare))
    assert all(torch.equal(with_column[name], without[name]) for name in without)


def test_equals_the_stock_collator(tokenizer, rows):
    options = {"mask_replace_prob": 1, "random_replace_prob": 0}
    ours, stock = HolisticCollator(tokenizer, seed=None), DataCollatorForLanguageModeling(tokenizer, **options)
    seeded, generator = HolisticCollator(tokenizer, seed=7), DataCollatorForLanguageModeling(tokenizer, **options)
    generator.generator = torch.Generator().manual_seed(seeded._seed_of(rows))
    for one, other in ((ours, stock), (seeded, generator)):
        torch.manual_seed(0)
        got = one(rows)
        torch.manual_seed(0)
        want = other(rows)
        assert set(got) == set(want)
        assert all(torch.equal(got[name], want[name]) for name in want)


def test_masks_depend_on_the_rows_and_the_seed_only(tokenizer, rows):
    collator = HolisticCollator(tokenizer)
    first = collator(rows[:4])["labels"]
    collator(rows)
    assert torch.equal(collator(rows[:4])["labels"], first)
    lists = [row["input_ids"] for row in rows[:4]]
    assert torch.equal(collator(lists)["labels"], first)
    other_order = collator(rows[3::-1])["labels"]
    assert not torch.equal(other_order.flip(0) != -100, first != -100)
    loader = torch.utils.data.DataLoader(rows, batch_size=4, collate_fn=collator, num_workers=1)
    assert torch.equal(next(iter(loader))["labels"], first)


# --- checkpoints


AUTO = {
    PhonemicBertModel: AutoModel,
    PhonemicBertForMaskedLM: AutoModelForMaskedLM,
    PhonemicBertForSequenceClassification: AutoModelForSequenceClassification,
    PhonemicBertForTokenClassification: AutoModelForTokenClassification,
    PhonemicBertForQuestionAnswering: AutoModelForQuestionAnswering,
    PhonemicBertForMultipleChoice: AutoModelForMultipleChoice,
}


@pytest.mark.parametrize("kind", AUTO)
def test_save_and_load(tiny, tmp_path, kind, random_ids):
    model = kind(tiny("zh", hidden_dropout_prob=0.2)).eval()
    model.save_pretrained(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["config.json", "model.safetensors"]
    ids = random_ids(vocab_size=112)[0]
    ids = ids[:, None].repeat(1, 2, 1) if kind is PhonemicBertForMultipleChoice else ids
    for loaded in (kind.from_pretrained(tmp_path), AUTO[kind].from_pretrained(tmp_path)):
        assert type(loaded) is kind
        assert loaded.config.lang == "zh"
        assert loaded.config.hidden_dropout_prob == 0.2
        assert not loaded.training
        got, want = loaded(ids, return_dict=False), model(ids, return_dict=False)
        flat = torch.utils._pytree.tree_leaves
        assert all(torch.equal(a, b) for a, b in zip(flat(got), flat(want), strict=True))


def test_a_pretrained_encoder_in_every_task(tiny, tmp_path):
    pretrained = PhonemicBertForMaskedLM(tiny())
    pretrained.save_pretrained(tmp_path)
    for kind in AUTO:
        loaded = kind.from_pretrained(tmp_path)
        encoder = loaded if kind is PhonemicBertModel else loaded.bert
        want = pretrained.bert.state_dict()
        assert all(torch.equal(value, want[name]) for name, value in encoder.state_dict().items() if name in want)


def test_config_is_written_in_full(tiny, tmp_path):
    tiny("zh").save_pretrained(tmp_path)
    written = json.loads((tmp_path / "config.json").read_text())
    assert written["lang"] == "zh"
    assert written["vocab_size"] == 112
    assert written["model_type"] == "phonemic-bert"
    assert written["vocabulary_checksum"] == tiny("zh").vocabulary_checksum
    loaded = AutoConfig.from_pretrained(tmp_path)
    assert type(loaded) is PhonemicBertConfig
    assert loaded.to_diff_dict() | {"_name_or_path": ""} == tiny("zh").to_diff_dict() | {"_name_or_path": ""}


class Evil:
    def __reduce__(self):
        return exec, ("raise AssertionError('unpickled')",)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_nothing_is_unpickled(tiny, tmp_path):
    PhonemicBertModel(tiny()).save_pretrained(tmp_path)
    (tmp_path / "pytorch_model.bin").write_bytes(pickle.dumps(Evil()))
    PhonemicBertModel.from_pretrained(tmp_path)
    with pytest.raises(CheckpointError, match="use_safetensors=False would unpickle"):
        PhonemicBertModel.from_pretrained(tmp_path, use_safetensors=False)
    (tmp_path / "model.safetensors").unlink()
    for load in (PhonemicBertModel.from_pretrained, AutoModel.from_pretrained):
        with pytest.raises(CheckpointError, match=r"of about [\d,]+ parameters, but its weights have \d+ bytes"):
            load(tmp_path)
    (tmp_path / "pytorch_model.bin").write_bytes(pickle.dumps(Evil()) + bytes(1 << 17))
    for load in (PhonemicBertModel.from_pretrained, AutoModel.from_pretrained):
        with pytest.raises(OSError, match=r"model\.safetensors"):
            load(tmp_path)


def test_wrong_checkpoints(tiny, tmp_path):
    PhonemicBertForMaskedLM(tiny()).save_pretrained(tmp_path)
    path, weights = tmp_path / "config.json", tmp_path / "model.safetensors"
    config = json.loads(path.read_text())

    path.write_text(json.dumps({**config, "vocabulary_checksum": "00000000"}))
    for load in (AutoConfig.from_pretrained, AutoModelForMaskedLM.from_pretrained, PhonemicBertModel.from_pretrained):
        with pytest.raises(
            CheckpointError, match="vocabulary has checksum 00000000, but that of the installed phonemic"
        ):
            load(tmp_path)
    path.write_text(json.dumps({**config, "lang": "zh"}))
    with pytest.raises(CheckpointError, match="vocab_size=256, but the zh vocabulary has 112"):
        PhonemicBertModel.from_pretrained(tmp_path)
    path.write_text(json.dumps({**config, "lang": "en"}))
    with pytest.raises(CheckpointError, match="unknown language 'en'"):
        PhonemicBertModel.from_pretrained(tmp_path)
    path.write_text(json.dumps({**config, "intermediate_size": 44}))
    with pytest.raises(CheckpointError, match=r"(?s)cannot be loaded.*(size mismatch|mismatched)"):
        PhonemicBertForMaskedLM.from_pretrained(tmp_path)
    path.write_text(json.dumps(config))
    weights.write_bytes(weights.read_bytes()[:1000])
    with pytest.raises(Exception, match=r"its weights have 1,000 bytes"):
        PhonemicBertForMaskedLM.from_pretrained(tmp_path)
    with pytest.raises((OSError, ValueError), match="nothing"):
        PhonemicBertForMaskedLM.from_pretrained(tmp_path / "nothing")


def test_presets():
    assert PhonemicBertConfig.from_preset("paper-6", "zh").num_hidden_layers == 6
    assert PhonemicBertConfig().to_dict() == PhonemicBertConfig.from_preset("paper-12").to_dict()
    assert PhonemicBertConfig.from_preset("paper-tiny", hidden_dropout_prob=0.3).hidden_dropout_prob == 0.3
    names = "paper-12, paper-6, small, mini-sound, mini-vi, mini-zh, micro, paper-tiny"
    with pytest.raises(ValueError, match=f"unknown preset 'huge': choose one of {names}"):
        PhonemicBertConfig.from_preset("huge")


# --- Trainer


def arguments(folder, **options):
    defaults = {"per_device_train_batch_size": 4, "learning_rate": 1e-3, "logging_steps": 1, "use_cpu": True, "seed": 5}
    quiet = {"report_to": "none", "disable_tqdm": True, "dataloader_pin_memory": False, "save_strategy": "no"}
    return TrainingArguments(str(folder), **{**defaults, **quiet, **options})


def train(folder, config, rows, tokenizer, resume=None, **options):
    set_seed(5)
    model = PhonemicBertForMaskedLM(config)
    trainer = Trainer(
        model, arguments(folder, **options), train_dataset=rows, data_collator=HolisticCollator(tokenizer)
    )
    with warnings.catch_warnings():
        # On resuming, 4.53 restores torch's generators through a call that torch deprecates.
        warnings.simplefilter("ignore", FutureWarning)
        trainer.train(resume_from_checkpoint=resume)
    return trainer


def test_trainer_learns(tiny, tmp_path, rows, tokenizer):
    config = tiny(hidden_dropout_prob=0, attention_probs_dropout_prob=0)
    trainer = train(tmp_path, config, rows, tokenizer, num_train_epochs=8, learning_rate=1e-2)
    losses = [entry["loss"] for entry in trainer.state.log_history if "loss" in entry]
    assert losses[0] == pytest.approx(3 * math.log(256), rel=0.02)
    assert sum(losses[-5:]) / 5 < 0.65 * losses[0]
    metrics = trainer.evaluate(rows)
    assert 0 < metrics["eval_loss"] < losses[0]
    predictions = trainer.predict(rows[:3]).predictions
    assert len(predictions) == 3
    assert predictions[0].shape[-1] == 256


def test_resuming_continues_bit_for_bit(tiny, tmp_path, rows, tokenizer):
    """With dropout, whose generator Trainer saves, and random masks, in the middle of an epoch and over its end."""
    options = {"max_steps": 6, "save_strategy": "steps", "save_steps": 3, "lr_scheduler_type": "linear"}
    straight = train(tmp_path / "a", tiny(), rows, tokenizer, **options)
    resumed = train(tmp_path / "b", tiny(), rows, tokenizer, resume=str(tmp_path / "a" / "checkpoint-3"), **options)
    assert resumed.state.global_step == 6
    want = straight.model.state_dict()
    assert all(torch.equal(value, want[name]) for name, value in resumed.model.state_dict().items())
    early = load_file(tmp_path / "a" / "checkpoint-3" / "model.safetensors")
    assert not torch.equal(early["heads.rime.weight"], want["heads.rime.weight"])


def test_accumulated_gradients_are_those_of_one_batch(tiny, tmp_path, rows, tokenizer):
    """Although the small batches mask different numbers of positions."""
    config = tiny(hidden_dropout_prob=0, attention_probs_dropout_prob=0)
    masked = HolisticCollator(tokenizer, seed=0)(rows[:8])
    fixed = [{name: masked[name][row] for name in masked} for row in range(8)]
    assert len({int((row["labels"] != -100).sum()) for row in fixed}) > 1
    results = []
    for size, steps in ((8, 1), (2, 4)):
        set_seed(5)
        model = PhonemicBertForMaskedLM(config)
        options = {"per_device_train_batch_size": size, "gradient_accumulation_steps": steps, "max_steps": 1}
        trainer = Trainer(model, arguments(tmp_path, optim="sgd", max_grad_norm=0, **options), train_dataset=fixed)
        trainer.train()
        results.append(model.state_dict())
    for name, value in results[0].items():
        torch.testing.assert_close(
            results[1][name], value, rtol=1e-5 if transformers.__version__.startswith("4.") else 0, atol=1e-7
        )


def test_trainer_with_gradient_checkpointing_and_bf16(tiny, tmp_path, rows, tokenizer):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # 5.x renamed gradient_checkpointing
        trainer = train(tmp_path, tiny(), rows, tokenizer, max_steps=2, bf16=True, gradient_checkpointing=True)
    assert all(math.isfinite(entry["loss"]) for entry in trainer.state.log_history if "loss" in entry)


def test_finetuning_a_classifier(tiny, tmp_path, tokenizer):
    set_seed(0)
    texts = [f"{first} {second}" for first in ("tôi", "bạn") for second in ("đi", "về", "ăn", "ngủ", "học", "chơi")]
    rows = [{**tokenizer(text), "labels": int(text.startswith("bạn"))} for text in texts]
    model = PhonemicBertForSequenceClassification(tiny())
    options = arguments(tmp_path, num_train_epochs=15, learning_rate=3e-3)
    trainer = Trainer(model, options, train_dataset=rows, processing_class=tokenizer)
    trainer.train()
    assert (trainer.predict(rows).predictions.argmax(-1) == [row["labels"] for row in rows]).all()
    trainer.save_model(tmp_path / "done")
    assert {"model.safetensors", "phonemic.json"} <= {path.name for path in (tmp_path / "done").iterdir()}


def test_pipeline_of_transformers(tiny, tokenizer):
    labelled = tiny(id2label={0: "O", 1: "PER"}, label2id={"O": 0, "PER": 1})
    model = PhonemicBertForTokenClassification(labelled).eval()
    text = "Bà Nguyễn Thị Minh, 2024"
    found = transformers.pipeline(
        "token-classification", model=model, tokenizer=tokenizer, device="cpu", ignore_labels=[]
    )(text)
    assert [text[entity["start"] : entity["end"]] for entity in found] == ["Bà", "Nguyễn", "Thị", "Minh", ",", *"2024"]


# --- PEFT


@pytest.mark.filterwarnings("ignore:.is_gradient_checkpointing. is deprecated:FutureWarning")  # peft calls it
def test_lora_on_the_attention_layers(tiny, tmp_path, rows, tokenizer):
    peft = pytest.importorskip("peft", reason="needs peft")
    base = PhonemicBertForMaskedLM(tiny(hidden_dropout_prob=0, attention_probs_dropout_prob=0))
    base.save_pretrained(tmp_path / "base")
    model = peft.get_peft_model(base, peft.LoraConfig(r=2, target_modules=["query", "value"]))
    trainable = {name for name, parameter in model.named_parameters() if parameter.requires_grad}
    assert len(trainable) == 2 * 2 * 2  # two layers, query and value, A and B
    assert all("lora" in name for name in trainable)
    batch = HolisticCollator(tokenizer, seed=0)(rows)
    optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=1e-2)
    losses = []
    for _ in range(8):
        loss = model(**batch).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
    assert losses[-1] < losses[0]
    model.eval().save_pretrained(tmp_path / "adapter")
    loaded = peft.PeftModel.from_pretrained(
        PhonemicBertForMaskedLM.from_pretrained(tmp_path / "base"), tmp_path / "adapter"
    )
    for got, want in zip(loaded.eval()(**batch).logits, model(**batch).logits, strict=True):
        torch.testing.assert_close(got, want)


def test_weights_have_no_shared_memory(tiny, tmp_path):
    """safetensors refuses tensors that share memory; the heads are not tied to the table."""
    save_file(PhonemicBertForMaskedLM(tiny()).state_dict(), tmp_path / "weights.safetensors")
