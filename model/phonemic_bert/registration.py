"""Registers the project's classes with transformers when its Auto classes and pipelines are imported, and not before.

So ``import phonemic_bert`` is light, and transformers knows PhonemicBERT whichever of the two is imported first.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import wraps
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from phonemic_bert.checkpoints import resolve


def _register_configurations(auto: Any) -> None:
    from phonemic_bert.configuration import PhonemicBertConfig, PlainModernBertConfig

    for config in (PhonemicBertConfig, PlainModernBertConfig):
        auto.AutoConfig.register(config.model_type, config, exist_ok=True)
    _take_names(auto.AutoConfig)


def _register_tokenizer(auto: Any) -> None:
    from phonemic_bert.configuration import PhonemicBertConfig
    from phonemic_bert.tokenization import PhonemicBertTokenizer

    auto.AutoTokenizer.register(PhonemicBertConfig, slow_tokenizer_class=PhonemicBertTokenizer, exist_ok=True)
    _take_names(auto.AutoTokenizer)


def _register_models(auto: Any) -> None:
    from phonemic_bert import modeling
    from phonemic_bert.configuration import PhonemicBertConfig, PlainModernBertConfig
    from phonemic_bert.modeling import plain
    from phonemic_bert.untrusted import check_if_ours

    for prefix, module, config in (
        ("PhonemicBert", modeling, PhonemicBertConfig),
        ("PlainModernBert", plain, PlainModernBertConfig),
    ):
        for suffix, names in _AUTO_MODELS.items():
            for name in names:
                getattr(auto, name).register(config, getattr(module, prefix + suffix), exist_ok=True)
    for names in _AUTO_MODELS.values():
        for name in names:
            _take_names(getattr(auto, name), check_if_ours)


def _register_pipelines(pipelines: Any) -> None:
    from phonemic_bert.pipelines import SyllableFillMaskPipeline, SyllableTokenClassificationPipeline

    for task, ours in (
        ("fill-mask", SyllableFillMaskPipeline),
        ("token-classification", SyllableTokenClassificationPipeline),
    ):
        pipelines.PIPELINE_REGISTRY.supported_tasks[task]["impl"] = ours
    pipeline = pipelines.pipeline

    @wraps(pipeline)
    def by_name(*args: Any, **kwargs: Any) -> Any:
        return pipeline(*map(resolve, args), **{name: resolve(value) for name, value in kwargs.items()})

    pipelines.pipeline = by_name


def _take_names(auto: Any, check: Callable[[object], None] = lambda folder: None) -> None:
    """Has an Auto class take the names of installed checkpoints, and refuse one of ours that is not installed.

    transformers would look for it on a hub, where anybody could own the name. Folders are checked before they are read.
    """
    from_pretrained = auto.from_pretrained.__func__

    @wraps(from_pretrained)
    def by_name(cls: Any, pretrained_model_name_or_path: Any, *args: Any, **kwargs: Any) -> Any:
        folder = resolve(pretrained_model_name_or_path)
        check(folder)
        return from_pretrained(cls, folder, *args, **kwargs)

    auto.from_pretrained = classmethod(by_name)


#: How the name of a class of ours ends, and the Auto classes that give it.
_AUTO_MODELS = {
    "Model": ("AutoModel",),
    "ForMaskedLM": ("AutoModelForPreTraining", "AutoModelForMaskedLM"),
    "ForSequenceClassification": ("AutoModelForSequenceClassification",),
    "ForTokenClassification": ("AutoModelForTokenClassification",),
    "ForQuestionAnswering": ("AutoModelForQuestionAnswering",),
    "ForMultipleChoice": ("AutoModelForMultipleChoice",),
}

#: The modules of the Auto classes and of the pipelines, and what is registered in each.
_REGISTER: dict[str, Callable[[Any], None]] = {
    "transformers.models.auto.configuration_auto": _register_configurations,
    "transformers.models.auto.tokenization_auto": _register_tokenizer,
    "transformers.models.auto.modeling_auto": _register_models,
    "transformers.pipelines": _register_pipelines,
}


class AutoFinder:
    """Finds transformers' modules and ours as the other finders do, and registers when the outermost of them has run.

    Only then: transformers imports its Auto classes in the middle of other modules, and ours import those.
    """

    def __init__(self) -> None:
        self._running = 0
        self._registered: set[str] = set()

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The spec of such a module; None for all others."""
        if fullname.partition(".")[0] not in ("transformers", "phonemic_bert"):
            return None
        others = (finder for finder in sys.meta_path if finder is not self)
        spec = next(filter(None, (finder.find_spec(fullname, path, target) for finder in others)), None)
        if spec is not None and spec.loader is not None:
            run = spec.loader.exec_module

            def run_and_register(module: ModuleType) -> None:
                self._running += 1
                try:
                    run(module)
                finally:
                    self._running -= 1
                self.register()

            spec.loader.exec_module = run_and_register  # type: ignore[method-assign]  # of this one module's loader
        return spec

    def register(self) -> None:
        """Registers with those modules that are imported, if no such import is going on."""
        for name, register in _REGISTER.items():
            if not self._running and name in sys.modules and name not in self._registered:
                self._registered.add(name)
                register(sys.modules[name])


def install() -> None:
    """Registers with what is imported already, and sees to it that the rest is registered when it is imported."""
    if not any(type(finder).__name__ == AutoFinder.__name__ for finder in sys.meta_path):
        finder = AutoFinder()
        sys.meta_path.insert(0, finder)
        finder.register()
