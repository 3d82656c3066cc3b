# ruff: noqa: E501 - a pattern cut in pieces is read wrongly
"""Find where somebody else's letter begins in a text: the headers of mail, lines of reply, forwarded messages.

Headers are told by their build more than by their words: lines of a label and a value one after the other, of which one
names what mail programs of some twenty languages write, or carries an address or an hour.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

_HEADS_WORDS: Final = """
from to subject sent cc bcc reply-to von an betreff gesendet kopie absender empfänger objet envoyé expéditeur destinataire asunto enviado
enviada remitente destinatario para assunto remetente destinatário oggetto inviato mittente destinatari onderwerp verzonden afzender
aan от кому тема отправлено отправитель получатель копия temat wysłano nadawca ämne skickat från emne sendt fra aihe lähetetty
lähettäjä tárgy feladó címzett elküldve předmět odesláno odesílatel konu kimden kime gönderen gönderildi subiect trimis θέμα από προς
від кому надіслано naslov tiêu-đề
差出人 送信者 宛先 件名 送信日時 보낸-사람 보낸사람 받는-사람 받는사람 제목 보낸-날짜 참조 发件人 收件人 抄送 密送 主题 主旨 发送时间 發件人 收件人 寄件者 收件者 主旨 副本 發送時間
"""
_HEADS: Final = frozenset(word.replace("-", " ") for word in _HEADS_WORDS.split()) | {"reply-to"}
"""Labels that only mail has."""
_ALSO_HEADS_WORDS: Final = """
date de da à a al data fecha datum tema van do od till til pour le дата data dnia päivä dato tarih 日付 日時 日期 时间 時間 날짜
"""
_ALSO_HEADS: Final = frozenset(_ALSO_HEADS_WORDS.split())
"""Labels that mail has, and lists and forms have too."""
_CONTACTS_WORDS: Final = (
    "e-mail email mail contact phone tel web website address adresse correo courriel 邮箱 电邮 联系方式 地址"
)
_CONTACTS: Final = frozenset(_CONTACTS_WORDS.split())
"""Labels under which people give an address of their own."""
_LETTER: Final = 3
"""The weight from which lines of labels and values are the headers of a letter."""

_LABELLED: Final = re.compile(
    r"[ \t\xa0*_>#/|~`\"'‘“「-]*+(?:[\[(【][^\])】\n]{1,30}[\])】][*_]{0,2}[ \t]*+[*_]{0,2})?(?P<label>[^\s:：*_][^:：\n*_]{0,24})[*_]*+[ \t\xa0]{0,3}[:：](?P<value>[^\n]*+)"
)
_ADDRESS: Final = re.compile(r"[\w.+-]{1,64}@[\w-]{1,60}\.\w")
_NAMED_ADDRESS: Final = re.compile(r"[<\[(]\s?(?:mailto:)?[\w.+-]{1,64}@[\w-]{1,60}\.\w")
_HOUR: Final = re.compile(r"\d[^\n]{0,40}\b\d{1,2}[:.h]\d\d\b")
_FOLDED: Final = re.compile(r"[ \t]+\S")

_FORWARDED: Final = re.compile(
    r"[ \t]*+(?:"
    r"[-_=*—─]{2,}[ \t]*+[^\n]{0,40}?(?:original|forwarded|forward|begin|start of|weitergeleitet|ursprüngliche|transféré|d'origine|reenviado|encaminhada|inoltrato|doorgestuurd|oorspronkelijk|пересылаемое|転送|전달|原始邮件|原邮件|转发|开始|引用)[^\n]*+"
    r"|(?:[^\n]{0,40}?[\s:：])?(?:begin )?forwarded message|(?:fw|fwd|wg|tr|rv|enc|转发自?|轉寄|引用自?)\s{0,3}[:：]"
    r"|[(\[*_]{0,3}(?:fyi[,:. ]{0,3}|(?:(?:this|it) (?:is|was|got)|(?:a |an |the |this )?(?:e-?mail|mail|message|note|text|letter)|just|i(?:'m| am|'ve| have)?) )?(?:just )?forward(?:ed|ing) (?:you |this |it |to you ){0,2}(?:from|by|on behalf)\b"
    r"|[\[(【（]{0,2}(?:fwd(?:['’]?e?d)?(?![\w-])|fw(?=[ \t]*+(?:[:：\])]|from\b|by\b|message\b|msg\b)))"
    r"|[\[(【（]{0,2}(?:begin )?forward(?:ed|ing)?(?: (?:message|msg|mail|e-?mail|note|text|letter|post|chat|this|the (?:below|following)|below)){0,2}(?: (?:from|by|via|of|to you|on behalf)\b[^\n:：]{0,60})?[\])】）]?[ \t]*+(?:[:：]|$)"
    r"|(?:wg|tr|rv|weitergeleitet(?:e nachricht)?|transf[ée]r[ée]|transmis|reenviado|encaminhado|inoltrato|doorgestuurd|vidarebefordrat|videresendt|przekazane|переслано)(?: (?:von|vom|par|de|por|da|dal|van|door|från|fra|av|od|от)\b[^\n:：]{0,60})?[ \t\xa0]*+(?:[:：]|$)"
    r"|(?:转自|转载自?|摘自|引自|来自)[^\n，。,:：]{1,30}(?:[:：]|$)|[(\[（【]?[^\n，。,:：]{0,10}转发(?:的消息|的邮件|自)?[)\]）】]?[:：]|转[:：]"
    r"|(?:fyi[,:. ]{1,3}|via |by |from |per |(?:a )?(?:message|note|text|mail|e-?mail|word) from )(?!me\b|now|here|today|this|tomorrow|monday|tuesday|wednesday|thursday|friday|saturday|sunday|january|february|march|april|may|june|july|august|september|october|november|december|default|the|my|your|our|all|time)(?:from )?(?-i:[A-Z\u4e00-\u9fff])[\w'’.-]{0,30}(?: [\w'’.-]{1,30}){0,3}[:：][ \t]*+$"
    r"|\[forwarded|\[转发|【转发|（转发|转发自"
    r"|diff --git |@@ -\d)",
    re.IGNORECASE,
)
_MAY_FORWARD: Final = re.compile(
    r"[-_=*@]{2}|forward|fw|wg|tr(?=[\s\xa0:]|\Z|ans)|rv|weiterg|reenv|encam|inoltr|doorg|vid[ae]re|przek|diff --git"
)
"""Without one of these, a colon, or a letter of another script, no line says that it forwards something."""
_WROTE: Final = re.compile(
    r"(?:\b(?:wrote|schrieb(?:en)?|escribi[óo]|écrit|escreveu|ha scritto|schreef|написала?|пише[тш]|napisała?|skrev|kirjoitti|írta|napsala?|yazdı|έγραψε|a scris)\b"
    r"|書きました|書いています|のメール|작성|님이 쓴|写道)[^\n]{0,60}[:：]\W*$",
    re.IGNORECASE,
)
"""How mail programs end the line above a letter that is answered."""
_DEEPEST: Final = 3
"""Most labels before a header in its line."""
_TAIL: Final = 120
_BEFORE_WORDS: Final = re.compile(r"(?:[ \t\xa0/#|>~`\"'‘“「]|[\u2190-\u2bff\ufe0f\U0001f300-\U0001faff])*+")
"""Marks, arrows and pictures before the words of a line."""


@dataclass(slots=True)
class Headers:
    """Follows the lines of a text, and tells when those that stand together are the headers of a letter.

    Attributes:
        begin: Where the first of the lines that stand together begins.
    """

    begin: int = 0
    _weight: int = 0
    _lines: int = 0
    _known: bool = False

    def take(self, line: str, at: int) -> bool:
        """Take the next line, which begins at a place; return whether it makes a letter of those before it and itself."""
        labelled = _LABELLED.match(line)
        if labelled is None:
            if line.strip() and not (self._lines and _FOLDED.match(line)):
                self._lines = 0
            return False
        labelled = _innermost(line, labelled)
        label = _label_of(labelled)
        weight, known = _weight_of(label)
        if not self._lines:
            self.begin, self._weight, self._known = at, 0, False
        self._lines += 1
        self._weight += weight + _weight_of_value(label, labelled["value"])
        self._known = self._known or known
        return self._weight >= _LETTER and (self._lines > 1 or self._known)

    def end_block(self) -> None:
        """Take a blank line: what stands below it belongs to these headers only if they are known to be a letter's."""
        if not self._known:
            self._lines = 0


def _innermost(line: str, labelled: re.Match[str]) -> re.Match[str]:
    """The header that stands behind the labels of others in its line, "Bo: From: ..."; or the first label."""
    inner = labelled
    for _ in range(_DEEPEST):
        following = _LABELLED.match(line, inner.start("value"))
        if following is None:
            break
        if _label_of(following) in _HEADS:
            return following
        inner = following
    return labelled


def _label_of(labelled: re.Match[str]) -> str:
    return labelled["label"].strip(" \t\xa0\"'").lower()


def _weight_of(label: str) -> tuple[int, bool]:
    if label in _HEADS:
        return 2, True
    return (1, True) if label in _ALSO_HEADS else (0, False)


def _weight_of_value(label: str, value: str) -> int:
    """How much a value speaks for a letter: somebody's name with an address most, an hour least."""
    if label in _CONTACTS:
        return 0
    if "@" in value:
        return 3 if _NAMED_ADDRESS.search(value, 0, _TAIL) else 2 * (_ADDRESS.search(value, 0, _TAIL) is not None)
    return int(label in _ALSO_HEADS and _HOUR.search(value, 0, _TAIL) is not None)


def is_header(line: str) -> bool:
    """Whether a line is a header of mail by its label alone."""
    labelled = _LABELLED.match(line)
    return labelled is not None and _label_of(labelled) in _ALONE


_ALONE_WORDS: Final = "date 时间 日期"
_ALONE: Final = _HEADS | frozenset(_ALONE_WORDS.split())


def begins_letter(line: str) -> bool:
    """Whether what follows a line is somebody's letter: it says so itself, or is one of a mail program's."""
    if ":" in line or not line.isascii() or _MAY_FORWARD.search(line.lower()) is not None:
        before = _BEFORE_WORDS.match(line)
        if _FORWARDED.match(line, before.end() if before else 0):
            return True
    tail = line[-_TAIL:]
    if not tail.rstrip(" *_\t").endswith((":", "：")):
        return False
    return _WROTE.search(tail) is not None or _ADDRESS.search(tail) is not None or _DATED.search(tail) is not None


_DATED: Final = re.compile(
    r"(?:\b(?:19|20)\d\d\b|\d{1,2}[./]\d{1,2}[./]\d\d)[^\n]{0,40}\b\d{1,2}[:.h]\d\d\b[^\n]{0,60}[:：]\W*$"
)
