"""Woven memory: what was learnt is made into K latent tokens behind a question, when a trigger calls for them.

    z = w · mean_t n(h_t) + b                    trigger: h, the reasoner's states of what is said; weave iff z > 0
    M = what the weaver makes of x               K latents; `memgen_weaver` has its equations, and how it learns
    y ~ π_θ([emb(x) ; M ; emb(y)])               reasoner: frozen; without M it is the bare model, to the bit

    label of the trigger = +1 where M saves more of the answer's loss than weaving costs, else −1; least squares with
                           a ridge, in closed form. Of prompts without an experience the bare model's answer counts

n divides by the root mean square; h is taken where latents are inserted, and without what all prompts begin with.

Source: Zhang et al., MemGen, arXiv:2509.24704, and its repository. What we do otherwise: the weaver's adapters change
what the K latents make of the text, not the text's own states (theirs run the text through the adapters again); the
trigger has no adapters, and learns from both actions tried on every text in the place of GRPO, which samples one; the
weaver learns by SFT, at the end of the question alone; Q is the same there and behind a delimiter of the answer.
Latents go in before an upper layer, so that training runs only what is above; `first=0` is the paper's place.
Shapes: B rows, N texts, T time, K latents, D width, V vocabulary, r rank.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import ClassVar, Final

import torch
from torch import Tensor

from mnemic.errors import DamagedState, Invalid
from mnemic.neural import shards
from mnemic.neural.base import Family, Identity, State, settings_digest, source_digests
from mnemic.neural.gguf_weights import TextModel
from mnemic.neural.memgen_weaver import UNTOLD, MemGenSettings, Progress, Weaver, heard

DELIMITERS: Final = (".", ",", "!", "?", ":", ";", "\n")
"""Behind which the trigger is asked while the reasoner speaks; it is asked first at the end of the question."""

_ANSWER: Final = 10
"""Most tokens of what the bare model answers to `UNTOLD`, while the trigger learns."""


@dataclass(frozen=True, slots=True)
class Experience:
    """Something to be answered from what was learnt.

    Attributes:
        id: Says which shard it lies in.
        prompts: Ways to ask for it, in the user's words.
        answer: What the assistant then says.
        others: Prompts like these that are to be answered as before.
        sources: What it was read from.
    """

    id: str
    prompts: tuple[str, ...]
    answer: str
    others: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Continuation:
    """What the reasoner says behind a prompt.

    Attributes:
        tokens: Without the prompt, and without latents.
        woven: Before which of them latents were inserted, and of which shard.
        length: Positions that the model has run: the prompt's, the latents' and the tokens'.
    """

    tokens: tuple[int, ...]
    woven: tuple[tuple[int, int], ...]
    length: int


class MemGen:
    """Experiences as a weaver and its trigger. A state holds for each shard what its weaver has learnt, the trigger's
    `weight` (D,) and `offset` (1,), a digest of what is `learnt`, and digests of its `sources`. No experience is in it
    as such: it stays as large as it is."""

    family: ClassVar[Family] = Family.PARAMETER
    bounded: ClassVar[bool] = True

    def __init__(self, model: TextModel, settings: MemGenSettings | None = None) -> None:
        self.model, self.settings = model, settings or MemGenSettings()
        self.weaver = Weaver(model, self.settings)
        self._delimiters = {ids[0] for text in DELIMITERS if len(ids := model.ids(text)) == 1}

    @cached_property
    def identity(self) -> Identity:
        """Whose its weavers are."""
        digest = settings_digest(self.settings)
        return Identity("memgen", self.model.decoder.digest, self.model.tokenizer_digest, digest)

    @property
    def weights(self) -> Mapping[str, Tensor]:
        """The model's own."""
        return self.model.decoder.weights

    def empty(self) -> State:
        """Nothing is woven in."""
        return {}

    @property
    def size(self) -> int:
        """How many numbers of a shard are learnt."""
        return sum(map(prod, self._form.values()))

    def shard_of(self, experience: str) -> int:
        """The number of the shard in which an experience of this id lies."""
        return shards.shard_of(experience, self.settings.shards)

    def shards(self, state: State) -> list[int]:
        """The numbers of the shards that are learnt."""
        return shards.numbers(state)

    def write(self, given: Sequence[Experience], state: State, progress: Progress | None = None) -> State:
        """Learn all experiences that are to be known: shards of which nothing has changed stand, others learn anew.

        Raises:
            Invalid: one has no prompt or no answer, two have one id or one prompt, or learning diverged; nothing is
                changed.
            TooLarge: there are more experiences than a shard takes.
        """
        _check(given)
        made: dict[int, State] = {}
        ordered = sorted(given, key=lambda experience: experience.id)
        lying = shards.lying(ordered, self.settings.shards, self.settings.experiences_limit, "experiences")
        for number, there in lying.items():
            said = [[one.id, one.prompts, one.answer, one.others, sorted(one.sources)] for one in there]
            learnt, part = shards.digest(said), shards.part(state, number)
            if not part or not torch.equal(part["learnt"], learnt):
                sources = source_digests(source for one in there for source in one.sources)
                part = {**self._learn(there, number, progress), "learnt": learnt, "sources": sources}
            made[number] = part
        return shards.whole(made)

    def read(self, asked: Tensor, state: State) -> Tensor:
        """Logits (B, T, V): at each position of what follows if a prompt ends there, with latents if called for."""
        with torch.inference_mode():
            h, past, below = self.weaver.run(self.model.decoder.embed(asked))
            logits = self.model.decoder.head(h)
            skipped = torch.tensor([self.weaver.unspoken(row) for row in asked.tolist()])
            for row, t, shard in self._called(*heard(below, skipped), state):
                before = [
                    (k[row : row + 1, :, : t + 1], v[row : row + 1, :, : t + 1]) for k, v in past[self.weaver.place :]
                ]
                h, _ = self.weaver.upper(self.weaver.woven(shards.part(state, shard), before), before)
                logits[row, t] = self.model.decoder.head(h[0, -1])
            return logits

    def called(self, prompt: Sequence[int], state: State) -> int | None:
        """The shard that is woven in behind a prompt's tokens; None where the bare model answers."""
        if not state or not prompt:
            return None
        with torch.inference_mode():
            below, _ = self.model.decoder.run(
                self.model.decoder.embed(self.model.batch(prompt)), last=self.weaver.place
            )
            return self._surest(below, prompt, state)

    def generate(
        self, prompt: Sequence[int], state: State, limit: int, ends: Collection[int] = ()
    ) -> Continuation:  # fmt: skip
        """Say the likeliest token each time until one of `ends` or the limit, with latents where called for."""
        decoder, tokens, woven = self.model.decoder, list[int](), list[tuple[int, int]]()
        with torch.inference_mode():
            h, past, below = self.weaver.run(decoder.embed(self.model.batch(prompt)))
            shard = self._surest(below, prompt, state)
            while True:
                if shard is not None:
                    woven.append((len(tokens), shard))
                    above = past[self.weaver.place :]
                    h, above = self.weaver.upper(self.weaver.woven(shards.part(state, shard), above), above)
                    past = [*past[: self.weaver.place], *above]
                token = int(decoder.head(h[:, -1]).argmax(-1))
                if token in ends:
                    break
                tokens.append(token)
                if len(tokens) >= limit:
                    break
                h, past, more = self.weaver.run(decoder.embed(torch.tensor([[token]])), past)
                below = torch.cat((below, more), 1)
                at_place = token in self._delimiters and len(woven) < self.settings.insertions
                shard = self._surest(below, prompt, state) if at_place else None
        return Continuation(tuple(tokens), tuple(woven), past[-1][0].shape[2])

    def answer(self, question: str, state: State, limit: int = 16) -> str:
        """What the model says to a user's question."""
        prompt = self.model.prompt(("user", question))
        return self.model.answer(list(self.generate(prompt, state, limit, {self.model.end}).tokens))

    def forget(self, sources: Collection[str], state: State) -> State:
        """Drop every shard that one of these sources has a part in; `write` learns it again from what is left."""
        return shards.without(state, sources)

    def _called(self, means: Tensor, counted: Tensor, state: State) -> list[tuple[int, int, int]]:
        """Where latents are called for, and whose: row, position, shard; never where nothing has been heard."""
        if not state:
            return []
        numbers = self.shards(state)
        parts = [self._verified(state, number) for number in numbers]
        surest, which = torch.stack([means @ part["weight"] + part["offset"] for part in parts]).max(0)  # (B, T)
        where = ((surest > 0) & counted).nonzero().tolist()
        return [(row, t, numbers[int(which[row, t])]) for row, t in where]

    def _surest(self, below: Tensor, prompt: Sequence[int], state: State) -> int | None:
        """The shard that is woven in behind the last position of one row."""
        means, counted = heard(below, torch.tensor([self.weaver.unspoken(prompt)]))
        called = self._called(means[:, -1:], counted[:, -1:], state)
        return called[0][2] if called else None

    @property
    def _form(self) -> dict[str, tuple[int, ...]]:
        """The shape of each tensor of a shard that is learnt."""
        return {**self.weaver.form, "weight": (self.model.decoder.shape.width,), "offset": (1,)}

    def _verified(self, state: State, number: int) -> State:
        part, wanted = shards.part(state, number), self._form
        if {name: tuple(part[name].shape) for name in wanted if name in part} != wanted:
            raise DamagedState("a weaver is of another form than this model's. Learn it again.")
        if not all(part[name].isfinite().all() for name in wanted):
            raise DamagedState("a weaver holds what is no number. Learn it again.")
        return part

    def _learn(self, experiences: Sequence[Experience], number: int, progress: Progress | None) -> State:
        """One shard: the weaver first, then, with the weaver as it is, the trigger."""
        prompts = [self.model.prompt(("user", text)) for one in experiences for text in one.prompts]
        said = [[*self.model.ids(one.answer), self.model.end] for one in experiences for _ in one.prompts]
        taught = self.weaver.run_texts(prompts, said)
        with torch.enable_grad():
            weaver = self.weaver.trained(taught, number, progress)
        beside = self.weaver.run_texts(*self.beside(experiences))
        texts, saved = [taught, beside], [self.weaver.saved(weaver, texts) for texts in (taught, beside)]
        label = torch.where(torch.cat(saved) > self.settings.cost, 1.0, -1.0)
        weight, offset = fitted(torch.cat([text.heard for text in texts]), label, self.settings.ridge)
        return {**weaver, "weight": weight, "offset": offset}

    def beside(self, experiences: Sequence[Experience]) -> tuple[list[list[int]], list[list[int]]]:
        """Prompts that nothing is taught about, those that experiences bring along and `UNTOLD`; and the bare model's
        answers."""
        asked = {text for one in experiences for text in one.prompts}
        others = dict.fromkeys((*(text for one in experiences for text in one.others), *UNTOLD[: self.settings.untold]))
        untold = [self.model.prompt(("user", text)) for text in others if text not in asked]
        bare = self.model.decoder.generate(untold, _ANSWER, frozenset({self.model.end}))
        return untold, [answer if len(answer) == _ANSWER else [*answer, self.model.end] for answer in bare]


def fitted(heard: Tensor, label: Tensor, ridge: float) -> tuple[Tensor, Tensor]:
    """A trigger's weight (D,) and offset (1,): least squares of labels (N,) over means (N, D), with a ridge."""
    center, middle = heard.mean(0), label.mean()
    x, y = (heard - center).double(), (label - middle).double()
    gram = x @ x.mT
    duals = torch.linalg.solve(gram + ridge * gram.diagonal().mean() * torch.eye(len(x)).double(), y)
    weight = (x.mT @ duals).to(heard.dtype)
    return weight, (middle - center @ weight).reshape(1)


def _check(given: Sequence[Experience]) -> None:
    """Refuse experiences that cannot be learnt together."""
    asked: dict[str, str] = {}
    if len({one.id for one in given}) < len(given):
        raise Invalid("experiences", "have one id twice", "Give each an id of its own.")
    for one in given:
        if not one.prompts or not one.answer.strip() or not all(map(str.strip, one.prompts)):
            raise Invalid("experiences", f"{one.id!r} has no prompt, or no answer", "Say what is asked and answered.")
        for prompt in one.prompts:
            if prompt in asked:
                problem = f"{asked[prompt]!r} and {one.id!r} are both asked {prompt!r}"
                raise Invalid("experiences", problem, "Give each prompt once, with the answer that holds now.")
            asked[prompt] = one.id
