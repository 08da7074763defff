"""Encoders of every kind: loaded, held to their tokenizers, and put under heads."""

import json
import shutil

import pytest

torch = pytest.importorskip("torch", reason="needs the model extra")
transformers = pytest.importorskip("transformers", reason="needs the model extra")
pytest.importorskip("sentencepiece", reason="the baselines need sentencepiece")

from baseline_helpers import train_subchar, write_bert, write_phobert

from phonemic import baselines
from phonemic_bert import CheckpointError, PhonemicBertConfig, PhonemicBertForMaskedLM, PhonemicBertTokenizer
from phonemic_bert.finetuning.encoders import HEADS, load_encoder

SHAPE = {"num_hidden_layers": 2, "hidden_size": 24, "num_attention_heads": 3, "intermediate_size": 40}
TEXTS = ["今天天气很好", "今天"]


@pytest.fixture(scope="module")
def tokenizers(tmp_path_factory):
    return train_subchar(tmp_path_factory.mktemp("tokenizers"))


@pytest.fixture(scope="module")
def phonemic(tmp_path_factory):
    folder = tmp_path_factory.mktemp("phonemic") / "run-zh" / "final"
    PhonemicBertForMaskedLM(PhonemicBertConfig("zh", max_position_embeddings=40, **SHAPE)).save_pretrained(folder)
    PhonemicBertTokenizer("zh").save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def baseline(tmp_path_factory, tokenizers):
    """The files of ``phonemic-bert pretrain`` for a Character model, as far as they are read."""
    pytest.importorskip("pyarrow", reason="needs the corpus extra")
    from phonemic import Tokenizer
    from phonemic.corpus import Options

    folder = tmp_path_factory.mktemp("baseline") / "run-character" / "final"
    described = Options(Tokenizer("zh"), ("Character", str(tokenizers))).describe_tokenizer()
    config = transformers.BertConfig(vocab_size=described["id_count"] + 4, max_position_embeddings=40, **SHAPE)
    transformers.BertForMaskedLM(config).save_pretrained(folder)
    (folder / "pretraining.json").write_text(
        json.dumps({"settings": {}, "corpus": {"tokenizer": described}, "log": [], "versions": {}})
    )
    return folder


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    folder = tmp_path_factory.mktemp("plain") / "tiny-bert"
    folder.mkdir()
    write_bert(folder)
    size = len((folder / "vocab.txt").read_text("utf-8").splitlines())
    transformers.BertTokenizerFast(str(folder / "vocab.txt")).save_pretrained(folder)
    config = transformers.BertConfig(vocab_size=size, max_position_embeddings=40, **SHAPE)
    transformers.BertModel(config).save_pretrained(folder)
    return folder


@pytest.fixture(params=["phonemic", "baseline", "plain"])
def encoder(request, tokenizers):
    return load_encoder(request.getfixturevalue(request.param), tokenizers)


def copied(folder, to):
    return shutil.copytree(folder, to / "copy")


class TestLoading:
    def test_what_it_is(self, phonemic, baseline, plain, tokenizers):
        found = [load_encoder(folder, tokenizers) for folder in (phonemic, baseline, plain)]
        kinds = [(one.name, one.kind, one.lang, one.max_seq_length) for one in found]
        assert kinds == [
            ("run-zh", "phonemic", "zh", 40),
            ("run-character", "baseline", "zh", 40),
            ("tiny-bert", "transformers", None, 40),
        ]
        assert load_encoder(str(plain), name="BERT").name == "BERT"

    def test_the_tokenizer_has_what_fine_tuning_needs(self, encoder):
        long = "今天天气很好" * 20
        cut = encoder.tokenizer(long, truncation=True)
        assert len(cut["input_ids"]) == encoder.max_seq_length == 40
        rows = encoder.tokenizer(
            ["今天"],
            [long],
            truncation="only_second",
            stride=5,
            return_overflowing_tokens=True,
            return_offsets_mapping=True,
        )
        assert {len(row) <= 40 for row in rows["input_ids"]} == {True}
        assert rows.sequence_ids(0)[:4] == [None, 0, 0, None]
        assert rows["offset_mapping"][1][4] > (0, 0)
        padded = encoder.tokenizer.pad({"input_ids": [[1, 5, 2], [1, 2]]}, return_tensors="pt")
        assert padded["attention_mask"].tolist() == [[1, 1, 1], [1, 1, 0]]

    def test_long_rows_are_as_long_for_a_baseline(self, phonemic, baseline, tokenizers, tmp_path):
        """As pretraining on sequences of 1,024 positions leaves them; and once fine-tuned, where a limit is saved."""
        folders = [shutil.copytree(folder, tmp_path / folder.parent.name) for folder in (phonemic, baseline)]
        for folder in folders:
            config = json.loads((folder / "config.json").read_text("utf-8"))
            (folder / "config.json").write_text(json.dumps({**config, "max_position_embeddings": 1024}))
        PhonemicBertTokenizer("zh", model_max_length=1024).save_pretrained(folders[0])
        for limit in (1024, 600):
            encoders = [load_encoder(folder, tokenizers) for folder in folders]
            cut = [encoder.tokenizer("今天天气很好" * 200, truncation=True)["input_ids"] for encoder in encoders]
            assert [encoder.max_seq_length for encoder in encoders] == [len(ids) for ids in cut] == [limit, limit]
            for folder, encoder in zip(folders, encoders, strict=True):
                encoder.tokenizer.model_max_length = 600
                encoder.tokenizer.save_pretrained(folder)

    @pytest.mark.parametrize("file", ["baseline.json", "pretraining.json"])
    def test_no_file_names_a_program(self, baseline, tokenizers, tmp_path, file):
        """A name from a file is looked up among the registered ones, and nowhere else."""
        folder = copied(baseline, tmp_path)
        program = folder / "tok.py"
        program.write_text(f"open({str(tmp_path / 'ran')!r}, 'w')")
        for name in (str(program), "tok.py", ["Character"], None, {"a": 1}):
            described = {"name": name, "lang": "zh", "files": {}}
            (folder / "pretraining.json").unlink(missing_ok=True)
            (folder / file).write_text(
                json.dumps(described if file == "baseline.json" else {"corpus": {"tokenizer": described}})
            )
            with pytest.raises(CheckpointError, match=r"no tokenizer is named|its name is|not name its tokenizer"):
                load_encoder(folder, tokenizers)
        assert not (tmp_path / "ran").exists()

    def test_a_tokenizer_of_ones_own_is_registered_by_who_types_it(self, baseline, tokenizers, tmp_path):
        folder = copied(baseline, tmp_path)
        (tmp_path / "mine.py").write_text(
            "from phonemic import baselines\n@baselines.register\n"
            "class Mine(baselines.get('Character')):\n    name = 'Mine'\n"
        )
        described = json.loads((folder / "pretraining.json").read_text("utf-8"))
        described["corpus"]["tokenizer"]["name"] = "Mine"
        (folder / "pretraining.json").write_text(json.dumps(described))
        with pytest.raises(CheckpointError, match="must be registered first"):
            load_encoder(folder, tokenizers)
        try:
            baselines.get(str(tmp_path / "mine.py"))
            assert load_encoder(folder, tokenizers).tokenizer(TEXTS).data
        finally:
            baselines.base.REGISTRY.pop("Mine", None)

    def test_an_installed_name(self, monkeypatch, phonemic):
        monkeypatch.setattr("phonemic_bert.checkpoints.checkpoint_path", lambda name: phonemic)
        assert load_encoder("phonemic-bert-mini-zh").path == phonemic

    def test_a_model_fine_tuned_from_a_baseline(self, baseline, tokenizers, tmp_path):
        one = load_encoder(baseline, tokenizers)
        one.model("classification").save_pretrained(tmp_path)
        one.tokenizer.save_pretrained(tmp_path)
        again = load_encoder(tmp_path, tokenizers)
        assert again.kind == "baseline"
        assert again.tokenizer(TEXTS).data == one.tokenizer(TEXTS).data

    @pytest.mark.filterwarnings("ignore:.*pin_memory.*:UserWarning", "ignore:.*torch.*:FutureWarning")
    def test_what_pretraining_leaves(self, tmp_path, tokenizers, zh_lines):
        """A corpus of a baseline, a run over it, and its ``final``: input ids are the ones that the run learned from."""
        pytest.importorskip("pyarrow", reason="needs the corpus extra")
        pytest.importorskip("accelerate", reason="needs the model extra")
        from corpora import write_corpus
        from rich.console import Console

        from phonemic import Tokenizer
        from phonemic.corpus import Options
        from phonemic_bert.pretraining.run import pretrain
        from phonemic_bert.pretraining.settings import Settings

        described = Options(Tokenizer("zh"), ("SubChar-Pinyin", str(tokenizers))).describe_tokenizer()
        rows = baselines.load("SubChar-Pinyin", tokenizers).encode_batch(zh_lines * 4)
        corpus = write_corpus(tmp_path / "corpus", rows, [len(line) for line in zh_lines * 4], described)
        small = {"max_steps": 2, "batch_size": 4}
        values = [f"optimization.{name}={value}" for name, value in small.items()]
        values += [
            "sequences.max_seq_length=32",
            "machine.per_device_train_batch_size=4",
            "evaluation.held_out_documents=4",
        ]
        values += [
            "machine.device=cpu",
            "output.tensorboard=false",
            "model.hidden_size=24",
            "model.num_attention_heads=3",
        ]
        values = [value.replace("=cpu", '="cpu"') for value in values]
        pretrain(Settings.load("paper-tiny", values), corpus, tmp_path / "run", Console(quiet=True))

        encoder = load_encoder(tmp_path / "run/final", tokenizers)
        assert (encoder.name, encoder.kind, encoder.lang, encoder.max_seq_length) == ("run", "baseline", "zh", 32)
        ids = encoder.tokenizer(zh_lines[0], add_special_tokens=False)["input_ids"]
        origin = json.loads((tmp_path / "run/final/pretraining.json").read_text("utf-8"))
        assert ids == [number + origin["input_ids"]["shift"] for number in rows[0]]
        assert encoder.tokenizer.special_ids == origin["input_ids"]["special"]
        model = encoder.model("tokens", 3)
        trained = transformers.BertForMaskedLM.from_pretrained(tmp_path / "run/final")
        assert torch.equal(model.bert.embeddings.word_embeddings.weight, trained.bert.embeddings.word_embeddings.weight)

    def test_positions_behind_the_padding(self, plain, tmp_path):
        shape = {**SHAPE, "vocab_size": 120, "max_position_embeddings": 42, "pad_token_id": 1}
        transformers.RobertaModel(transformers.RobertaConfig(**shape)).save_pretrained(tmp_path)
        for file in plain.glob("*"):
            if "token" in file.name or file.name == "vocab.txt":
                shutil.copy(file, tmp_path)
        encoder = load_encoder(tmp_path)
        assert encoder.max_seq_length == 40
        model = encoder.model("classification").eval()
        model(**encoder.tokenizer("今天" * 60, truncation=True, return_tensors="pt"))


class TestErrors:
    def test_no_folder(self, tmp_path):
        with pytest.raises(CheckpointError, match=r"'.*none' is neither a folder nor installed"):
            load_encoder(tmp_path / "none")
        (tmp_path / "file").write_text("")
        with pytest.raises(CheckpointError, match=r"file: a checkpoint is a folder, not a file"):
            load_encoder(tmp_path / "file")

    def test_no_checkpoint(self, tmp_path, phonemic):
        with pytest.raises(CheckpointError, match=r"no config.json in it, so it holds no checkpoint$"):
            load_encoder(tmp_path)
        with pytest.raises(CheckpointError, match=r"no checkpoint; did you mean .*run-zh/final\?"):
            load_encoder(phonemic.parent)

    @pytest.mark.parametrize(("kind", "file"), [("phonemic", "phonemic.json"), ("plain", "tokenizer.json")])
    def test_tokenizer_missing(self, request, tmp_path, kind, file):
        folder = copied(request.getfixturevalue(kind), tmp_path)
        (folder / file).unlink()
        (folder / "vocab.txt").unlink(missing_ok=True)
        with pytest.raises(CheckpointError, match=r"so its tokenizer is missing|no tokenizer in it"):
            load_encoder(folder)

    def test_baseline_files_missing(self, baseline, tmp_path, monkeypatch):
        with pytest.raises(CheckpointError, match=r"its tokenizer cannot be loaded: Character: .* lacks bert_chinese"):
            load_encoder(baseline, tmp_path)
        monkeypatch.delenv("PHONEMIC_TOKENIZERS", raising=False)
        with pytest.raises(CheckpointError, match=r"name the folder of its files, or set PHONEMIC_TOKENIZERS"):
            load_encoder(baseline)

    def test_another_vocabulary(self, baseline, tmp_path):
        baselines.train("Character", ["今天天气"], tmp_path, 1_000)
        with pytest.raises(
            CheckpointError, match=r"pretrained with another bert_chinese_uncased_\d+.vocab of Character \(SHA-256 "
        ):
            load_encoder(baseline, tmp_path)

    def test_another_vocabulary_without_checksums(self, baseline, tmp_path):
        """A run that noted no checksums: the size still tells."""
        folder = copied(baseline, tmp_path)
        origin = json.loads((folder / "pretraining.json").read_text())
        del origin["corpus"]["tokenizer"]["files"]
        (folder / "pretraining.json").write_text(json.dumps(origin))
        baselines.train("Character", ["今天天气"], tmp_path, 1_000)
        with pytest.raises(
            CheckpointError, match=r"the model has \d+ symbols, but Character in .* has 12, the special"
        ):
            load_encoder(folder, tmp_path)

    def test_a_record_that_says_nothing(self, baseline, tmp_path):
        folder = copied(baseline, tmp_path)
        (folder / "pretraining.json").write_text("{}")
        with pytest.raises(CheckpointError, match=r"it does not name its tokenizer \(.*settings is missing"):
            load_encoder(folder)

    def test_a_tokenizer_without_offsets(self, tmp_path):
        """PhoBERT's is slow: enough to classify texts, not to align labels."""
        write_phobert(tmp_path)
        tokenizer = transformers.PhobertTokenizer(str(tmp_path / "vocab.txt"), str(tmp_path / "bpe.codes"))
        tokenizer.save_pretrained(tmp_path)
        shape = {**SHAPE, "vocab_size": len(tokenizer), "max_position_embeddings": 42, "pad_token_id": 1}
        transformers.RobertaModel(transformers.RobertaConfig(**shape)).save_pretrained(tmp_path)
        encoder = load_encoder(tmp_path)
        batch = encoder.tokenizer(["trời mưa to " * 30, "to"], truncation=True, padding=True, return_tensors="pt")
        assert batch["input_ids"].shape == (2, 40)
        assert encoder.model("classification", 3).eval()(**batch).logits.shape == (2, 3)
        for head in ("tokens", "question"):
            with pytest.raises(CheckpointError, match=r"PhobertTokenizer gives no offsets, which labels and answers"):
                encoder.model(head)

    def test_another_models_tokenizer(self, plain, tmp_path):
        folder = copied(plain, tmp_path)
        config = json.loads((folder / "config.json").read_text())
        (folder / "config.json").write_text(json.dumps({**config, "vocab_size": 9}))
        with pytest.raises(CheckpointError, match=r"the tokenizer has \d+ symbols, but the model 9"):
            load_encoder(folder)

    def test_heads(self, plain, tmp_path):
        with pytest.raises(CheckpointError, match=r"unknown head 'pooler': choose one of classification, tokens"):
            load_encoder(plain).model("pooler")
        folder = copied(plain, tmp_path)
        config = json.loads((folder / "config.json").read_text())
        # A model that transformers has no multiple-choice head for.
        (folder / "config.json").write_text(json.dumps({**config, "model_type": "bart", "architectures": None}))
        with pytest.raises(CheckpointError, match=r"transformers has no AutoModelForMultipleChoice of this model"):
            load_encoder(folder).model("choice")

    def test_weights_that_are_missing(self, plain, tmp_path):
        folder = copied(plain, tmp_path)
        config = json.loads((folder / "config.json").read_text())
        (folder / "config.json").write_text(json.dumps({**config, "num_hidden_layers": 3}))
        with pytest.raises(CheckpointError, match=r"no weights for bert.encoder.layer.2.* and 15 more of the encoder"):
            load_encoder(folder).model("classification")


class TestModels:
    @pytest.mark.parametrize("head", HEADS)
    def test_heads_run(self, encoder, head, caplog, capfd):
        logger = transformers.utils.logging.get_logger("transformers")
        logger.propagate = True
        try:
            model = encoder.model(head, 3).eval()
        finally:
            logger.propagate = False
        assert not caplog.records
        assert capfd.readouterr() == ("", "")
        batch = encoder.tokenizer(TEXTS, padding=True, return_tensors="pt")
        if head == "choice":
            batch = {name: value[None] for name, value in batch.items()}
        with torch.no_grad():
            output = model(**batch)
        if head == "question":
            assert output.start_logits.shape == batch["input_ids"].shape
        else:
            length = batch["input_ids"].shape[-1]
            assert output.logits.shape == {"classification": (2, 3), "tokens": (2, length, 3), "choice": (1, 2)}[head]

    def test_progress_and_warnings_are_as_before(self, plain):
        logging = transformers.utils.logging
        before = logging.get_verbosity(), logging.is_progress_bar_enabled()
        load_encoder(plain).model("tokens")
        assert (logging.get_verbosity(), logging.is_progress_bar_enabled()) == before

    def test_the_encoder_is_the_checkpoints_and_the_head_is_fresh(self, encoder, request):
        torch.manual_seed(0)
        one = encoder.model("classification")
        other = encoder.model("classification")
        for name, weight in one.bert.encoder.state_dict().items():
            assert torch.equal(weight, other.bert.encoder.state_dict()[name])
        assert not torch.equal(one.classifier.weight, other.classifier.weight)
        torch.manual_seed(0)
        assert torch.equal(one.classifier.weight, encoder.model("classification").classifier.weight)

    @pytest.mark.parametrize("head", HEADS)
    def test_phonemic_and_plain_bert_are_treated_alike(self, phonemic, baseline, tokenizers, head):
        """The same parts outside the embeddings, of the same shape, drawn from the same distribution."""
        torch.manual_seed(0)
        one, other = (load_encoder(folder, tokenizers).model(head, 3) for folder in (phonemic, baseline))
        shapes = [
            {name: tuple(weight.shape) for name, weight in model.state_dict().items() if "embeddings" not in name}
            for model in (one, other)
        ]
        assert shapes[0] == shapes[1]
        fresh = [name for name in shapes[0] if not name.startswith("bert.") or "pooler" in name]
        assert fresh
        for name in fresh:
            for model in (one, other):
                weight = model.state_dict()[name]
                if name.endswith("bias"):
                    assert not weight.any()
                elif weight.numel() > 500:
                    assert abs(float(weight.std()) - model.config.initializer_range) < 0.003
        kept = [one.config.hidden_dropout_prob, one.config.classifier_dropout]
        assert kept == [other.config.hidden_dropout_prob, other.config.classifier_dropout]

    def test_a_pooler_that_was_trained_is_kept(self, plain):
        source = transformers.BertModel.from_pretrained(plain)
        model = load_encoder(plain).model("classification")
        assert torch.equal(model.bert.pooler.dense.weight, source.pooler.dense.weight)

    def test_fields_win(self, encoder):
        model = encoder.model("classification", 2, hidden_dropout_prob=0.25)
        assert model.config.hidden_dropout_prob == model.dropout.p == 0.25

    def test_another_number_of_labels(self, plain, tmp_path):
        encoder = load_encoder(plain)
        encoder.model("tokens", 3).save_pretrained(tmp_path)
        encoder.tokenizer.save_pretrained(tmp_path)
        assert load_encoder(tmp_path).model("tokens", 5).classifier.out_features == 5
