"""Module paths of earlier versions: importing one gives the module that took its place, the same object.

Pickles and scripts name modules, so a path that was documented once goes on working. Paths that are packages now
(``phonemic.noise``, ``phonemic_bert.tokenization``, ``phonemic_bert.modeling``) need no row: their ``__init__`` has the
names that the module had.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType

#: Old path -> new path. A row is for a module that users imported; none is for the modules below a package.
MOVED = {
    "phonemic.cli_common": "phonemic.cli.common",
    "phonemic.cli_stats": "phonemic.cli.stats",
    "phonemic.entries": "phonemic.lexicon.entries",
    "phonemic.homophones": "phonemic.noise.homophones",
    "phonemic.intrinsic.tables": "phonemic.intrinsic.tabulation",
    "phonemic.misspellings": "phonemic.noise.misspellings",
    "phonemic.phrases": "phonemic.lexicon.phrases",
    "phonemic.respelling": "phonemic.noise.respelling",
    "phonemic.tables": "phonemic.lexicon.tables",
    "phonemic.tasks.own": "phonemic.tasks.custom",
    "phonemic.tasks.reading": "phonemic.tasks.records",
    "phonemic.userphrases": "phonemic.lexicon.user_phrases",
    "phonemic_bert.baseline_tokenization": "phonemic_bert.tokenization.baselines",
    "phonemic_bert.composition": "phonemic_bert.modeling.composition",
    "phonemic_bert.corpus": "phonemic.corpus",
    "phonemic_bert.finetuning.tables": "phonemic_bert.finetuning.tabulation",
    "phonemic_bert.heads": "phonemic_bert.modeling.heads",
    "phonemic_bert.modern": "phonemic_bert.modeling.modern",
    "phonemic_bert.plain": "phonemic_bert.modeling.plain",
    "phonemic_bert.positions": "phonemic_bert.tokenization.positions",
    "phonemic_bert.prepare": "phonemic.cli.prepare",
    "phonemic_bert.rows": "phonemic_bert.tokenization.rows",
    "phonemic_bert.tokenization_base": "phonemic_bert.tokenization.base",
    "phonemic_bert.truncation": "phonemic_bert.tokenization.truncation",
}


class MovedFinder:
    """Finds and loads the modules of :data:`MOVED` where no other finder does."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The loader of a moved module; None for all others."""
        if fullname not in MOVED:
            return None
        return ModuleSpec(fullname, self)  # type: ignore[arg-type]  # typed as importlib.abc's, which costs an import

    def create_module(self, spec: ModuleSpec) -> None:
        """None, so that Python makes an empty module; the new one takes its place."""

    def exec_module(self, module: ModuleType) -> None:
        """Puts the new module in the old one's place, which the import system allows a loader to do."""
        sys.modules[module.__name__] = importlib.import_module(MOVED[module.__name__])


def install() -> None:
    """Makes the old paths importable. They are looked for last, so that a module that is there is never hidden."""
    if not any(type(finder).__name__ == MovedFinder.__name__ for finder in sys.meta_path):
        sys.meta_path.append(MovedFinder())
