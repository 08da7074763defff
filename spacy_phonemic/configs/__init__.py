"""Ready training configs of spaCy: one file a task, for both languages."""

from __future__ import annotations

import json
from pathlib import Path

from phonemic.inventory import LANGUAGES

#: The tasks there is a config for.
TASKS = ("ner", "pos", "ner_pos")


def config_text(task: str, lang: str = "vi") -> str:
    """A training config, complete, as text.

    Arguments:
        task: ``"ner"``, ``"pos"`` or ``"ner_pos"``.
        lang: ``"vi"`` or ``"zh"``.

    Raises:
        ValueError: there is no config for that.
    """
    if task not in TASKS:
        raise ValueError(f"there is no config {task!r}: choose one of {', '.join(TASKS)}")
    if lang not in LANGUAGES:
        raise ValueError(f"unknown language {lang!r}: choose one of {', '.join(map(repr, LANGUAGES))}")
    from spacy.util import get_lang_class

    text = (Path(__file__).parent / f"{task}.cfg").read_text(encoding="utf-8")
    # What the language's own tokenizer is initialized with: spaCy asks for it even where another tokenizer is used.
    settings = get_lang_class(lang).Defaults.config.get("initialize", {}).get("tokenizer", {})
    lines = "".join(f"{name} = {json.dumps(value)}\n" for name, value in settings.items())
    return text.replace('lang = "vi"\n', f'lang = "{lang}"\n').replace(
        "[initialize.tokenizer]\n", f"[initialize.tokenizer]\n{lines}"
    )
