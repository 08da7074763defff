"""transformers' pipelines with PhonemicBERT, and with a BERT of theirs, which continues as before."""

import functools
import inspect
import json
import os
import subprocess
import sys
import types
import warnings

import pytest
from checkpoint_packages import make_package
from forking import environment

torch = pytest.importorskip("torch", reason="needs the model extra")
transformers = pytest.importorskip("transformers", reason="needs the model extra")

from transformers import pipeline
from transformers.pipelines.pt_utils import KeyDataset

from phonemic_bert import (
    PhonemicBertConfig,
    PhonemicBertForMaskedLM,
    PhonemicBertForTokenClassification,
    PhonemicBertTokenizer,
    fill_mask,
    registration,
)

SHAPE = {"num_hidden_layers": 1, "hidden_size": 24, "num_attention_heads": 3, "intermediate_size": 40}
LABELS = ("O", "B-LOC", "I-LOC", "B-ORG")
STRATEGIES = ("none", "simple", "first", "average", "max")
TEXTS = {
    "vi": ["COVID-19 ở Hà Nội, 5km!", "Cái giếng ở quốc lộ 😅 hoà bình", "sinh_viên"],
    "zh": ["我们在银行门口等你，GDP 5.2%。", "了不起 iPhone15"],
}


@pytest.fixture(scope="module", params=["vi", "zh"])
def saved(request, tmp_path_factory):
    """A folder with a masked language model, one with a tagger, and the language; Mandarin with all beyond the paper."""
    torch.manual_seed(0)
    lang = request.param
    beyond = {"backbone": "modernbert", "composition": "product", "head": "joint"} if lang == "zh" else {}
    config = PhonemicBertConfig(lang, **SHAPE, **beyond, initializer_range=0.5)
    folders = [tmp_path_factory.mktemp(f"{kind}-{lang}") for kind in ("mlm", "tagger")]
    tagger = PhonemicBertConfig(lang, **SHAPE, **beyond, initializer_range=0.5, id2label=dict(enumerate(LABELS)))
    tagger.label2id = {label: number for number, label in enumerate(LABELS)}
    for folder, model in zip(
        folders, (PhonemicBertForMaskedLM(config), PhonemicBertForTokenClassification(tagger)), strict=True
    ):
        model.save_pretrained(folder)
        PhonemicBertTokenizer(lang).save_pretrained(folder)
    return lang, *map(str, folders)


class TestFillMask:
    TEXT = {"vi": "Tôi yêu [MASK] Việt.", "zh": "我们在银行[MASK]口等你"}  # noqa: RUF012

    def test_it_ranks_what_fill_mask_ranks(self, saved):
        lang, folder, _ = saved
        text = self.TEXT[lang]
        fill = pipeline("fill-mask", model=folder)
        [wanted] = fill_mask(fill.model, fill.tokenizer, text, top_k=3)
        found = fill(text, top_k=3)
        assert [each["token_str"] for each in found] == [filling.syllable for filling in wanted]
        assert [each["score"] for each in found] == pytest.approx([filling.score for filling in wanted])
        assert [each["token"] for each in found] == [filling.packed for filling in wanted]
        assert all(each["sequence"] == text.replace("[MASK]", each["token_str"]) for each in found)
        assert [each.get("characters", ()) for each in found] == [filling.characters for filling in wanted]
        assert len(fill(text)) == 5

    def test_targets_several_masks_and_several_texts(self, saved):
        lang, folder, _ = saved
        fill = pipeline("fill-mask", model=folder)
        targets = {"vi": ["tiếng", "nước"], "zh": ["mén", "chē"]}[lang]
        found = fill(self.TEXT[lang], targets=targets)
        assert {each["token_str"] for each in found} == set(targets)
        assert [each["token_str"] for each in fill(self.TEXT[lang], targets=targets[0])] == targets[:1]
        first, second = fill([self.TEXT[lang], "[MASK] [MASK]"], top_k=2)
        assert [len(first), *map(len, second)] == [2, 2, 2]
        assert isinstance(second[0], list)

    @pytest.mark.parametrize("batch_size", [1, 2, 3, 8])
    def test_every_batch_size_gives_the_same(self, saved, batch_size):
        lang, folder, _ = saved
        fill = pipeline("fill-mask", model=folder)
        texts = [self.TEXT[lang], "[MASK] [MASK]", "[MASK]", *[self.TEXT[lang]] * 2]
        wanted = [fill(text, top_k=3) for text in texts]
        rows = KeyDataset([{"text": text} for text in texts], "text")
        assert fill(texts, top_k=3, batch_size=batch_size) == wanted
        assert list(fill(rows, top_k=3, batch_size=batch_size)) == wanted
        assert list(fill((text for text in texts), top_k=3, batch_size=batch_size)) == wanted
        assert fill(texts[:1], top_k=3, batch_size=batch_size) == wanted[0]
        assert fill(texts[0], top_k=3, batch_size=batch_size) == wanted[0]
        again = pipeline("fill-mask", model=folder, batch_size=batch_size)
        assert again(texts, top_k=3) == wanted
        assert fill([]) == again([]) == []

    def test_targets_that_can_be_read_once(self, saved):
        lang, folder, _ = saved
        fill = pipeline("fill-mask", model=folder)
        targets = {"vi": ["tiếng", "nước"], "zh": ["mén", "chē"]}[lang]
        texts = [self.TEXT[lang]] * 3
        assert fill(texts, targets=iter(targets), batch_size=2) == [fill(texts[0], targets=targets)] * 3

    def test_errors(self, saved):
        lang, folder, _ = saved
        fill = pipeline("fill-mask", model=folder)
        with pytest.raises(ValueError, match=r"there is no \[MASK\]"):
            fill("giếng")
        with pytest.raises(ValueError, match="'xyz' is not a syllable"):
            fill(self.TEXT[lang], targets="xyz")
        with pytest.raises(TypeError, match=r"takes a text, .* not \['\[MASK\]'\]"):
            fill([["[MASK]"], ["[MASK]"]])
        for wrong in (["[MASK]", "giếng"], ["giếng", "[MASK]"]):
            with pytest.raises(ValueError, match=r"there is no \[MASK\] in 'giếng'"):
                fill(wrong, batch_size=2)
        with pytest.raises(ValueError, match="takes no tokenizer_kwargs"):
            fill(self.TEXT[lang], tokenizer_kwargs={"truncation": True})


class TestTokenClassification:
    @pytest.mark.parametrize("strategy", STRATEGIES)
    def test_words_are_the_texts(self, saved, strategy):
        lang, _, folder = saved
        with warnings.catch_warnings():
            warnings.simplefilter("error", UserWarning)
            tag = pipeline("ner", model=folder, aggregation_strategy=strategy, ignore_labels=[])
            for text, found in zip(TEXTS[lang], tag(TEXTS[lang]), strict=True):
                assert found
                assert all(each["word"] == text[each["start"] : each["end"]] for each in found)
                assert [each["start"] for each in found] == sorted(each["start"] for each in found)

    def test_the_labels_are_the_models(self, saved):
        """Without aggregation each position, of unknown characters too, has the label of its highest logit."""
        lang, _, folder = saved
        tag = pipeline("token-classification", model=folder, ignore_labels=[])
        for text in TEXTS[lang]:
            encoded = tag.tokenizer(text, return_tensors="pt", return_offsets_mapping=True)
            spans = encoded.pop("offset_mapping")[0].tolist()
            with torch.no_grad():
                best = tag.model(**encoded).logits[0].argmax(-1).tolist()
            wanted = [
                (start, end, LABELS[label])
                for (start, end), label in zip(spans, best, strict=True)
                if start < end  # neither [CLS] nor [SEP], but an emoji, though it is [UNK]
            ]
            assert [(each["start"], each["end"], each["entity"]) for each in tag(text)] == wanted

    @pytest.mark.parametrize("strategy", STRATEGIES)
    def test_every_batch_size_gives_the_same(self, saved, strategy):
        lang, _, folder = saved
        tag = pipeline("ner", model=folder, aggregation_strategy=strategy, ignore_labels=[])
        texts = TEXTS[lang] * 2
        wanted = [tag(text) for text in texts]
        for found, one in zip(tag(texts, batch_size=3), wanted, strict=True):
            scores = [entity.pop("score") for entity in [*found, *one]]
            assert found == one
            assert scores[: len(found)] == pytest.approx(scores[len(found) :], abs=1e-5)
            for entity, score in zip(one, scores[len(found) :], strict=True):  # the first text comes twice
                entity["score"] = score

    @pytest.mark.parametrize("strategy", ["first", "average", "max"])
    def test_a_word_has_one_label(self, saved, strategy):
        """Syllables are words, and a foreign word is one: no group begins or ends within."""
        lang, _, folder = saved
        tag = pipeline("ner", model=folder, aggregation_strategy=strategy, ignore_labels=[])
        words = {"vi": ["COVID", "19", "ở", "Hà", "Nội", "5km"], "zh": ["我", "行", "GDP", "门"]}[lang]
        text = TEXTS[lang][0]
        for each in tag(text):
            for word in words:
                begin, end = text.index(word), text.index(word) + len(word)
                assert each["end"] <= begin or each["start"] >= end or each["start"] <= begin < end <= each["end"]

    def test_first_takes_the_first_positions_label(self, saved):
        lang, _, folder = saved
        plain = pipeline("ner", model=folder, ignore_labels=[])
        by_word = pipeline("ner", model=folder, aggregation_strategy="first", ignore_labels=[])
        for text in TEXTS[lang]:
            label_at = {each["start"]: each["entity"].removeprefix("B-").removeprefix("I-") for each in plain(text)}
            for each in by_word(text):
                assert each["entity_group"] == label_at[each["start"]]


def test_other_models_go_on_as_before(tmp_path):
    from transformers import BertConfig, BertForMaskedLM, BertForTokenClassification, BertTokenizerFast

    torch.manual_seed(0)
    (tmp_path / "vocab.txt").write_text("[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nyes\nno\n##s\n", encoding="utf-8")
    tokenizer = BertTokenizerFast(str(tmp_path / "vocab.txt"))
    config = BertConfig(vocab_size=8, **SHAPE)
    fill = pipeline("fill-mask", model=BertForMaskedLM(config).eval(), tokenizer=tokenizer)
    found = fill("yes [MASK] no", top_k=8)
    assert {each["token"] for each in found} == set(range(8))
    assert sum(each["score"] for each in found) == pytest.approx(1, abs=1e-5)
    stock = transformers.FillMaskPipeline(model=fill.model, tokenizer=tokenizer)
    assert stock("yes [MASK] no", top_k=8) == found
    assert fill("yes [MASK]", targets=["no"])[0]["token_str"] == "no"
    tagger = BertForTokenClassification(config).eval()
    ours = pipeline("ner", model=tagger, tokenizer=tokenizer, aggregation_strategy="first", ignore_labels=[])
    stock = transformers.TokenClassificationPipeline(
        model=tagger, tokenizer=tokenizer, aggregation_strategy="first", ignore_labels=[]
    )
    assert ours("yess no") == stock("yess no")


#: The modules that load a checkpoint by name.
ASKING = (
    "transformers.AutoConfig.from_pretrained(name)",
    "transformers.AutoTokenizer.from_pretrained(name)",
    "transformers.AutoModel.from_pretrained(name)",
    "transformers.AutoModelForTokenClassification.from_pretrained(pretrained_model_name_or_path=name)",
    *(
        f"transformers.AutoModelFor{task}.from_pretrained(name)"
        for task in ("CausalLM", "Seq2SeqLM", "NextSentencePrediction", "ImageClassification")
    ),
    "transformers.GenerationConfig.from_pretrained(name)",
    "transformers.pipeline('fill-mask', model=name)",
    "transformers.pipeline('ner', name)",
)


#: The network is refused, as nothing that catches exceptions would overlook.
NO_NETWORK = (
    "import os, socket, sys\n"
    "def refuse(*args, **kwargs): print('the network was asked', flush=True); os._exit(1)\n"
    "socket.getaddrinfo = socket.create_connection = refuse\n"
)


def online(*paths):
    """The environment of a process that believes that there is a network, with folders to import from."""
    found = {name: value for name, value in environment().items() if not name.startswith(("HF_HUB", "TRANSFORMERS"))}
    return found | {"PYTHONPATH": os.pathsep.join([*map(str, paths), found["PYTHONPATH"]])}


def test_installed_names_are_found(saved, monkeypatch):
    lang, folder, _ = saved
    monkeypatch.setattr("phonemic_bert.checkpoints.checkpoint_names", lambda: ["ours"])
    monkeypatch.setattr("phonemic_bert.checkpoints.checkpoint_path", lambda name: {"ours": folder}[name])
    assert transformers.AutoConfig.from_pretrained("ours").lang == lang
    assert transformers.AutoTokenizer.from_pretrained("ours").phonemic.lang == lang
    assert transformers.AutoModelForMaskedLM.from_pretrained("ours").config.lang == lang
    assert pipeline("fill-mask", model="ours", tokenizer="ours").model.config.lang == lang


#: Calls of transformers' function, which was imported before this project's package was.
CALLS = (
    "pipeline('fill-mask', model=NAME)",
    "pipeline('fill-mask', NAME)",
    "pipeline('fill-mask', model=NAME, tokenizer=NAME)",
    "pipeline(model=NAME, task='fill-mask', config=NAME)",
)
MISSPELT = ("phonemic-bert-tinny-vi", "phonemic_bert_tiny_vi", "bert-tiny-vi")


@pytest.mark.parametrize("saved", ["zh"], indirect=True)
def test_names_of_ours_reach_no_hub_and_the_function_that_was_imported_before_knows_them(saved, tmp_path):
    """In a process of its own, which believes that there is a network."""
    lang, folder, _ = saved
    text = TestFillMask.TEXT[lang]
    package = make_package(tmp_path / "package", phonemic_bert_tiny_vi=folder)
    code = (
        f"{NO_NETWORK}"
        "from transformers import pipeline\n"
        "from transformers.pipelines import pipeline as same\n"
        "import phonemic_bert, json, transformers\n"
        "NAME, shown = 'phonemic-bert-tiny-vi', []\n"
        f"for call in {CALLS}:\n"
        "    made = eval(call)\n"
        f"    names = [made.model.name_or_path, made.model.config.name_or_path, made.tokenizer.name_or_path]\n"
        f"    shown.append([names, [one['token_str'] for one in made({text!r})]])\n"
        f"for name in {MISSPELT}:\n"
        "    try: pipeline('fill-mask', model=name)\n"
        "    except phonemic_bert.CheckpointError as error: shown.append(str(error))\n"
        "name = 'phonemic-bert-there-is-none'\n"
        f"for asking in {ASKING}:\n"
        "    try: eval(asking)\n"
        "    except phonemic_bert.CheckpointError as error: shown.append(str(error))\n"
        "assert pipeline is same is transformers.pipeline is transformers.pipelines.pipeline\n"
        "print(json.dumps(shown))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, env=online(package), cwd=tmp_path
    )
    assert done.returncode == 0, done.stdout + done.stderr
    shown = json.loads(done.stdout.splitlines()[-1])
    wanted = [one["token_str"] for one in pipeline("fill-mask", model=folder)(text)]
    assert shown[: len(CALLS)] == [[["phonemic-bert-tiny-vi"] * 3, wanted]] * len(CALLS)
    misspelt, absent = shown[len(CALLS) : len(CALLS) + len(MISSPELT)], shown[len(CALLS) + len(MISSPELT) :]
    told = "'phonemic-bert-there-is-none' is neither a folder nor installed"
    assert [told in error for error in absent] == [True] * len(ASKING)
    for name, told in zip(MISSPELT, misspelt, strict=True):
        assert f"{name!r} is neither a folder nor installed (installed: " in told
        assert "did you mean 'phonemic-bert-tiny-vi'?" in told


class TestAFunctionThatIsReplaced:
    def module(self):
        made = types.ModuleType("made")
        exec("def call(a, b: int = 2, *, c=3):\n    'Adds.'\n    return a + b + c\n", vars(made))
        return made

    def double(self, function):
        return functools.wraps(function)(lambda *args, **kwargs: 2 * function(*args, **kwargs))

    def test_who_holds_it_calls_the_new_one(self):
        made = self.module()
        held, signature = made.call, inspect.signature(made.call)
        for _ in range(2):  # the second time nothing happens
            registration._replace(made, "call", self.double)
            assert held is made.call
            assert [held(1), held(1, 1), held(a=1, b=1, c=1)] == [12, 10, 6]
            assert inspect.signature(held) == signature
            assert (held.__name__, held.__doc__) == ("call", "Adds.")
        with pytest.raises(TypeError, match="missing 1 required positional argument: 'a'"):
            held()

    def test_one_with_a_closure_is_bound_anew(self):
        made = self.module()
        added = 1
        made.call = held = lambda a: a + added
        registration._replace(made, "call", self.double)
        assert (made.call(1), held(1)) == (4, 2)
        registration._replace(made, "no_such_function", self.double)
        assert not hasattr(made, "no_such_function")

    def test_transformers_tells_what_is_wrong_with_a_call(self):
        with pytest.raises(TypeError, match="multiple values for argument 'task'"):
            pipeline("ner", task="ner")
        with pytest.raises(RuntimeError, match="without either a task or a model"):
            pipeline()
        assert list(inspect.signature(pipeline).parameters)[:4] == ["task", "model", "config", "tokenizer"]


class TestTokenizersComeBack:
    def test_what_was_set_is_saved(self, tmp_path):
        made = PhonemicBertTokenizer(
            "zh", phrases={"朝阳": "zhao1 yang2"}, fallback="packed", model_max_length=77, padding_side="left"
        )
        made.save_pretrained(tmp_path)
        for again in (
            PhonemicBertTokenizer.from_pretrained(tmp_path),
            transformers.AutoTokenizer.from_pretrained(str(tmp_path)),
        ):
            assert type(again) is PhonemicBertTokenizer
            assert again.phonemic == made.phonemic
            assert (again.model_max_length, again.padding_side) == (77, "left")
            texts = ["朝阳银行", "COVID"]
            assert again(texts, padding=True)["input_ids"] == made(texts, padding=True)["input_ids"]
            again.save_pretrained(tmp_path / "again")
            for name in ("phonemic.json", "tokenizer_config.json"):
                assert (tmp_path / "again" / name).read_bytes() == (tmp_path / name).read_bytes()

    def test_nothing_is_said(self, saved, caplog, recwarn):
        transformers.logging.enable_propagation()
        try:
            with caplog.at_level("WARNING"):
                transformers.AutoTokenizer.from_pretrained(saved[1])("giếng 银行", return_tensors="pt")
                transformers.AutoModelForMaskedLM.from_pretrained(saved[1])
        finally:
            transformers.logging.disable_propagation()
        assert not [record for record in caplog.records if record.levelname in ("WARNING", "ERROR")]
        assert not [warning for warning in recwarn if "deprecat" not in str(warning.message).lower()]
