"""Write the generated parts of the reference: ``python docs/generate.py [--check]``.

The options of all commands, from click and argparse; of all that spaCy finds by a name, from signatures and docstrings;
the fields of TOML files, from the comments of the presets; the presets; the datasets. (The dialect rules are written by
tests/dialect_tables.py.) Each part is between ``<!-- generated: NAME -->`` and ``<!-- end of NAME -->``. The tour is a
page of its own, which shows the cells of the notebook with the outputs that they have there.
"""

from __future__ import annotations

import argparse
import inspect
import json
import re
import sys
import tomllib
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
REFERENCE = ROOT / "docs" / "reference"
NOTEBOOK = ROOT / "examples" / "tour.ipynb"
TOUR = ROOT / "docs" / "tutorials" / "tour.md"
PRESETS = ROOT / "model" / "phonemic_bert" / "pretraining" / "presets"
GRIDS = ROOT / "model" / "phonemic_bert" / "finetuning" / "grids"
FIELD = re.compile(r"^(\w+) = (\S.*?)\s+# (.*)$")


def table(heads: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Return a Markdown table; pipes and angle brackets in cells are escaped."""
    heads = list(heads)
    body = ([cell.replace("|", "\\|").replace("<", "&lt;") for cell in row] for row in rows)
    lines = [heads, ["---"] * len(heads), *body]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def commands(group: Any, name: str) -> str:
    """Return the usage, help and options of each command of a click group."""
    import click

    parts = []
    for command_name in group.list_commands(None):
        command = group.get_command(None, command_name)
        context = click.Context(command, info_name=f"{name} {command_name}")
        usage = " ".join([f"{name} {command_name}", *command.collect_usage_pieces(context)])
        summary = re.sub(r"\s+", " ", (command.help or "").partition("\n\n")[0].strip())
        rows = list(_options(command, context))
        parts += [f"### {name} {command_name}", summary, f"```text\n{usage}\n```"]
        parts += [table(("option", "default", "effect"), rows)] if rows else []
    return "\n\n".join(parts)


def _options(command: Any, context: Any) -> Iterator[tuple[str, str, str]]:
    import click

    for option in command.params:
        if not isinstance(option, click.Option) or option.hidden or option.name == "help":
            continue
        names = ", ".join(f"`{written}`" for written in (*option.opts, *option.secondary_opts))
        if isinstance(option.type, click.Choice):
            names += " " + ", ".join(f"`{choice}`" for choice in option.type.choices)
        elif not option.is_flag and not option.count:
            names += f" {option.make_metavar(context)}"
        told = option.get_help_extra(context) if hasattr(option, "get_help_extra") else {}
        shown = "required" if option.required else str(told.get("default", ""))
        text, _, default = re.sub(r"\s+", " ", option.help or "").partition("[default: ")
        yield names, shown or default.removesuffix("]").strip(), text.strip()


def spacy_commands() -> str:
    """Return the options of ``python -m spacy_phonemic``."""
    from spacy_phonemic.__main__ import parser

    [commands] = [action for action in parser()._actions if isinstance(action, argparse._SubParsersAction)]
    parts = []
    for name, command in commands.choices.items():
        [summary] = [choice.help or "" for choice in commands._choices_actions if choice.dest == name]
        rows = [
            (_written(action), "" if action.default in (None, False) else str(action.default), action.help or "")
            for action in command._actions
            if action.dest != "help"
        ]
        parts += [f"### python -m spacy_phonemic {name}", summary, table(("option", "default", "effect"), rows)]
    return "\n\n".join(parts)


def _written(action: argparse.Action) -> str:
    names = ", ".join(f"`{name}`" for name in action.option_strings) or action.dest.upper()
    return f"{names} {', '.join(f'`{choice}`' for choice in action.choices)}" if action.choices else names


def spacy_options() -> dict[str, Callable[[], str]]:
    """Return what makes the table of options of each factory, architecture and tokenizer that spaCy finds by a name."""
    points = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["entry-points"]
    registered = {**points["spacy_factories"], **points["spacy_architectures"], **points["spacy_tokenizers"]}
    return {f"options of {name}": partial(_options_of, name, *where.split(":")) for name, where in registered.items()}


def _options_of(name: str, module: str, attribute: str) -> str:
    from spacy.language import Language

    from phonemic.options import option_metadata, option_names

    function = getattr(import_module(module), attribute)
    made = vars(import_module(module)).get(function.__annotations__["return"])
    meanings = {name: option_metadata(name)["help"] for name in option_names()}
    meanings |= {**_arguments(made), **_arguments(function)}
    if Language.has_factory(name):
        defaults = dict(Language.get_factory_meta(name).default_config)
    else:
        defaults = {each.name: each.default for each in inspect.signature(function).parameters.values()}
    shown = {
        option: "required" if default is inspect.Parameter.empty else f"`{json.dumps(default)}`"
        for option, default in defaults.items()
    }
    return table(
        ("option", "default", "meaning"), ((f"`{option}`", shown[option], meanings[option]) for option in shown)
    )


def _arguments(value: object) -> dict[str, str]:
    """Return the descriptions of the arguments in a docstring, in Markdown and in the words of a config."""
    section = re.search(r"^Arguments:\n(.*?)(?=^\S|\Z)", inspect.getdoc(value) or "", re.DOTALL | re.MULTILINE)
    found = re.findall(r"^    (\w+): (.*(?:\n {5,}.*)*)", section[1], re.MULTILINE) if section else []
    return {name: _markdown(text) for name, text in found}


def _markdown(text: str) -> str:
    text = re.sub(r":\w+:`~?([\w.]+)`", r"``\1``", re.sub(r"\s+", " ", text))
    text = re.sub(r"\bNone\b", "null", text.replace("``", "`"))
    return f"{text[0].upper()}{text[1:]}"


def fields(file: Path, title: str) -> str:
    """Return the fields of a TOML file by section, with its comments."""
    parts: list[str] = []
    rows: list[tuple[str, str, str]] = []
    for line in [*file.read_text("utf-8").splitlines(), "[end]"]:
        if line.startswith("["):
            if rows:
                parts.append(table(("field", f"in `{file.stem}`", "meaning"), rows))
                rows = []
            section = line.partition("]")[0][1:]
            if section == "end" or section.startswith("tasks."):
                break
            note = line.partition("# ")[2]
            parts += [f"### {title}: `[{section}]`", *([f"{note[0].upper()}{note[1:]}."] if note else [])]
        elif found := FIELD.match(line):
            rows.append((f"`{found[1]}`", f"`{found[2]}`", found[3]))
    return "\n\n".join(parts)


def presets() -> str:
    """Return the presets with the sizes of their models."""
    from phonemic_bert import PhonemicBertConfig
    from phonemic_bert.parameters import count_parameters, totals
    from phonemic_bert.pretraining.settings import PRESETS as NAMES
    from phonemic_bert.pretraining.settings import Settings
    from phonemic_bert.shapes import CHOICES, NUMBERS

    rows = []
    for name in NAMES:
        settings = Settings.load(name)
        model, optimization = settings.model, settings.optimization
        shape = {"num_hidden_layers": model.num_hidden_layers, "hidden_size": model.hidden_size}
        shape |= {"num_attention_heads": model.num_attention_heads, "intermediate_size": model.intermediate_size}
        shape |= {field: getattr(model, field) for field in (*CHOICES, *NUMBERS)}
        shape["max_position_embeddings"] = settings.sequences.max_seq_length
        langs = ("vi", "zh") if model.lang == "any" else (model.lang,)
        counts = [totals(count_parameters(PhonemicBertConfig(lang, **shape))) for lang in langs]
        sizes = [f"{count['encoder with heads (for pretraining)'] / 1e6:.1f}M" for count in counts]
        rows.append((
            f"`{name}`", f"{model.num_hidden_layers} x {model.hidden_size}", ", ".join(dict.fromkeys(sizes)),
            f"{optimization.batch_size} x {settings.sequences.max_seq_length}", f"{optimization.max_steps:,}",
            f"{optimization.learning_rate:.0e}".replace("e-0", "e-"),
        ))  # fmt: skip
    heads = ("preset", "layers x width", "parameters", "sequences x positions per step", "steps", "learning rate")
    return table(heads, rows)


def generated() -> dict[str, Callable[[], str]]:
    """Return what makes each part."""
    from phonemic import tasks
    from phonemic.cli import cli
    from phonemic.tasks import listing
    from phonemic_bert.cli import cli as bert

    beyond = tasks.beyond()
    return {
        "the paper's datasets": listing.overview,
        "files of the paper's datasets": listing.files,
        "other datasets": lambda: listing.overview(beyond),
        "files of other datasets": lambda: listing.files(beyond),
        "commands of phonemic": lambda: commands(cli, "phonemic"),
        "commands of phonemic-bert": lambda: commands(bert, "phonemic-bert"),
        "commands of spacy_phonemic": spacy_commands,
        **spacy_options(),
        "presets": presets,
        "fields of pretraining": lambda: fields(PRESETS / "mini-sound.toml", "Pretraining"),
        "fields of fine-tuning": lambda: fields(GRIDS / "base.toml", "Fine-tuning"),
    }


def tour() -> str:
    """Return the page of the notebook."""
    cells = json.loads(NOTEBOOK.read_text("utf-8"))["cells"]
    first, *others = [part for cell in cells for part in _cell(cell)]
    note = f"This page is the notebook `examples/{NOTEBOOK.name}`, whose cells are shown with their outputs."
    return "\n\n".join([first, note, *others]) + "\n"


def _cell(cell: dict[str, Any]) -> Iterator[str]:
    source = "".join(cell["source"])
    if cell["cell_type"] == "markdown":
        yield source.replace("](../docs/", "](../")
        return
    yield f"```python\n{source}\n```"
    for output in cell["outputs"]:
        data = output.get("data", {"text/plain": output.get("text")})
        html = data.get("text/html")
        yield "".join(html) if html else f"```text\n{''.join(data['text/plain']).rstrip()}\n```"


def filled(text: str, made: dict[str, Callable[[], str]]) -> str:
    """Return a page with its generated parts made anew."""
    for name, make in made.items():
        begin, end = f"<!-- generated: {name} -->", f"<!-- end of {name} -->"
        if begin in text:
            head, _, rest = text.partition(begin)
            text = f"{head}{begin}\n\n{make()}\n\n{end}{rest.partition(end)[2]}"
    return text


def main() -> None:
    """Write or check the pages."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; fail where a page differs")
    check = parser.parse_args().check
    made, differing = generated(), []
    for page in [TOUR, *sorted(REFERENCE.glob("*.md"))]:
        text = page.read_text("utf-8") if page.exists() else ""
        if (new := tour() if page == TOUR else filled(text, made)) != text:
            differing.append(page.name)
            if not check:
                page.write_text(new, "utf-8")
    sys.stdout.write("".join(f"{name}\n" for name in differing))
    if check and differing:
        raise SystemExit("differ from the code: run python docs/generate.py")


if __name__ == "__main__":
    main()
