"""PhonemicBERT: transformers' BERT with embeddings that read triples, and H-MLM (the paper, section 4)."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar, cast

import torch
from torch import Tensor, nn
from transformers import (
    BertConfig,
    BertForMultipleChoice,
    BertForQuestionAnswering,
    BertForSequenceClassification,
    BertForTokenClassification,
    BertModel,
    BertPreTrainedModel,
    PreTrainedModel,
)
from transformers.modeling_outputs import BaseModelOutputWithPooling
from transformers.models.bert.modeling_bert import BertEmbeddings
from transformers.utils.generic import ModelOutput

from phonemic.inventory import vocabulary
from phonemic_bert.checkpoints import keep_name, resolve
from phonemic_bert.configuration import PhonemicBertConfig
from phonemic_bert.errors import CheckpointError
from phonemic_bert.modeling.adjacent import Bigrams
from phonemic_bert.modeling.composition import Composing, Product, TripleEmbedding
from phonemic_bert.modeling.forms import FormEmbedding
from phonemic_bert.modeling.heads import IndependentHeads, JointHead, Predicted
from phonemic_bert.modeling.kernels import without_cudnn
from phonemic_bert.modeling.lists import Frozen
from phonemic_bert.modeling.modern import ModernEncoder, PhonemicModernBertEmbeddings, modern_config
from phonemic_bert.modeling.pair_heads import PairHead, PairsPredicted
from phonemic_bert.modeling.pooling import Pooler
from phonemic_bert.modeling.unpadded import applies, layers
from phonemic_bert.untrusted import check_folder, loading

#: The label of a position that is not predicted.
IGNORE = -100

#: The outputs of a call that is computed without padding.
_PLAIN = {"token_type_ids", "position_ids", "inputs_embeds", "output_attentions", "output_hidden_states", "return_dict"}

Output = TypeVar("Output", bound=ModelOutput)


def as_asked(output: Output, return_dict: bool | None, config: BertConfig) -> Output | tuple[Any, ...]:
    """A model's output, or the tuple of it, as ``return_dict`` says; where that is None, as the configuration does."""
    wanted = config.return_dict if return_dict is None else return_dict
    return output if wanted else output.to_tuple()


class PhonemicBertEmbeddings(Composing, BertEmbeddings):
    """BERT's embeddings over triples: positions, token types, LayerNorm and dropout are BERT's."""

    def __init__(self, config: PhonemicBertConfig) -> None:
        super().__init__(config)
        self.add_composition(config)

    def forward(
        self,
        input_ids: Tensor | None = None,
        token_type_ids: Any = None,
        position_ids: Any = None,
        inputs_embeds: Any = None,
        *cached: Any,
        **named: Any,
    ) -> Tensor:
        """Embeds packed ids (B, N), or takes what :meth:`embed` makes of them (B, N, d): (B, N, d).

        Releases of transformers have different names for the length of a cache; BERT gets back what
        it said.

        Raises:
            ValueError: an id is not in the vocabulary.
        """
        if inputs_embeds is None and input_ids is not None:
            inputs_embeds = self.embed(input_ids)
        embedded: Tensor = super().forward(None, token_type_ids, position_ids, inputs_embeds, *cached, **named)
        return embedded if self.neighbours is None else self.neighbours(embedded, input_ids)


class PhonemicBertPreTrainedModel(BertPreTrainedModel):
    """The base of all PhonemicBERT models: the configuration, and checkpoints that are data only."""

    config: PhonemicBertConfig
    config_class: type[BertConfig] = PhonemicBertConfig
    _no_split_modules = [  # noqa: RUF012
        "PhonemicBertEmbeddings",
        "PhonemicModernBertEmbeddings",
        "BertLayer",
        "ModernBertEncoderLayer",
    ]
    # A checkpoint's heads for masked syllables: models of other tasks leave them out without a word.
    _keys_to_ignore_on_load_unexpected: list[str] | None = [r"^heads\."]  # noqa: RUF012

    def _init_weights(self, module: Any) -> None:
        """BERT's first weights, and those of what BERT does not have."""
        if isinstance(module, nn.LayerNorm) and len(list(module.parameters())) == 1:
            nn.init.ones_(module.weight)  # BERT's norms all have a bias
        else:
            super()._init_weights(module)
        if isinstance(module, (Bigrams, Product, TripleEmbedding, FormEmbedding, JointHead)):
            module.reset_parameters()
        if isinstance(module, Frozen):
            module.reset_buffers()

    @classmethod
    def from_pretrained(
        cls, pretrained_model_name_or_path: str | os.PathLike[str] | None, *args: Any, **kwargs: Any
    ) -> Any:
        """Loads a checkpoint, from safetensors only: nothing in it is unpickled.

        Arguments:
            pretrained_model_name_or_path: a folder that ``save_pretrained`` wrote, the name of an installed checkpoint
                (``phonemic-bert-mini-vi``), or a model's name on a hub.
            args: as for ``transformers.PreTrainedModel.from_pretrained``.
            kwargs: likewise; ``use_safetensors`` may only be True.

        Raises:
            CheckpointError: its vocabulary is not this version's, its files are damaged, do not fit each other or point
                elsewhere, or ``use_safetensors=False``.
            OSError: a file is missing.
        """
        if not kwargs.setdefault("use_safetensors", True):
            raise CheckpointError("PhonemicBERT checkpoints are safetensors; use_safetensors=False would unpickle")
        where = resolve(pretrained_model_name_or_path)
        if where is not None and os.path.isdir(where):
            check_folder(Path(where))
        with loading(where):
            found = super().from_pretrained(where, *args, **kwargs)
        return keep_name(found, pretrained_model_name_or_path, where)

    def resize_token_embeddings(
        self, new_num_tokens: int | None = None, pad_to_multiple_of: int | None = None, *args: Any, **kwargs: Any
    ) -> Any:
        """The embedding table; its size is the vocabulary's and cannot change.

        Raises:
            ValueError: another size is requested.
        """
        size = self.config.vocab_size
        wanted = size if new_num_tokens is None else new_num_tokens
        wanted = -(-wanted // (pad_to_multiple_of or 1)) * (pad_to_multiple_of or 1)
        if wanted != size:
            raise ValueError(f"the vocabulary is fixed at {size} symbols and cannot be resized to {wanted}")
        return self.get_input_embeddings()


class PhonemicBertModel(PhonemicBertPreTrainedModel, BertModel):
    """The encoder: packed ids (B, N) to hidden states (B, N, d), and one pooled state a text (B, d).

    It is a :class:`PhonemicModernBertModel` where the configuration's ``backbone`` says so.

    Arguments:
        config: the configuration.
        add_pooling_layer: whether there is a pooler.
    """

    def __new__(cls, config: PhonemicBertConfig | None = None, *args: Any, **kwargs: Any) -> Any:
        """Chooses the class by the configuration; copies and pickles name theirs and give none."""
        modern = cls is PhonemicBertModel and config is not None and config.backbone == "modernbert"
        return super().__new__(PhonemicModernBertModel if modern else cls)

    def __init__(self, config: PhonemicBertConfig, add_pooling_layer: bool = True) -> None:
        super().__init__(config, add_pooling_layer=add_pooling_layer)
        self.embeddings = PhonemicBertEmbeddings(config)
        if add_pooling_layer and config.pooling == "mean":
            self.pooler = Pooler(config)
        self.post_init()

    def forward(
        self, input_ids: Tensor | None = None, attention_mask: Tensor | None = None, *args: Any, **kwargs: Any
    ) -> Any:
        """BertModel's forward, after a check that the text fits the position table.

        Arguments:
            input_ids: packed ids, int64 (B, N).
            attention_mask: (B, N), 0 where there is padding.
            args: what ``transformers.BertModel`` takes, in its order.
            kwargs: what ``transformers.BertModel`` takes.

        Returns:
            BertModel's output: ``last_hidden_state`` (B, N, d), ``pooler_output`` (B, d) and what else was requested.

        Raises:
            ValueError: the texts are longer than ``max_position_embeddings``, or an id is not in the vocabulary.
        """
        given = input_ids if input_ids is not None else kwargs.get("inputs_embeds")
        self._check_length(given)
        if not args and kwargs.keys() <= _PLAIN and self._is_plain(given, attention_mask, **kwargs):
            types = kwargs.get("token_type_ids")
            embedded = self.embeddings(input_ids, token_type_ids=types, inputs_embeds=kwargs.get("inputs_embeds"))
            return self._inferred(embedded, attention_mask, **kwargs)
        with without_cudnn():
            output = super().forward(input_ids, attention_mask, *args, **kwargs)
        pooler: Any = self.pooler
        if self._pools_mean and attention_mask is not None:  # BERT tells the pooler no mask
            pooled = pooler(output[0], attention_mask)
            if isinstance(output, tuple):
                return output[0], pooled, *output[2:]
            output.pooler_output = pooled
        return output

    @property
    def _pools_mean(self) -> bool:
        """Whether there is a pooler that needs the mask; not by its class, which an adapter (PEFT) wraps."""
        return self.pooler is not None and self.config.pooling == "mean"

    def _is_plain(
        self,
        given: Tensor | None,
        mask: Tensor | None,
        position_ids: Tensor | None = None,
        output_attentions: bool | None = None,
        **other: Any,
    ) -> bool:
        """Whether :meth:`_inferred` gives all that a call requests."""
        attentions = self.config.output_attentions if output_attentions is None else output_attentions
        plain = given is not None and position_ids is None and not attentions and not self.config.is_decoder
        return plain and applies(self, cast(Tensor, given), mask)

    def _inferred(
        self,
        embedded: Tensor,
        mask: Tensor | None,
        output_hidden_states: bool | None = None,
        return_dict: bool | None = None,
        **other: Any,
    ) -> BaseModelOutputWithPooling | tuple[Any, ...]:
        """The output without gradients on a CPU, where padding is not computed; there the states are 0."""
        wanted = self.config.output_hidden_states if output_hidden_states is None else output_hidden_states
        states = [embedded, *layers(self, embedded, mask)] if wanted else [*layers(self, embedded, mask)][-1:]
        pooler: Any = self.pooler
        masks = (mask,) if self._pools_mean else ()
        output = BaseModelOutputWithPooling(
            last_hidden_state=states[-1],
            pooler_output=None if pooler is None else pooler(states[-1], *masks),
            hidden_states=tuple(states) if wanted else None,
        )
        return as_asked(output, return_dict, self.config)

    def _check_length(self, given: Tensor | None) -> None:
        limit = self.config.max_position_embeddings
        if given is not None and given.shape[1] > limit:
            raise ValueError(
                f"a text of {given.shape[1]} positions is longer than the model's {limit}: "
                "tokenize with truncation=True, or in windows with return_overflowing_tokens=True"
            )


class PhonemicModernBertModel(PhonemicBertModel):
    """The same with transformers' ModernBERT as the encoder."""

    embeddings_class: type[nn.Module] = PhonemicModernBertEmbeddings

    def __init__(self, config: PhonemicBertConfig, add_pooling_layer: bool = True) -> None:
        PreTrainedModel.__init__(self, config)  # not BertModel's, which would make BERT's layers
        self.embeddings: Any = self.embeddings_class(config)
        attention = self.config._attn_implementation
        self.encoder = ModernEncoder._from_config(modern_config(config), attn_implementation=attention)
        self.pooler = Pooler(config) if add_pooling_layer else None
        self.post_init()

    def forward(
        self,
        input_ids: Tensor | None = None,
        attention_mask: Tensor | None = None,
        token_type_ids: Tensor | None = None,
        position_ids: Tensor | None = None,
        inputs_embeds: Tensor | None = None,
        output_attentions: bool | None = None,
        output_hidden_states: bool | None = None,
        return_dict: bool | None = None,
        head_mask: None = None,
        **kwargs: Any,
    ) -> BaseModelOutputWithPooling | tuple[Any, ...]:
        """BertModel's interface; token types are not told apart, and no heads are masked.

        The last of ``hidden_states`` is ``last_hidden_state``, behind the final norm; those before it are not normed.
        """
        self._check_length(input_ids if input_ids is not None else inputs_embeds)
        if output_attentions is None:
            output_attentions = self.config.output_attentions
        if output_hidden_states is None:
            output_hidden_states = self.config.output_hidden_states
        embedded = self.embeddings(input_ids, inputs_embeds)
        if not kwargs and self._is_plain(embedded, attention_mask, position_ids, output_attentions):
            return self._inferred(embedded, attention_mask, output_hidden_states, return_dict)
        with without_cudnn():
            outputs = self.encoder(
                inputs_embeds=embedded,
                attention_mask=attention_mask,
                position_ids=position_ids,
                output_attentions=output_attentions,
                output_hidden_states=output_hidden_states,
                return_dict=True,
                **kwargs,
            )
        last = outputs.last_hidden_state
        layers = outputs.hidden_states
        output = BaseModelOutputWithPooling(
            last_hidden_state=last,
            pooler_output=None if self.pooler is None else self.pooler(last, attention_mask),
            hidden_states=(*layers[:-1], last) if layers else None,
            attentions=outputs.attentions,
        )
        return as_asked(output, return_dict, self.config)


@dataclass
class HolisticMaskedLMOutput(ModelOutput):  # type: ignore[misc,unused-ignore]
    """The output of PhonemicBertForMaskedLM.

    Attributes:
        loss: scalar, where labels were given.
        logits: one tensor each for onset, rime and tone, (B, N, V). Those of a joint head are log-probabilities, sums
            over triples; given labels they are those of the M labelled positions, (M, V), and None while training.
            Independent heads compute all positions but while training with labels.
        losses: where labels were given, the negative log-probability of each labelled triple, (M,), in nats.
        best: likewise, while evaluating, the likeliest triple, packed, (M,).
        sounds: of a model with forms, whose ``losses`` and ``best`` are of pairs of a triple and a form: the same two
            of the triples, whatever their form.
        hidden_states: as BERT's, on request.
        attentions: as BERT's, on request.
    """

    loss: Tensor | None = None
    logits: tuple[Tensor, ...] | None = None
    losses: Tensor | None = None
    best: Tensor | None = None
    sounds: tuple[Tensor, Tensor] | None = None
    hidden_states: tuple[Tensor, ...] | None = None
    attentions: tuple[Tensor, ...] | None = None


class PhonemicBertForMaskedLM(PhonemicBertPreTrainedModel):
    """Holistic masked language modelling: whole triples are predicted, by three independent heads or by a joint one.

    A model with forms predicts pairs of a triple and its written form.

    Arguments:
        config: the configuration, which says which heads.
    """

    _keys_to_ignore_on_load_unexpected = None

    def __init__(self, config: PhonemicBertConfig) -> None:
        super().__init__(config)
        self.bert = PhonemicBertModel(config, add_pooling_layer=False)
        joint = JointHead if config.forms == "none" else PairHead
        self.heads = (joint if config.head == "joint" else IndependentHeads)(config)
        self.post_init()

    def forward(
        self,
        input_ids: Tensor | None = None,
        attention_mask: Tensor | None = None,
        token_type_ids: Tensor | None = None,
        position_ids: Tensor | None = None,
        inputs_embeds: Tensor | None = None,
        labels: Tensor | None = None,
        num_items_in_batch: Tensor | int | None = None,
        return_dict: bool | None = None,
        soft_targets: Tensor | None = None,
        **kwargs: Any,
    ) -> HolisticMaskedLMOutput | tuple[Any, ...]:
        """Predicts the components of every position.

        Arguments:
            input_ids: packed ids, (B, N).
            attention_mask: 1 for text, 0 for padding, (B, N).
            token_type_ids: (B, N).
            position_ids: (B, N).
            inputs_embeds: what the embeddings' ``embed`` makes of ids, (B, N, d), instead of these.
            labels: packed ids of the positions to predict, -100 elsewhere, (B, N). A model without forms passes over
                theirs; for one with forms a label without one is the triple, in whatever form.
            num_items_in_batch: what the summed loss is divided by, instead of the labelled positions of this batch;
                Trainer gives it under gradient accumulation.
            return_dict: False returns a tuple; None: as the configuration says.
            soft_targets: of a joint head, a part of the target of each of the M labelled positions: probabilities of
                the S triples of its list, (M, S), whose rows add up to at most 1. The rest is the label's.
            kwargs: what BertModel takes (``output_attentions``, ``output_hidden_states``).

        Returns:
            The loss is the mean negative log-probability of the labelled triples (nats): with independent heads the
            unweighted sum of three cross-entropies (equation 8 of the paper). It is 0 where there are no labels.

        Raises:
            ValueError: there are ``soft_targets`` and no joint head; an id is not in the vocabulary, or a label is
                nothing that a joint head can predict (these two are checked on the CPU, outside torch.compile).
        """
        outputs = self.bert(
            input_ids,
            attention_mask=attention_mask,
            token_type_ids=token_type_ids,
            position_ids=position_ids,
            inputs_embeds=inputs_embeds,
            return_dict=True,
            **kwargs,
        )
        fields = self._predictions(outputs.last_hidden_state, labels, num_items_in_batch, soft_targets)
        # transformers 4 takes as keys only what is there when the output is made
        output = HolisticMaskedLMOutput(hidden_states=outputs.hidden_states, attentions=outputs.attentions, **fields)
        return as_asked(output, return_dict, self.config)

    def _predictions(
        self, hidden: Tensor, labels: Tensor | None, num_items: Tensor | int | None, soft: Tensor | None
    ) -> dict[str, Any]:
        """The fields of the output that the labels decide."""
        if labels is None:
            return {"logits": self.predict(hidden).logits}
        labelled = labels != IGNORE
        chosen, aims = hidden[labelled], labels[labelled]
        fields: dict[str, Any]
        parts = () if soft is None else (soft,)
        if parts and self.config.head != "joint":
            raise ValueError("soft_targets are for a joint head; this model has independent ones")
        if self.training and self.config.head == "joint":
            losses, fields = self.losses(chosen, aims, *parts), {}
        else:
            predicted = self.predict(chosen)
            losses, fields = predicted.losses(aims, *parts), {"logits": predicted.logits}
        if losses.device.type == "cpu" and not torch.compiler.is_compiling() and losses.isinf().any():
            raise ValueError(
                f"labels hold {self._named(aims[losses.isinf()][0])}, which the tokenizer never gives to a "
                "position of text: label syllables and fallback characters, and everything else -100"
            )
        count = torch.as_tensor(len(losses) if num_items is None else num_items, device=losses.device)
        fields |= {"loss": losses.sum() / count.clamp(min=1), "losses": losses}
        if not self.training:
            fields["best"] = predicted.best()
            if isinstance(predicted, PairsPredicted):
                fields["sounds"] = (predicted.triples.losses(aims), predicted.triples.best())
            if self.config.head == "independent":
                fields["logits"] = self.predict(hidden).logits
        return fields

    def losses(self, hidden: Tensor, labels: Tensor, *soft: Tensor) -> Tensor:
        """The negative log-probabilities of M triples.

        Arguments:
            hidden: hidden states, (M, d).
            labels: packed ids, int64 (M,).
            soft: of a joint head, as ``soft_targets`` of :meth:`forward`.

        Returns:
            Nats, float32 (M,).
        """
        return self.predict(hidden).losses(labels, *soft)

    def _named(self, packed: Tensor) -> str:
        return "|".join(vocabulary(self.config.lang).unpack(int(packed)))

    def predict(self, hidden: Tensor) -> Predicted:
        """The predictions from hidden states (..., d): see :class:`phonemic_bert.modeling.heads.Predicted`."""
        predicted: Predicted = self.heads(hidden, *self._tied())
        return predicted

    def vectors(self, packed: Tensor) -> tuple[Tensor, Tensor]:
        """The vectors (K, d) with which a joint head compares states for K triples, and their biases (K,).

        Arguments:
            packed: the ids of the triples, int64 (K,).
        """
        heads: Any = self.heads
        found: tuple[Tensor, Tensor] = heads.vectors(packed, *self._tied())
        return found

    def _tied(self) -> tuple[Any, ...]:
        return (self.bert.embeddings,) if self.config.output_embeddings == "tied" else ()


class PhonemicBertForSequenceClassification(PhonemicBertPreTrainedModel, BertForSequenceClassification):
    """transformers' BertForSequenceClassification over PhonemicBERT: a label for each text.

    Arguments:
        config: the configuration; ``num_labels`` and the others are transformers'.
    """

    encoder_class: type[PhonemicBertModel] = PhonemicBertModel

    def __init__(self, config: PhonemicBertConfig) -> None:
        super().__init__(config)
        self.bert = self.encoder_class(config)
        self.post_init()


class PhonemicBertForTokenClassification(PhonemicBertPreTrainedModel, BertForTokenClassification):
    """transformers' BertForTokenClassification over PhonemicBERT: a label for each position.

    Arguments:
        config: the configuration; ``num_labels`` and the others are transformers'.
    """

    encoder_class: type[PhonemicBertModel] = PhonemicBertModel

    def __init__(self, config: PhonemicBertConfig) -> None:
        super().__init__(config)
        self.bert = self.encoder_class(config, add_pooling_layer=False)
        self.post_init()


class PhonemicBertForQuestionAnswering(PhonemicBertPreTrainedModel, BertForQuestionAnswering):
    """transformers' BertForQuestionAnswering over PhonemicBERT: the first and the last position of an answer.

    Arguments:
        config: the configuration.
    """

    encoder_class: type[PhonemicBertModel] = PhonemicBertModel

    def __init__(self, config: PhonemicBertConfig) -> None:
        super().__init__(config)
        self.bert = self.encoder_class(config, add_pooling_layer=False)
        self.post_init()


class PhonemicBertForMultipleChoice(PhonemicBertPreTrainedModel, BertForMultipleChoice):
    """transformers' BertForMultipleChoice over PhonemicBERT: one of several texts.

    Arguments:
        config: the configuration.
    """

    encoder_class: type[PhonemicBertModel] = PhonemicBertModel

    def __init__(self, config: PhonemicBertConfig) -> None:
        super().__init__(config)
        self.bert = self.encoder_class(config)
        self.post_init()
