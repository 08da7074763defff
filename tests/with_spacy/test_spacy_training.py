"""The page on training and the benchmark of it: their commands run."""

import doctest
import json
import re
import shlex
import unicodedata
from itertools import islice, product
from pathlib import Path

import forking
import pytest

spacy = pytest.importorskip("spacy", reason="needs the spacy extra")
pytest.importorskip("torch", reason="needs the model extra")
pytest.importorskip("transformers", reason="needs the model extra")
pytest.importorskip("click", reason="needs the model extra")

from click.testing import CliRunner  # noqa: E402
from spacy.tokens import Doc  # noqa: E402
from spacy.training import Example  # noqa: E402

from phonemic import Tokenizer  # noqa: E402
from spacy_phonemic.configs import config_text  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:spacy", "ignore::DeprecationWarning:weasel")

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "tutorials" / "spacy-ner.md").read_text("utf-8")
PLACES = ("Hà B-LOC\nNội I-LOC\n", "Huế B-LOC\n", "Cần B-LOC\nThơ I-LOC\n")
NAMES = "".join(f"Tôi O\nở O\n{place}. O\n\n{place}mưa O\n\n" for place in PLACES)
TREE = "1\tTôi\t_\tPRON\tP\t_\t2\tnsubj\t_\t_\n2\tyêu\t_\tVERB\tV\t_\t0\troot\t_\t_\n3\tHà Nội\t_\tPROPN\tNp\t_\t2\tobj\t_\t_\n\n"


@pytest.mark.skipif(not forking.AVAILABLE, reason="forks")
def test_commands_of_the_page(tmp_path):
    import obstacles  # POSIX only

    (tmp_path / "train.txt").write_text(NAMES, encoding="utf-8")
    (tmp_path / "dev.txt").write_text(NAMES, encoding="utf-8")
    (tmp_path / "mail.csv").write_text("body,class\nhọp lúc ba giờ,ham\nmua ngay,spam\n", encoding="utf-8")
    (tmp_path / "PhoNER_COVID19").mkdir()
    for part in ("train", "dev", "test"):
        file = tmp_path / "PhoNER_COVID19" / f"{part}_syllable.conll"
        file.write_text(NAMES.replace("LOC", "LOCATION"), encoding="utf-8")
    commands = [line for block in re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL) for line in block.splitlines()]
    commands = [shlex.split(command) for command in commands if not command.startswith("pip")]
    assert len(commands) == 9
    for program, *arguments in commands:
        option, module, *words = arguments
        assert (program, option) == ("python", "-m")
        done = forking.Process(obstacles.run_module, module, words, folder=tmp_path, parent=True).finished()
        if words[0] == "debug":
            assert "Summary" in done.stdout.decode()
            assert "Low number of examples to train" in done.stdout.decode()  # for which the status is 1
            continue
        assert done.returncode == 0, (done.stdout + done.stderr).decode()
    assert (tmp_path / "out" / "model-best" / "config.cfg").exists()


def test_python_of_the_page(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```pycon\n(.*?)```", PAGE, re.DOTALL)
    test = doctest.DocTestParser().get_doctest("\n".join(blocks), {}, "spacy-ner.md", "spacy-ner.md", 0)
    result = doctest.DocTestRunner().run(test)
    assert result.attempted > 15
    assert not result.failed


@pytest.mark.parametrize("encoder", [None, "hash", "bert", "both"])
@pytest.mark.parametrize("name", ["spacy-vi", "spacy-zh"])
def test_projects_are_whole(name, encoder, tmp_path):
    """Every step of a workflow exists, and every option that it passes to spacy train is in the config."""
    from thinc.api import Config
    from weasel.util.config import load_project_config

    from spacy_phonemic.__main__ import main

    overrides = {} if encoder is None else {"vars.encoder": encoder}
    project = load_project_config(ROOT / "examples" / name, interpolate=True, overrides=overrides)
    commands = {command["name"]: command for command in project["commands"]}
    assert {step for steps in project["workflows"].values() for step in steps} == set(commands)
    made = {output for command in commands.values() for output in command.get("outputs", [])}
    given = {asset["dest"] for asset in project["assets"]}
    assert {dep for command in commands.values() for dep in command["deps"]} <= made | given
    for name_of_command, command in commands.items():
        if name_of_command.startswith("train-"):
            prepare, training = (shlex.split(line) for line in command["script"])
            assert prepare[:3] == ["python", "-m", "spacy_phonemic"]
            made_at = prepare.index("--output") + 1
            assert prepare[made_at] == training[4]
            prepare[made_at] = str(tmp_path / "made.cfg")  # the same file for several commands, as in the project
            assert main(prepare[3:]) == 0
            text = (tmp_path / "made.cfg").read_text("utf-8")
            assert text == config_text(prepare[4], name[-2:], encoder or "hash")
            config = Config().from_str(text, interpolate=False)
            for option in re.findall(r"--((?:\w+\.)+\w+)", " ".join(training)):
                section = config
                for part in option.split("."):
                    section = section[part]


def _without_errors(section):
    """The section without the errors that one baseline has in its corpus."""
    train = section.get("train")
    return {**section, "train": {**train, "augmenter": None}} if isinstance(train, dict) else section


@pytest.mark.benchmarks
class TestBenchmark:
    def load(self):
        from benchmarks import spacy_training

        return spacy_training

    def test_speed_is_measured_in_turns(self, tmp_path):
        from benchmarks import spacy_speed

        (folder := tmp_path / "vi" / "ud_vtb").mkdir(parents=True)
        for part in ("train", "dev", "test"):
            (folder / f"vi_vtb-ud-{part}.conllu").write_text(TREE * 8, encoding="utf-8")
        output = tmp_path / "speed.json"
        bert = "PhonemicBERT from a checkpoint"
        models = ["HashEmbedCNN", bert, f"{bert} in float32"]
        options = [
            str(tmp_path),
            "--tasks",
            "vtb",
            "--models",
            ",".join(models),
            "--turns",
            "3",
            "--output",
            str(output),
        ]
        for lang in ("vi", "zh"):
            options += [f"--checkpoint-{lang}", str(ROOT / "model" / "checkpoints" / f"phonemic-bert-mini-{lang}")]
        done = CliRunner().invoke(spacy_speed.main, options, catch_exceptions=False)
        assert done.output.splitlines()[-1].startswith("| vtb | ")
        found = json.loads(output.read_text("utf-8"))["vtb"]
        assert found["models"] == models
        assert len(found["turns"]) == 3
        assert all(len(turn) == 3 and min(turn) > 0 for turn in found["turns"])

    def test_runs_small_and_goes_on(self, tmp_path):
        benchmark = self.load()
        for part in ("train", "dev", "test"):
            folder = tmp_path / "vi" / "ud_vtb"
            folder.mkdir(parents=True, exist_ok=True)
            (folder / f"vi_vtb-ud-{part}.conllu").write_text(TREE * 8, encoding="utf-8")
        output = tmp_path / "results.json"
        options = [
            str(tmp_path),
            "--output",
            str(output),
            "--tasks",
            "vtb",
            "--steps",
            "2",
            "--preset",
            "paper-tiny",
        ]
        once, again = (*options, "--seeds", "1"), (*options, "--seeds", "2", "--models", "HashEmbedCNN")
        first, more = (CliRunner().invoke(benchmark.main, given, catch_exceptions=False) for given in (once, again))
        assert (first.exit_code, more.exit_code) == (0, 0)
        runs = json.loads(output.read_text("utf-8"))["runs"]
        assert [(run["model"], run["seed"]) for run in runs] == [
            *((model, 0) for model in benchmark.MODELS if "checkpoint" not in model),
            ("HashEmbedCNN", 1),
        ]
        assert all(0 <= score <= 1 for run in runs for score in (run["score"], *run["noisy"]))
        assert all(len(run["noisy"]) == 2 and run["words_per_second"] > 0 for run in runs)
        for run in runs:
            seconds, scores = zip(*run["curve"], strict=True)
            assert seconds[0] > 0
            assert list(seconds) == sorted(seconds)
            assert seconds[-1] <= run["train_seconds"]
            assert all(0 <= score <= 1 for score in scores)
        assert "| vtb | HashEmbedCNN | 1 |" in first.output.split("CPU s")[1]
        assert "| vtb | HashEmbedCNN | 2 |" in more.output.split("CPU s")[1]
        assert all(run["words"] > 0 and (run["steps"] == 2 or run["model"] == "spacy init config") for run in runs)
        CliRunner().invoke(benchmark.main, once, catch_exceptions=False)
        assert json.loads(output.read_text("utf-8"))["runs"] == runs
        other = CliRunner().invoke(benchmark.main, [*once, "--limit", "3"])
        assert "another setting" in other.output

    def test_until_the_development_score_rises_no_more_each_config_keeps_its_own_patience(self, tmp_path):
        benchmark = self.load()
        setting = benchmark.Setting(5000, "paper-tiny", 1.0, 0.3, 0, -1, spacy.__version__, batch=300, until_dev=True)
        for model in ("spacy init config", "PhonemicHashEmbed"):
            config = benchmark.config_of(benchmark.TASKS["gsd"], model, 1, setting, None, tmp_path)
            training = config["training"]
            assert (training["patience"], training["eval_frequency"], training["max_steps"]) == (1600, 200, 5000)
            assert (training["batcher"]["size"] == 300) == (model == "PhonemicHashEmbed")

    def test_batches_of_the_configs_own(self, tmp_path):
        benchmark = self.load()
        setting = benchmark.Setting(5000, "paper-tiny", 1.0, 0.3, 0, -1, spacy.__version__, batch=0, until_dev=True)
        sizes = {}
        for task, model in product(("gsd", "weibo"), ("HashEmbedCNN", "PhonemicBERT from scratch")):
            config = benchmark.config_of(benchmark.TASKS[task], model, 1, setting, None, tmp_path)
            sizes[task, benchmark.MODELS[model]] = config["training"]["batcher"]["size"]
        made = {
            (task, encoder): spacy.util.load_config_from_str(config_text(benchmark.TASKS[task].config, "zh", encoder))
            for task, encoder in sizes
        }
        assert sizes == {key: config["training"]["batcher"]["size"] for key, config in made.items()}
        assert sizes["weibo", "hash"] == sizes["weibo", "bert"] == sizes["gsd", "bert"] < sizes["gsd", "hash"]

    def test_a_bound_of_tokens_is_of_as_many_for_all(self, tmp_path):
        benchmark = self.load()
        setting = benchmark.Setting(
            *(7, "paper-tiny", 1.0, 0.0, 0, -1, spacy.__version__, 0, True), tokens=2_000_000, patience=500_000
        )
        for lang in ("vi", "zh"):
            (tmp_path / lang).mkdir()
            (tmp_path / lang / "config.json").write_text(json.dumps({"lang": lang}), "utf-8")
        factors = {}
        for name, model in product(
            benchmark.TASKS, ("HashEmbedCNN", "PhonemicBERT from scratch", "both from a checkpoint")
        ):
            task = benchmark.TASKS[name]
            checkpoint = str(tmp_path / task.lang) if "checkpoint" in model else None
            config = benchmark.config_of(task, model, 1, setting, checkpoint, tmp_path)
            training, schedule = config["training"], config["training"]["optimizer"]["learn_rate"]
            size = training["batcher"]["size"]
            assert training["max_steps"] * size == schedule["total_steps"] * size == 2_000_000
            assert training["patience"] * size == 500_000
            assert training["max_steps"] // training["eval_frequency"] == benchmark.EVALUATIONS
            encoder = config["components"].get("phonemic_transformer", {}).get("model", {})
            factors[model] = encoder.get("encoder", encoder).get("learn_rate_factor")
        ready = spacy.util.load_config_from_str(config_text("ner", "vi", "both", "folder"))
        own = ready["components"]["phonemic_transformer"]["model"]["encoder"]["learn_rate_factor"]
        assert factors["both from a checkpoint"] == own
        refused = CliRunner().invoke(benchmark.main, [str(tmp_path), "--tokens", "1000"])
        assert "--until-dev" in refused.output

    def test_times_are_of_the_cpu(self):
        benchmark = self.load()
        runs = [
            benchmark.Run("weibo", "HashEmbedCNN", 0, 9, 0.5, 1000.0, 30.0, (0.4, 0.3), curve=((5.0, 0.2),)),
            benchmark.Run(
                "weibo", "HashEmbedCNN", 1, 9, 0.7, 9000.0, 3.0, (0.4, 0.3), curve=((1.0, 0.6),), device="GPU"
            ),
        ]
        assert benchmark.table(runs).splitlines()[-1].startswith("| weibo | ents_f | HashEmbedCNN | 2 | 60.00 |")
        assert "| 1,000 | 30 |" in benchmark.table(runs)
        assert benchmark.table(runs[1:]).endswith("| 30.00 |  |  |")
        assert benchmark.equal_time(runs).splitlines()[-1] == "| weibo | HashEmbedCNN | 1 | 5 | 20.0 |"

    def test_table(self):
        benchmark = self.load()
        runs = [
            benchmark.Run("weibo", "HashEmbedCNN", seed, 9, score, 1000.0, 1.0, (score / 2, score / 4))
            for seed, score in enumerate((0.5, 0.6, 0.7))
        ]
        assert "| weibo | ents_f | HashEmbedCNN | 3 | 60.00 | 10.00 | 30.00 | 15.00 | 1,000 | 1 |" in benchmark.table(
            runs
        )

    def test_equal_time_ends_with_the_shortest_run(self):
        benchmark = self.load()
        runs = [
            benchmark.Run("weibo", "HashEmbedCNN", 0, 9, 0.5, 1.0, 1.0, curve=((5.0, 0.2), (10.0, 0.4), (20.0, 0.3))),
            benchmark.Run(
                "weibo", "PhonemicHashEmbed", 0, 9, 0.5, 1.0, 1.0, curve=((9.0, 0.3), (19.0, 0.35), (40.0, 0.6))
            ),
            benchmark.Run("weibo", "spacy init config", 0, 9, 0.5, 1.0, 1.0),
        ]
        assert benchmark.equal_time(runs).splitlines()[2:] == [
            "| weibo | HashEmbedCNN | 1 | 5 | 20.0 |",
            "| weibo | PhonemicHashEmbed | 1 | 5 | nan |",
            "| weibo | HashEmbedCNN | 1 | 10 | 40.0 |",
            "| weibo | PhonemicHashEmbed | 1 | 10 | 30.0 |",
            "| weibo | HashEmbedCNN | 1 | 20 | 40.0 |",
            "| weibo | PhonemicHashEmbed | 1 | 20 | 35.0 |",
        ]

    def test_the_models_differ_in_the_encoder_only(self, tmp_path):
        benchmark = self.load()
        for task in benchmark.TASKS.values():
            ours = [model for model in benchmark.MODELS if model != "spacy init config"]
            setting = benchmark.Setting(100, "paper-tiny", 0.3, 0.3, 0, -1, spacy.__version__)
            made = [benchmark.config_of(task, model, 1, setting, None, tmp_path) for model in ours]
            for config in made:
                nlp = spacy.util.load_model_from_config(config.copy(), auto_fill=True)
                assert len(nlp.pipe_names) == len(made[0]["nlp"]["pipeline"])
                for section in ("corpora", "training", "system", "paths"):
                    assert _without_errors(config[section]) == made[0][section]

    @pytest.mark.parametrize(("task", "share"), [("gsd", 0.25), ("vtb", 0.3), ("vietbioner", 0.5)])
    def test_a_baseline_learns_from_text_with_errors(self, tmp_path, task, share):
        """As many as PhonemicHashEmbed, in the corpus, so that the encoder is spaCy's."""
        benchmark = self.load()
        setting = benchmark.Setting(100, "paper-tiny", 0.3, 0.3, 0, -1, spacy.__version__)
        name = "HashEmbedCNN trained with errors"
        config = benchmark.config_of(benchmark.TASKS[task], name, 1, setting, None, tmp_path)
        augmenter = config["corpora"]["train"]["augmenter"]
        assert augmenter == {"@augmenters": "benchmarks.Errors.v1", "lang": benchmark.TASKS[task].lang, "share": share}
        embed = config["components"]["tok2vec"]["model"]["embed"]
        assert embed["@architectures"] == "spacy.MultiHashEmbed.v2"
        assert not {"homophone_noise", "diacritic_noise", "components"} & set(embed)

    def test_every_second_example_has_errors_of_its_own(self):
        from benchmarks.spacy_noise import augmenter

        nlp = spacy.blank("zh")
        words, tags = ["银行", "行长", "说", "很", "好"], ["N", "N", "V", "D", "A"]
        doc = Doc(nlp.vocab, words=words, spaces=[False] * 5, tags=tags, ents=["B-ORG", "I-ORG", "O", "O", "O"])
        spacy.util.fix_random_seed(0)
        augment = augmenter("zh", 0.5)
        made = [example for _ in range(200) for example in augment(nlp, Example(doc.copy(), doc))]
        texts = [[token.text for token in example.predicted] for example in made]
        assert len(made) == 200
        assert 70 < sum(text == words for text in texts) < 130
        assert len({tuple(text) for text in texts}) > 20
        for example, text in zip(made, texts, strict=True):
            assert [*map(len, text)] == [*map(len, words)]
            assert example.get_aligned("TAG", as_string=True) == tags
            assert example.get_aligned_ner() == ["B-ORG", "L-ORG", "O", "O", "O"]

    @pytest.mark.parametrize("steps", [40, 400])
    def test_the_config_that_spacy_makes_sees_as_many_words(self, tmp_path, steps):
        """The sizes of its batches, from spaCy's own schedule, add up to what the ready configs see at most."""
        benchmark = self.load()
        setting = benchmark.Setting(steps, "paper-tiny", 1.0, 0.3, 0, -1, spacy.__version__)
        config = benchmark.config_of(benchmark.TASKS["gsd"], "spacy init config", 1, setting, None, tmp_path)
        nlp = spacy.util.load_model_from_config(config.copy(), auto_fill=True)
        assert nlp.pipe_names == ["tok2vec", "tagger", "morphologizer"]
        sizes = spacy.util.registry.resolve({"size": config["training"]["batcher"]["size"]})["size"]
        words = sum(islice(sizes, config["training"]["max_steps"]))
        assert words == pytest.approx(steps * benchmark.BATCH, rel=0.01)
        tokens = steps * benchmark.BATCH
        until = benchmark.Setting(9, "paper-tiny", 1.0, 0.3, 0, -1, spacy.__version__, until_dev=True, tokens=tokens)
        bound = benchmark.config_of(benchmark.TASKS["gsd"], "spacy init config", 1, until, None, tmp_path)["training"]
        assert bound["max_steps"] == config["training"]["max_steps"]
        assert bound["patience"] > 0

    def test_noise_keeps_tokens_apart(self):
        from benchmarks.spacy_noise import noisy

        words = ["银行", "GDP", "行长", "。"]
        doc = Doc(spacy.blank("zh").vocab, words=words, spaces=[False] * 4)
        made = noisy("zh", 1.0)(doc)
        assert [*map(len, made)] == [*map(len, words)]
        assert made[0] != words[0]
        assert made[1::2] == words[1::2]
        ids = Tokenizer("zh").encode("银").ids.tolist()
        assert Tokenizer("zh").encode(made[0][0]).ids.tolist() == ids
        assert noisy("zh", 0.0)(doc) == words
        words = ["Hà Nội", "đường", "."]
        made = noisy("vi", 1.0)(Doc(spacy.blank("vi").vocab, words=words))
        assert unicodedata.normalize("NFD", made[0].replace("đ", "d"))[:2] == "Ha"
        assert (made[1], made[2]) in (("đương", "."), ("duong", "."))

    def test_what_is_heard(self):
        from benchmarks.spacy_heard import hearing

        words = ["她", "银行", "行走", "GDP", "他"]
        she, bank, walk, letters, he = hearing("zh")(Doc(spacy.blank("zh").vocab, words=words, spaces=[False] * 5))
        assert she == he
        assert bank[1] != walk[0]
        assert (len(bank), letters) == (2, "gdp")
        words = ["Hà Nội", "ĐẸP", "İ"]
        assert hearing("vi")(Doc(spacy.blank("vi").vocab, words=words)) == ["hà nội", "đẹp", "İ"]
