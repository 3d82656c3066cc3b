"""Triples of a passage by rule, and besides: what it is called, or whoever speaks, is related to each name in it.

A graph of names alone finds most of what one of extracted relations does (HippoRAG, arXiv:2405.14831, does not read
predicates), and few sentences have two names with a verb between them: an encyclopaedia's say "he".
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from mnemic.core.uninterrupted import import_whole
from mnemic.strategies.knowledge import Passage, Passages, Triple
from mnemic.strategies.rules.triples import triples


def related_names(passages: Passages) -> tuple[Triple, ...]:
    """Find the triples of passages, in order; each states its sentence under the passage's speaker or name."""
    return tuple(replace(relation, source=place) for place, passage in enumerate(passages) for relation in _of(passage))


def _of(passage: Passage) -> Iterator[Triple]:
    import_whole("mnemic.extract.entities", "mnemic.extract.sentences")
    from mnemic.extract.entities import entities
    from mnemic.extract.sentences import written_sentences

    head = f"{passage.speaker}: " if passage.speaker else ""
    for triple in triples((passage,)):
        yield replace(triple, fact=head + triple.fact)
    for sentence in written_sentences(passage.text) if head else ():
        for name in dict.fromkeys(triple.name for triple in entities(sentence)):
            if name != passage.speaker:
                yield Triple(subject=passage.speaker, predicate="", object=name, fact=head + sentence, source=0)
