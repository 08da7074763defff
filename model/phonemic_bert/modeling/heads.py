"""What H-MLM predicts with: three independent heads (the paper), or one choice among all triples."""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional
from transformers.models.bert.modeling_bert import BertPredictionHeadTransform

from phonemic_bert.configuration import COMPONENTS, PhonemicBertConfig
from phonemic_bert.modeling.composition import Composing, TripleList, components, pack
from phonemic_bert.modeling.joint_scores import SyllableScores
from phonemic_bert.triples import last_of_packed


class Predicted:
    """What the independent heads say about some positions.

    Attributes:
        logits: of onset, rime and tone, (..., V) each.
    """

    def __init__(self, logits: tuple[Tensor, ...]) -> None:
        self.logits = logits

    @property
    def device(self) -> torch.device:
        """Where the predictions are."""
        return self.logits[0].device

    def log_probabilities(self, packed: Tensor) -> Tensor:
        """How likely each of K triples is, at every position: (K,) to (..., K), nats, at least float32."""
        logs = [_precise(part).log_softmax(-1) for part in self.logits]
        return _gathered(logs, components(packed))

    def losses(self, labels: Tensor) -> Tensor:
        """The negative log-probability of one triple at each position: (...) to (...), nats, at least float32."""
        aims = components(labels.long()).unbind(-1)
        pairs = zip(self.logits, aims, strict=True)
        return sum(functional.cross_entropy(_precise(part), aim, reduction="none") for part, aim in pairs)  # type: ignore[return-value]

    def best(self) -> Tensor:
        """The likeliest triple at each position, (...), packed."""
        return pack(torch.stack([part.argmax(-1) for part in self.logits], dim=-1))


class IndependentHeads(nn.Module):
    """Three heads that know nothing of each other, each over the whole vocabulary (equation 7 of the paper).

    A tied joint head (:class:`JointHead`) has the embeddings' in their place.
    """

    def __init__(self, config: PhonemicBertConfig) -> None:
        super().__init__()
        if config.vectors == "tied":
            return
        self.onset = nn.Linear(config.hidden_size, config.vocab_size)
        self.rime = nn.Linear(config.hidden_size, config.vocab_size)
        self.tone = nn.Linear(config.hidden_size, config.vocab_size)

    def forward(self, hidden: Tensor) -> Predicted:
        """Hidden states (..., d) to what they predict."""
        return Predicted((self.onset(hidden), self.rime(hidden), self.tone(hidden)))


class JointlyPredicted(Predicted):
    """What the joint head says about some positions.

    The probability of a triple is that of its row in the list, plus, where its last symbol ends no syllable, that of
    the class outside times the product of the three heads' (the tone's is among such symbols). So the probabilities of
    all triples, in the list or not, add up to 1.

    Arguments:
        listed: the list of S triples, its last F those of the fallback characters.
        syllables: what the scores of the other S - F are made of, of M positions.
        characters: the scores of those F, (M, F).
        outside: the score of the class outside, (M,).
        heads: log-probabilities of onset, rime and tone outside, (M, V) each.
        shape: of what was asked about, M positions in all.
    """

    def __init__(
        self,
        listed: TripleList,
        syllables: SyllableScores,
        characters: Tensor,
        outside: Tensor,
        heads: list[Tensor],
        shape: torch.Size,
    ) -> None:
        self.listed, self.syllables, self.characters, self.shape = listed, syllables, characters, shape
        self._outside, self._heads = outside, heads

    @property
    def device(self) -> torch.device:
        """Where the predictions are."""
        return self._outside.device

    @cached_property
    def _logs(self) -> tuple[Tensor, Tensor]:
        """Log-probabilities of the triples of the list (M, S), and of the class outside (M,)."""
        rows = torch.cat([self.syllables.all(), self.characters, self._outside[:, None]], dim=-1).log_softmax(-1)
        return rows[:, :-1], rows[:, -1]

    @property
    def logits(self) -> tuple[Tensor, ...]:  # type: ignore[override]
        """Log-probabilities of onset, rime and tone: sums over all triples, (..., V) each."""
        rows, outside = self._logs
        syllables, symbols = rows.exp().split((rows.shape[1] - self.characters.shape[1], self.characters.shape[1]), -1)
        grid = syllables.unflatten(-1, (-1, len(self.listed.pairs)))
        summed = (grid.sum(-2), grid.sum(-2), grid.sum(-1))
        ids = (*self.listed.pairs.unbind(-1), self.listed.tones)
        totals = [(head + outside[:, None]).exp() for head in self._heads]
        totals = [total.index_add(-1, at, part) for total, at, part in zip(totals, ids, summed, strict=True)]
        totals = [total.index_add(-1, self.listed.symbols, symbols) for total in totals]
        return tuple(total.log().view(*self.shape, total.shape[1]) for total in totals)

    def log_probabilities(self, packed: Tensor) -> Tensor:
        """As of :class:`Predicted`."""
        rows, outside = self._logs
        at = self.listed.rows(packed)
        inside = rows[:, at.clamp(min=0)].masked_fill(at < 0, -torch.inf)
        found = torch.logaddexp(inside, outside[:, None] + _gathered(self._heads, components(packed)))
        return found.view(*self.shape, len(packed))

    def losses(self, labels: Tensor) -> Tensor:
        """As of :class:`Predicted`; the scores of a few positions at a time are computed for it."""
        flat = labels.flatten()
        at, count = self.listed.rows(flat), self.listed.count - self.characters.shape[1]
        is_syllable, is_character = (at >= 0) & (at < count), at >= count
        total, syllable = self.syllables.normalized(at.where(is_syllable, 0))
        character = self.characters.gather(1, (at - count).where(is_character, 0)[:, None])[:, 0]
        inside = torch.where(is_character, character, syllable).masked_fill(at < 0, -torch.inf)
        # By twos: torch 2.13 compiles the gradient of a logsumexp over a stack of three to something else.
        total = torch.logaddexp(torch.logaddexp(total, self.characters.logsumexp(-1)), self._outside)
        aims = components(flat.long()).unbind(-1)
        parts = [head.gather(1, aim[:, None])[:, 0] for head, aim in zip(self._heads, aims, strict=True)]
        likely = torch.logaddexp(inside, self._outside + torch.stack(parts).sum(0)) - total
        return -likely.view(labels.shape)

    def best(self) -> Tensor:
        """The likeliest triple, of the list or outside it, at each position, (...), packed."""
        rows, outside = self._logs
        score, row = rows.max(-1)
        elsewhere = outside + torch.stack([head.amax(-1) for head in self._heads]).sum(0)
        other = pack(torch.stack([head.argmax(-1) for head in self._heads], dim=-1))
        return torch.where(score >= elsewhere, self.listed.packed[row], other).view(self.shape)


class JointHead(IndependentHeads):
    """One softmax over all triples that can occur, and a class for those that only packed fallbacks put together.

    A triple's score is the dot product of a position's state and the triple's vector, which is composed as embeddings
    are: a sum of three vectors (those of the three heads) and a product of three, A[onset] * B[rime] * C[tone]. The
    vectors of syllables are never made: the state times C of each tone meets those of the pairs. With free vectors,
    which begin at 0, they are.

    Tied, a triple's vector is its embedding (but for the projection's bias, which is the same for all), and the head
    has no vectors but only biases: what a syllable is read as and predicted as is learned once.
    """

    ends: Tensor

    def __init__(self, config: PhonemicBertConfig) -> None:
        super().__init__(config)
        shape = (len(COMPONENTS), config.vocab_size)
        self.is_tied = config.vectors == "tied"
        if self.is_tied:
            self.biases = nn.Parameter(torch.zeros(shape))
        else:
            self.tables = nn.Parameter(torch.empty(*shape, config.hidden_size))
        self.transform = BertPredictionHeadTransform(config)
        self.listed = TripleList(config.lang)
        self.size = config.initializer_range
        self.syllables = self.listed.count - len(self.listed.symbols)
        is_free = config.vectors == "free"
        self.free = nn.Parameter(torch.zeros(self.syllables, config.hidden_size)) if is_free else None
        self.outside = nn.Linear(config.hidden_size, 1)
        self.register_buffer("ends", torch.from_numpy(last_of_packed(config.lang)), persistent=False)

    def reset_parameters(self) -> None:
        """Draws first weights."""
        if self.is_tied:
            nn.init.zeros_(self.biases)
        else:
            nn.init.normal_(self.tables, std=self.size)
        if self.free is not None:
            nn.init.zeros_(self.free)

    def reset_buffers(self) -> None:
        """Fills the buffers again, which transformers leaves empty when it loads weights."""
        self.ends.copy_(torch.from_numpy(last_of_packed(self.listed.lang)))

    def forward(self, hidden: Tensor, embeddings: Composing | None = None) -> JointlyPredicted:
        """Hidden states (..., d) to what they predict.

        Arguments:
            hidden: the states.
            embeddings: whose vectors a tied head has.
        """
        state = self.transform(hidden.reshape(-1, hidden.shape[-1]))
        vectors = self._own() if embeddings is None else self._of(embeddings)
        onsets, rimes = self.listed.pairs.unbind(-1)
        symbols, tones = self.listed.symbols, self.listed.tones
        onset, rime, tone = vectors.tables
        weights, biases = vectors.weights, vectors.biases
        heads = [_precise(functional.linear(state, *head)) for head in zip(weights, biases, strict=True)]

        pairs = functional.linear(state, weights[0][onsets] + weights[1][rimes], biases[0][onsets] + biases[1][rimes])
        products, of_pairs, of_tones = onset[onsets] * rime[rimes], _precise(pairs), heads[2][:, tones]
        turned = state if vectors.turn is None else state @ vectors.turn
        of_characters = functional.linear(turned, onset[symbols] * rime[symbols] * tone[symbols])
        if vectors.more is None:
            syllables = SyllableScores(turned[:, None] * tone[tones], products, of_pairs, of_tones)
        else:
            made = (tone[tones][:, None] * products).flatten(0, 1)
            made = made if vectors.turn is None else functional.linear(made, vectors.turn)
            biases_of_all = (of_pairs[:, None] + of_tones[..., None]).flatten(1)
            own = made + vectors.more[: self.syllables]
            syllables = SyllableScores(state[:, None], own, biases_of_all, torch.zeros_like(of_tones[:, :1]))
            if len(vectors.more) > self.syllables:
                of_characters = of_characters + functional.linear(state, vectors.more[self.syllables :])
        characters = _precise(of_characters) + torch.stack([head[:, symbols] for head in heads]).sum(0)

        heads[2] = heads[2].masked_fill(~self.ends, -torch.inf)
        outside = _precise(self.outside(state))[:, 0]
        apart = [head.log_softmax(-1) for head in heads]
        return JointlyPredicted(self.listed, syllables, characters, outside, apart, hidden.shape[:-1])

    def _own(self) -> TripleVectors:
        heads = (self.onset, self.rime, self.tone)
        weights, biases = tuple(head.weight for head in heads), tuple(head.bias for head in heads)
        # as :class:`phonemic_bert.modeling.composition.Product` has them
        onset, rime, tone = self.tables / self.size
        return TripleVectors(weights, biases, (onset, rime, tone * self.size), None, self.free)

    def _of(self, embeddings: Composing) -> TripleVectors:
        product, table = embeddings.product, embeddings.table
        assert product is not None
        parts = embeddings.projection.weight.chunk(len(COMPONENTS), dim=1)
        weights = tuple(functional.linear(embeddings.word_embeddings.weight, part) for part in parts)
        tables = tuple(product.tables / product.size)
        more = None if table is None else table.vectors
        return TripleVectors(weights, tuple(self.biases), tables, product.projection.weight, more)


class TripleVectors(NamedTuple):
    """What the vectors of triples are made of: weights[onset] + weights[rime] + weights[tone] + turn(product) + more.

    Attributes:
        weights: of onsets, rimes and tones, (V, d) each.
        biases: of their scores, (V,) each.
        tables: A, B and C, whose rows are multiplied, (V, d) each.
        turn: what the product is multiplied with, (d, d); None: nothing.
        more: what is added for each syllable of the list, and perhaps for each fallback character behind them, (S, d).
    """

    weights: tuple[Tensor, ...]
    biases: tuple[Tensor, ...]
    tables: tuple[Tensor, ...]
    turn: Tensor | None
    more: Tensor | None


def _gathered(logs: list[Tensor], parts: Tensor) -> Tensor:
    """The sum of three log-probabilities, (..., V) each, for K triples of component ids (K, 3): (..., K)."""
    return torch.stack([log[..., ids] for log, ids in zip(logs, parts.unbind(-1), strict=True)]).sum(0)


def _precise(logits: Tensor) -> Tensor:
    return logits.to(torch.promote_types(logits.dtype, torch.float32))
