"""Registers the project's classes with transformers when its Auto classes and pipelines are imported, and not before.

So ``import phonemic_bert`` is light, and transformers knows PhonemicBERT whichever of the two is imported first.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import update_wrapper, wraps
from importlib.machinery import ModuleSpec
from inspect import unwrap
from types import FunctionType, ModuleType
from typing import Any

from phonemic_bert.checkpoints import checkpoint_path, is_installed, keep_name, resolve


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
    for name, found in [*vars(auto).items()]:  # the ones that give no class of ours as well: they would ask a hub
        if name.startswith("AutoModel") and isinstance(found, type):
            _take_names(found, check_if_ours)


def _register_generation(generation: Any) -> None:
    _take_names(generation.GenerationConfig)


def _register_pipelines(pipelines: Any) -> None:
    from phonemic_bert.pipelines import SyllableFillMaskPipeline, SyllableTokenClassificationPipeline

    for task, ours in (
        ("fill-mask", SyllableFillMaskPipeline),
        ("token-classification", SyllableTokenClassificationPipeline),
    ):
        pipelines.PIPELINE_REGISTRY.supported_tasks[task]["impl"] = ours
    _replace(pipelines, "pipeline", _pipeline_by_name)


def _pipeline_by_name(pipeline: Callable[..., Any]) -> Callable[..., Any]:
    code = unwrap(pipeline).__code__
    order = code.co_varnames[: code.co_argcount]

    @wraps(pipeline)
    def by_name(*args: Any, **kwargs: Any) -> Any:
        given = {**dict(zip(order, args, strict=False)), **kwargs}
        if len(given) < len(args) + len(kwargs):  # too many, or one of them twice: Python says so
            return pipeline(*args, **kwargs)
        found = {name: resolve(value) if name in _LOADED else value for name, value in given.items()}
        made = pipeline(**found)
        for loaded in (made.model, made.tokenizer):
            keep_name(loaded, given.get("model"), found.get("model"))
        return made

    return by_name


def _replace(module: Any, name: str, make: Callable[[Callable[..., Any]], Callable[..., Any]]) -> None:
    """Puts what ``make`` makes of a module's function in its place, also for those who have imported it already.

    So the function itself is changed, and ``make`` is given a copy. One with a closure cannot be: its name is bound
    anew, which those who have it do not see. Nothing is done for a name that is not there, or a second time.
    """
    function = getattr(module, name, None)
    if function is None or "phonemic_bert_call" in (getattr(function, "__kwdefaults__", None) or {}):
        return
    if not isinstance(function, FunctionType) or function.__closure__:
        setattr(module, name, make(function))
        return
    copy = FunctionType(function.__code__, function.__globals__, name, function.__defaults__)
    copy.__kwdefaults__ = function.__kwdefaults__
    update_wrapper(copy, function)
    del copy.__wrapped__  # type: ignore[attr-defined]  # the function, which is to call the copy
    function.__kwdefaults__ = {"phonemic_bert_call": make(copy)}
    function.__code__, function.__defaults__ = _pass_on.__code__, None
    function.__wrapped__ = copy  # type: ignore[attr-defined]  # has the signature and the source that people look for


def _pass_on(*args: Any, phonemic_bert_call: Callable[..., Any], **kwargs: Any) -> Any:
    """The code of a replaced function. It runs among another module's names, and must use none but its arguments."""
    return phonemic_bert_call(*args, **kwargs)


def _register_processors(auto: Any) -> None:
    for name in ("AutoFeatureExtractor", "AutoImageProcessor", "AutoVideoProcessor", "AutoProcessor"):
        if name in vars(auto) and vars(auto)[name].__module__ == auto.__name__:
            _take_names(vars(auto)[name])


def _register_hub(hub: Any) -> None:
    _replace(hub, "resolve_revision", _revision_by_name)


def _revision_by_name(ask: Callable[..., Any]) -> Callable[..., Any]:
    """A version of ``resolve_revision``, which transformers 5 asks a hub with for the base that an adapter names."""

    @wraps(ask)
    def by_name(where: Any, revision: str | None = None, **kwargs: Any) -> Any:
        return revision if is_installed(where) else ask(where, revision, **kwargs)

    return by_name


def _register_adapters(other: Any) -> None:
    _replace(other, "check_file_exists_on_hf_hub", _exists_by_name)


def _exists_by_name(ask: Callable[..., Any]) -> Callable[..., Any]:
    """A version of the function that PEFT looks for an adapter's base with whenever it saves the adapter."""

    @wraps(ask)
    def by_name(repo_id: Any, filename: str, **kwargs: Any) -> Any:
        if is_installed(repo_id):
            return (checkpoint_path(repo_id) / filename).is_file()
        return ask(repo_id, filename, **kwargs)

    return by_name


def _take_names(auto: Any, check: Callable[[object], None] = lambda folder: None) -> None:
    """Has an Auto class take the names of installed checkpoints, and refuse one of ours that is not installed.

    transformers would look for it on a hub, where anybody could own the name. Folders are checked before they are read.
    """
    from_pretrained = auto.from_pretrained.__func__

    @wraps(from_pretrained)
    def by_name(cls: Any, pretrained_model_name_or_path: Any, *args: Any, **kwargs: Any) -> Any:
        folder = resolve(pretrained_model_name_or_path)
        check(folder)
        return keep_name(from_pretrained(cls, folder, *args, **kwargs), pretrained_model_name_or_path, folder)

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

#: The arguments of ``pipeline`` that may name a checkpoint.
_LOADED = {"model", "config", "tokenizer", "feature_extractor", "image_processor", "video_processor", "processor"}

#: The modules of the Auto classes and of the pipelines and the ones that ask a hub, and what is registered in each.
_REGISTER: dict[str, Callable[[Any], None]] = {
    "transformers.models.auto.configuration_auto": _register_configurations,
    "transformers.models.auto.tokenization_auto": _register_tokenizer,
    "transformers.models.auto.modeling_auto": _register_models,
    "transformers.models.auto.feature_extraction_auto": _register_processors,
    "transformers.models.auto.image_processing_auto": _register_processors,
    "transformers.models.auto.video_processing_auto": _register_processors,
    "transformers.models.auto.processing_auto": _register_processors,
    "transformers.generation.configuration_utils": _register_generation,
    "transformers.pipelines": _register_pipelines,
    "transformers.utils.hub": _register_hub,
    "peft.utils.other": _register_adapters,
}


class AutoFinder:
    """Finds transformers', PEFT's and our modules as the other finders do, and registers when the outermost has run.

    Only then: transformers imports its Auto classes in the middle of other modules, and ours import those.
    """

    def __init__(self) -> None:
        self._running = 0
        self._registered: set[str] = set()

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The spec of such a module; None for all others."""
        if fullname.partition(".")[0] not in ("transformers", "peft", "phonemic_bert"):
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
