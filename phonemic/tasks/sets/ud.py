"""Universal Dependencies: the universal part of speech of each word. Beyond the paper's sets."""

from __future__ import annotations

from functools import partial

from phonemic.tasks.conllu import UPOS, parse
from phonemic.tasks.dataset import Dataset, layout


def _treebank(name: str, title: str, lang: str, file: str, repository: str) -> Dataset:
    return Dataset(
        name=f"ud-{name}-pos",
        title=title,
        lang=lang,
        kind="sequence-labelling",
        metric="macro-f1",
        labels={"label": UPOS},
        layouts=(layout(f"{file}-ud-{{}}.conllu"),),
        folders=(f"{lang}/ud_{name}", f"ud_{name}", repository),
        home=f"https://github.com/UniversalDependencies/{repository}",
        licence="CC BY-SA 4.0",
        parse=partial(parse, spaced=lang != "zh"),
    )


VTB = _treebank("vtb", "UD VTB POS", "vi", "vi_vtb", "UD_Vietnamese-VTB")
GSD = _treebank("gsd", "UD GSD POS", "zh", "zh_gsd", "UD_Chinese-GSD")
GSDSIMP = _treebank("gsdsimp", "UD GSDSimp POS", "zh", "zh_gsdsimp", "UD_Chinese-GSDSimp")
