"""The torch side of the encoder: PhonemicBERT, layers mixed, vectors pooled; and how thinc trains and saves it."""

from __future__ import annotations

import json
import os
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any, cast

import safetensors.torch
import srsly
import torch
from thinc.api import PyTorchShim, Shim, get_torch_default_device, xp2torch
from torch import Tensor, nn
from torch.nn import functional

from phonemic.files.jsons import checked, loads
from phonemic.options import TokenizerOptions, heard_otherwise
from phonemic_bert import PRESETS, CheckpointError, PhonemicBertConfig, PhonemicBertModel
from phonemic_bert.checkpoints import resolve, silent_transformers
from phonemic_bert.modeling.kernels import without_cudnn
from phonemic_bert.modeling.prepared import PreparedEncoder
from phonemic_bert.modeling.unpadded import applies
from phonemic_bert.tokenization.tokenizer import learned_options
from phonemic_bert.untrusted import check_config, check_size, loading
from spacy_phonemic.options import TOO_LOW, EncoderOptions
from spacy_phonemic.windows import Aligned, Plan, plan

#: The cost of a call of the encoder on a CPU whatever its size, times its hidden size squared, as positions of padding:
#: measured with 256 and 288 dimensions. Without gradients padding costs little: it ends at the embeddings.
_CALL, _CALL_WITHOUT_GRADIENTS = 3e6, 6e7

#: The number of the layer that a parameter is of, in BERT and in ModernBERT.
_LAYER = re.compile(r"bert\.encoder\.layers?\.(\d+)\.")


class Network(nn.Module):
    """PhonemicBERT over windows, pooled to tokens.

    It is empty until :meth:`create` or :meth:`load` gives it a model: building a pipeline reads no checkpoint.
    """

    def __init__(self, options: EncoderOptions) -> None:
        super().__init__()
        if options.preset not in PRESETS:
            raise ValueError(f"unknown preset {options.preset!r}: choose one of {', '.join(PRESETS)}")
        self.options = options
        self.bert: Any = None
        self.window, self.stride = 0, 0
        self.layers: tuple[int, ...] = ()
        self.mix: nn.Parameter | None = None
        self._prepared: tuple[list[tuple[int, int]], PreparedEncoder] | None = None

    def create(self, lang: str, heard: TokenizerOptions | None = None) -> None:
        """Reads the checkpoint, or makes a model of the preset with fresh weights.

        Arguments:
            lang: of the documents.
            heard: the options that the documents are read with, where there are any.

        Raises:
            CheckpointError: the folder holds no whole PhonemicBERT, one of another language, one that has learned from
                text with other readings, or with forms, which the documents do not have.
            ValueError: an option does not fit the model.
        """
        checkpoint = self.options.checkpoint
        if checkpoint is None:
            if self.options.rate_factor(0) < TOO_LOW:
                warnings.warn(
                    f"PhonemicBERT starts with fresh weights at {self.options.rate_factor(0)} of the learning rate, "
                    "which suits pretrained ones: set learn_rate_factor to null, or checkpoint to a pretrained model",
                    stacklevel=2,
                )
            config = PhonemicBertConfig.from_preset(self.options.preset, lang, **self.options.form_shares)
            self._use(PhonemicBertModel(config, add_pooling_layer=False))
            return
        model = _read(checkpoint)
        _set_shares(model, self.options.form_shares, checkpoint)
        if model.config.lang != lang:
            raise CheckpointError(
                f"the checkpoint {checkpoint!r} is for {model.config.lang!r}, but the documents are read as {lang!r}"
            )
        options = learned_options(checkpoint)
        if heard is not None and options is not None and (other := heard_otherwise(heard, options)):
            raise CheckpointError(
                f"the documents are read with {other}, but the checkpoint {checkpoint!r} has learned from text "
                f"with {heard_otherwise(options, heard)}: give the component phonemic these, or take another "
                "checkpoint"
            )
        self._use(model)

    def _use(self, model: Any) -> None:
        options, config = self.options, model.config
        room, count = config.max_position_embeddings - 2, config.num_hidden_layers
        self.window, self.stride = options.windows(room)
        self.layers = options.chosen_layers(count)
        self.mix = nn.Parameter(torch.zeros(len(self.layers))) if len(self.layers) > 1 else None
        if options.freeze_layers > count:
            raise ValueError(f"freeze_layers={options.freeze_layers}, but the model has {count} layers")
        if options.freeze_layers:
            layers = model.encoder.layers if config.backbone == "modernbert" else model.encoder.layer
            for module in (model.embeddings, *layers[: options.freeze_layers]):
                module.requires_grad_(False)
        if options.grad_checkpointing:
            # transformers 5 has a new name for it
            enable = getattr(model, "activation_checkpointing_enable", None) or model.gradient_checkpointing_enable
            again = {"context_fn": lambda: (nullcontext(), without_cudnn())}  # layers are run again outside of forward
            enable({"use_reentrant": False, **again})
        self.bert = model
        self.forget_prepared()

    def forward(self, batches: list[tuple[Tensor, Tensor]], rows: Tensor, weights: Tensor, offsets: Tensor) -> Tensor:
        """The vectors of T tokens, float32 (T, d), from a :class:`spacy_phonemic.windows.Plan` as tensors."""
        if not batches:
            return torch.zeros(len(offsets) - 1, self.bert.config.hidden_size, device=offsets.device)
        hidden = torch.cat([self._hidden(ids, mask).flatten(0, 1).float() for ids, mask in batches])
        return _pooled(hidden, rows, weights, offsets)

    def layers_of(
        self,
        batches: list[tuple[Tensor, Tensor]],
        rows: Tensor,
        weights: Tensor,
        offsets: Tensor,
        layers: tuple[int, ...],
    ) -> Tensor:
        """The same of several layers, not mixed: float32 (len(layers), T, d)."""
        if not batches:
            return torch.zeros(len(layers), len(offsets) - 1, self.bert.config.hidden_size)
        numbers = [layer % (self.bert.config.num_hidden_layers + 1) for layer in layers]
        states = [self._states(ids, mask, numbers) for ids, mask in batches]
        chosen = (torch.cat([part.flatten(0, 1).float() for part in parts]) for parts in zip(*states, strict=True))
        return torch.stack([_pooled(hidden, rows, weights, offsets) for hidden in chosen])

    def _hidden(self, input_ids: Tensor, attention_mask: Tensor) -> Tensor:
        """The chosen layer, or the mixture of layers: (B, L, d)."""
        count = self.bert.config.num_hidden_layers
        chosen = self._states(input_ids, attention_mask, [layer % (count + 1) for layer in self.layers])
        if self.mix is None:
            return chosen[0]
        mixed: Tensor = torch.tensordot(self.mix.softmax(0), torch.stack(chosen), 1)
        return mixed

    def _states(self, input_ids: Tensor, attention_mask: Tensor, chosen: Sequence[int]) -> list[Tensor]:
        """The states of the chosen layers, 0 the embeddings, (B, L, d) each; as fast as can be where they only read."""
        if applies(self.bert, input_ids, attention_mask):
            return self._prepare().layers(input_ids, attention_mask, chosen)
        last = list(chosen) == [self.bert.config.num_hidden_layers]
        output = self.bert(input_ids, attention_mask=attention_mask, output_hidden_states=not last)
        return [output.last_hidden_state] if last else [output.hidden_states[layer] for layer in chosen]

    def _prepare(self) -> PreparedEncoder:
        """The encoder prepared, anew where its weights have changed."""
        weights = [(weight.data_ptr(), weight._version) for weight in self.bert.parameters()]
        prepared = self._prepared
        if prepared is None or prepared[0] != weights:
            prepared = self._prepared = weights, PreparedEncoder(self.bert, self.options.int8_inference)
        return prepared[1]

    def forget_prepared(self) -> None:
        """Has the encoder prepared anew: thinc changes weights without a trace."""
        self._prepared = None

    def plan(self, docs: Sequence[Aligned], pooling: str, training: bool = False) -> Plan:
        """The plan for some documents: :func:`spacy_phonemic.windows.plan` for this model, where it is.

        On a GPU a call costs so much that windows go together as long as they fit. In training windows of the same text
        have dropout of their own, and otherwise they are computed once.
        """
        most = self.options.max_batch_positions
        call = (_CALL if training else _CALL_WITHOUT_GRADIENTS) / self.bert.config.hidden_size**2
        on_cpu = self.bert.device.type == "cpu"
        return plan(docs, self.window, self.stride, pooling, most, call if on_cpu else most, distinct=not training)

    def rate(self, name: str) -> float:
        """The learning rate of a parameter, by its name, as a part of the optimizer's."""
        options, count = self.options, self.bert.config.num_hidden_layers
        numbered = _LAYER.match(name)
        below = count if name.startswith("bert.embeddings.") else count - 1 - int(numbered[1]) if numbered else 0
        return options.rate_factor(self.bert.config.hidden_size) * options.layer_decay**below

    def save(self) -> bytes:
        """Configuration and weights, as JSON and safetensors in one msgpack; empty where there is no model yet."""
        if self.bert is None:
            return b""
        weights = {name: tensor.detach().cpu().contiguous() for name, tensor in self.state_dict().items()}
        config = {key: value for key, value in self.bert.config.to_dict().items() if key != "_name_or_path"}
        data: bytes = srsly.msgpack_dumps({"config": json.dumps(config), "weights": safetensors.torch.save(weights)})
        return data

    def load(self, data: bytes) -> None:
        """Reads what :meth:`save` wrote.

        Raises:
            CheckpointError: ``data`` is not that, or the model's vocabulary is not that of the installed phonemic.
        """
        if not data:
            return
        where = "a saved encoder"
        with loading(where):
            state = checked(srsly.msgpack_loads(data), {"config": str, "weights": bytes}, where, CheckpointError)
            config = checked(loads(state["config"]), {}, f"{where}, config", CheckpointError)
            check_config(config, f"{where}, config")
            check_size(config, len(state["weights"]), f"{where}, config")
            self._use(PhonemicBertModel(PhonemicBertConfig.from_dict(config), add_pooling_layer=False))
            self.load_state_dict(safetensors.torch.load(state["weights"]))

    def __reduce__(self) -> Any:
        """Copies and pickles go through the bytes: transformers hangs functions on models that cannot be pickled."""
        return _restore, (self.options, self.save())


def _pooled(hidden: Tensor, rows: Tensor, weights: Tensor, offsets: Tensor) -> Tensor:
    pooled: Tensor = functional.embedding_bag(
        rows, hidden, offsets, mode="sum", per_sample_weights=weights, include_last_offset=True
    )
    return pooled


def _restore(options: EncoderOptions, data: bytes) -> Network:
    network = Network(options)
    network.load(data)
    return network.to(get_torch_default_device())


def _set_shares(model: Any, shares: Mapping[str, float], checkpoint: str) -> None:
    """Has a model drop and exchange other shares of the forms in training.

    Raises:
        CheckpointError: it reads no forms, or the shares are more than 1 together.
    """
    if not shares:
        return
    if model.config.forms == "none":
        raise CheckpointError(f"the checkpoint {checkpoint!r} reads no forms: leave {' and '.join(shares)} out (null)")
    model.config.update(shares)
    model.embeddings.forms.set_shares(model.config.form_dropout, model.config.form_noise)


def _read(checkpoint: str) -> Any:
    """The encoder of a checkpoint, whatever head it was saved with."""
    checkpoint = resolve(checkpoint)
    if not (Path(checkpoint) / "config.json").is_file():
        raise CheckpointError(
            f"there is no checkpoint {checkpoint!r}: give the folder that save_pretrained wrote (with config.json and "
            "model.safetensors), the name of an installed checkpoint, or null for a fresh model of a preset"
        )
    with silent_transformers():  # the pretraining heads are left out
        model, loading = PhonemicBertModel.from_pretrained(
            checkpoint, add_pooling_layer=False, output_loading_info=True
        )
    if loading["missing_keys"]:
        missing = ", ".join(sorted(loading["missing_keys"])[:5])
        raise CheckpointError(f"the checkpoint {checkpoint!r} lacks weights of PhonemicBERT: {missing}")
    return model.float()


class NetworkShim(PyTorchShim):  # type: ignore[misc,unused-ignore]
    """thinc's PyTorchShim, with a learning rate of the encoder's own, and averages of its weights."""

    def __init__(self, network: Network, mixed_precision: bool) -> None:
        super().__init__(
            network,
            # A pipeline that was trained on a GPU also runs where there is none.
            mixed_precision=mixed_precision and get_torch_default_device().type == "cuda",
            serialize_model=Network.save,
            deserialize_model=_deserialize,
        )

    def predict(self, inputs: Any) -> Any:
        """PyTorchShim's, in one thread where this is a forked process."""
        spare_forked_threads(self.device)
        return super().predict(inputs)

    def begin_update(self, inputs: Any) -> Any:
        """PyTorchShim's; where nothing is trainable, or nothing was read, the gradient goes nowhere."""
        spare_forked_threads(self.device)
        output, backprop = super().begin_update(inputs)
        return output, backprop if output.requires_grad else _no_gradient

    def finish_update(self, optimizer: Any) -> None:
        """PyTorchShim's, at the learning rates of the encoder's own layers."""

        def at_own_rate(key: tuple[int, str], weights: Any, gradient: Any) -> Any:
            return optimizer(key, weights, gradient, lr_scale=self._model.rate(key[1]))

        super().finish_update(cast("Any", at_own_rate))
        self._model.forget_prepared()

    @contextmanager
    def use_params(self, params: Mapping[Any, Any]) -> Iterator[None]:
        """Has other weights for a while, such as the averages of an optimizer, by its keys.

        PyTorchShim's looks for other keys than the ones that an optimizer has, and so finds none.

        Raises:
            ValueError: they have another shape. Then, and after any error meanwhile, the weights are what they were.
        """
        own = {name: weights for name, weights in self._model.named_parameters() if (self.id, name) in params}
        trained = {name: weights.detach().clone() for name, weights in own.items()}
        try:
            _put(own, {name: xp2torch(params[self.id, name], device=self.device) for name in own})
            yield
        finally:
            _put(own, trained)

    def copy(self) -> NetworkShim:
        """A copy that the optimizer knows apart."""
        copied: NetworkShim = super().copy()
        copied._model.to(self.device)
        with Shim.global_id_lock:  # not of a subclass: the next new shim would have the same
            Shim.global_id += 1
            copied.id = Shim.global_id
        return copied


def _put(weights: Mapping[str, Tensor], others: Mapping[str, Tensor]) -> None:
    with torch.no_grad():
        for name, own in weights.items():
            if others[name].shape != own.shape:
                raise ValueError(
                    f"{name} has the shape {(*own.shape,)}, what is to stand for it {(*others[name].shape,)}"
                )
            own.copy_(others[name])


def _deserialize(network: Network, data: bytes, device: torch.device) -> Network:
    network.load(data)
    return network.to(device)


def _no_gradient(grads: Any) -> None:
    return None


_forked = False


def _note_fork() -> None:
    global _forked  # noqa: PLW0603
    _forked = True


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_note_fork)


def spare_forked_threads(device: torch.device) -> None:
    """A forked process has none of its parent's worker threads, and torch would wait for them for ever.

    Raises:
        RuntimeError: the model is on a GPU, which a forked process cannot use.
    """
    global _forked  # noqa: PLW0603
    if not _forked:
        return
    if device.type != "cpu":
        raise RuntimeError(
            f"the encoder is on {device}, and a forked process cannot use it: call "
            "multiprocessing.set_start_method('spawn') before nlp.pipe(n_process=...), or use n_process=1"
        )
    torch.set_num_threads(1)
    _forked = False
