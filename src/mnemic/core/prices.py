"""What models cost, as their user says: a price is never guessed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from mnemic.errors import Invalid

_REMEDY: Final = (
    "A line for each model, or lines with ';' between them: its name, what a million tokens of prompts cost, what a "
    "million of answers, and the currency, such as `gpt-5.4-mini 0.25 2 USD`."
)


@dataclass(frozen=True, slots=True)
class Price:
    """The price of a million tokens of prompts, and of a million of answers."""

    prompt: float
    answer: float
    currency: str

    def of(self, prompt_tokens: int, answer_tokens: int) -> float:
        """Compute what so many tokens cost."""
        return (self.prompt * prompt_tokens + self.answer * answer_tokens) / 1e6


def read_prices(said: str) -> dict[str, Price]:
    """Read the setting `prices`: prices, or the file that they stand in.

    Raises:
        Invalid: it is neither.
    """
    lines = said.split(";")
    if said and len(lines) == 1 and len(said.split()) != 4:
        try:
            lines = Path(said).expanduser().read_text(encoding="utf-8").splitlines()
        except (OSError, ValueError) as error:
            raise Invalid("prices", f"{said!r} is no price, and no file that can be read", _REMEDY) from error
    lines = [line.partition("#")[0].strip() for line in lines]
    return dict(_price(line) for line in lines if line)


def _price(line: str) -> tuple[str, Price]:
    try:
        model, prompt, answer, currency = line.split()
        price = Price(float(prompt), float(answer), currency)
    except ValueError as error:
        raise Invalid("prices", f"{line!r} is no price", _REMEDY) from error
    if not (0 <= price.prompt < float("inf") and 0 <= price.answer < float("inf")):
        raise Invalid("prices", f"{line!r} is no price", _REMEDY)
    return model, price


def price_of(model: str, prices: Mapping[str, Price]) -> Price | None:
    """Find the price of a model by its whole name (`openai:MODEL@URL`), or by what its endpoint calls it."""
    own = model.partition(":")[2].partition("@")[0]
    return prices.get(model) or prices.get(own)
