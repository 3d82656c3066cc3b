# ruff: noqa: E501 - a pattern cut in pieces is read wrongly
"""Find a letter by its manners: whom it greets, and who signs it. Its writer is another than who pasted it.

A greeting alone is none, since people greet an assistant, and name it; nor is a letter to the assistant.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from mnemic.extract.chinese import NAME, SURNAMES
from mnemic.extract.speakers import is_machine

if TYPE_CHECKING:
    from collections.abc import Iterator

_DEAR: Final = r"dear(?:est)?|my dear(?:est)?|liebe[rs]?|liebste[rs]?|sehr geehrte[rs]?|werte[rs]?|ch[eè]re?s?|querid[oa]s?|estimad[oa]s?|apreciad[oa]s?|prezad[oa]s?|car[oaie]|carissim[oa]|gentile|egregio|beste|geachte|lieve|kära|kjære|kære|szanown[yai]|drog[iay]|дорог\w{2}|уважаем\w{2}"
_HI: Final = r"hi|hello|hey|hiya|good (?:morning|afternoon|evening|day)|greetings|hallo|guten (?:tag|morgen|abend)|moin|bonjour|salut|hola|buen[oa]s (?:d[ií]as|tardes)|ol[áa]|oi|ciao|buongiorno|hej|hei|cześć|привет|здравствуйте"
_NAMED: Final = r"(?P<whom>[^\s,;:!?，：！][^,;:!?\n，：！]{0,50}?)"
_GREETING: Final = re.compile(
    rf"[ \t]*+[*_]{{0,2}}(?:(?P<dear>{_DEAR})|{_HI})[ \t]+{_NAMED}[*_]{{0,2}}[ \t]*+(?:[,;:!，：！.–—-]+(?:[ \t]+|$)|$)"
    r"|[ \t]*+(?P<formal>to whom it may concern|dear (?:sir|madam|sirs)[^,:\n]{0,30}|sehr geehrte damen und herren|madame, monsieur|a quien corresponda)"
    rf"|[ \t]*+(?P<chinese>亲爱的|尊敬的|敬爱的|致)(?P<to>[^，,：:！!\n]{{1,20}})[，,：:！!]|[ \t]*+(?P<known>(?:{NAME}|[{SURNAMES}小老阿][\u4e00-\u9fff]{{0,2}}(?:先生|女士|老师|总|经理|同学|师傅|哥|姐)?))(?:[，,]?[您你]好)?[，,：:！!]",
    re.IGNORECASE,
)
_CLOSING: Final = (
    r"(?:with |and )?(?:(?:my|our|many|best|kind(?:est)?|warm(?:est)?|all|the|very|good|lots? of|much|a|big|sending|yours|most|see you|talk|speak) ?){0,3}(?:regards|wishes|greetings|thanks|love|hugs?|kisses|sincerely|faithfully|truly|cordially|respectfully|affectionately|best|ever|cheers|soon|later|care|tomorrow|kind)"
    r"|sincerely(?: yours)?|yours|cheers|best|love|take care|x{1,3}o?x?o?|thanks(?: in advance| again| a lot| so much)?|thank you(?: very much| so much| in advance)?|rgds|br|kr|ta"
    r"|(?:viele|liebe|beste|herzliche|schöne|freundliche|mit (?:freundlichen|besten|lieben|herzlichen)) gr(?:ü|ue)(?:ß|ss)en?|gruß|grüße|hochachtungsvoll|alles (?:liebe|gute)|dein[e]?|ihre?|lg|vg|mfg|bg"
    r"|(?:bien )?cordialement|bien à (?:vous|toi)|amicalement|amitiés|bises|bisous|salutations(?: distinguées)?|respectueusement|je vous prie d[^\n,]{0,80}"
    r"|(?:un |muchos |cordiales |atentos )?(?:saludos?|abrazos?|besos?)(?: cordiales?)?|atentamente|cordialmente|con cariño|atenciosamente|(?:um |grande )?abraços?|cumprimentos|com os melhores cumprimentos|beijos?|obrigad[oa]"
    r"|(?:cordiali |distinti |cari )?saluti|un (?:caro )?(?:saluto|abbraccio)|baci|grazie|(?:met )?(?:vriendelijke |hartelijke |de )?groet(?:en|jes)?|(?:med )?(?:vänlig|venlig|vennlig|bästa)[ea]? (?:hälsning(?:ar)?|hilsen)|pozdrawiam|z poważaniem|с уважением|всего доброго|целую"
    r"|此致|敬礼|祝好|顺颂[^\n]{1,6}|顺祝[^\n]{1,6}|敬上|谨上|祝(?:您|你)?[^\n，,。]{1,8}|谢谢|多谢|盼复|你的朋友|爱你的"
)
_SIGNED: Final = r"[-–—~]{0,2}[ \t]?(?:(?:[A-Z\u00c0-\u00dd\u0410-\u042f]|(?:your|the|dein|deine|ihre?|von|van|de|da)\b )[\w'’.-]{0,30}(?:[ \t]+(?:[A-Z\u00c0-\u00dd\u0410-\u042f&]|of|de|van|von|da|the)[\w'’.-]{0,30}){0,4}|[Yy]our [a-z]+(?: [a-z]+)?|[\u4e00-\u9fff]{1,8}(?:敬上|谨上|上|启)?)"
_SIGN_OFF: Final = re.compile(
    rf"[ \t*_]*+(?i:{_CLOSING})[ \t*_]*+[,;:!.，！。–—-]*[ \t*_]*+(?:$|(?P<who>{_SIGNED})[ \t.!*_]*+$)"
)
_SIGN_OFF_WITHIN: Final = re.compile(
    rf"(?:[.!?…–—。！])[ \t]+(?i:{_CLOSING})[ \t]*+[,!–—，]*[ \t]*+{_SIGNED}[ \t.!]*+$"
)
_SIGNATURE: Final = re.compile(rf"[ \t*_]*+{_SIGNED}[ \t.*_]*+$")
_TAIL: Final = 120
"""Characters of a line, from its end, in which who ends it is looked for."""
_ASSISTANT: Final = re.compile(
    r"(?:there|again|you|all good|buddy|friend|my friend|mate|dear|ai|bot|computer|robot|genius|everything|memory|mnemic|assistant|coach|"
    r"你|您|助手|朋友|小助手|ai)",
    re.IGNORECASE,
)
"""Words with which people greet an assistant that has no name."""
_PERSON: Final = re.compile(
    r"(?!I\b)[^\W\d_a-z]|(?i:mr|mrs|ms|dr|prof|team|all|both|everyone|everybody|folks|friends?|guys|ladies|colleagues?|customers?|clients?|members?|neighbou?rs?|parents?|students?|staff|sir|madam|mum|mom|dad|daddy|sis|bro|grandma|grandpa|auntie?|uncle|valued|fellow|hiring|frau|herr|señor\w*|madame|monsieur|love|darling|sweetie|honey)\b"
)
"""How the name of whom a letter greets begins."""
_GREETS: Final = re.compile(
    rf"(?:^|\n)[ \t]*+[*_]{{0,2}}(?:(?:{_DEAR}|{_HI})\b|to whom|sehr|madame|a quien|亲爱|尊敬|敬爱|致|[\u4e00-\u9fff]{{1,6}}(?:[，,]?[您你]好)?[，,：:！!])",
    re.IGNORECASE,
)
"""Without one of these at the beginning of a line no letter begins."""
_LINE: Final = re.compile(r"[^\n]*+(?:\n|\Z)")


_COURTESY: Final = re.compile(
    rf"(?:\s*+(?i:(?:{_HI})(?:,?[ \t]+(?:{_ASSISTANT.pattern}))?|{_CLOSING}|(?:good)?bye(?:[ -]bye)?|good night|[您你]好)[ \t]*+(?:[,;:!.…，！。–—-]++|$))++\s*+"
)


def is_courtesy(text: str) -> bool:
    """Whether a text is a greeting, a farewell or thanks, and nothing besides."""
    return _COURTESY.fullmatch(text) is not None


def may_greet(text: str) -> bool:
    """Whether any line of a text begins with a greeting, without which there is no letter in it."""
    return _GREETS.search(text) is not None


def signed_letters(text: str) -> Iterator[tuple[int, int]]:
    """Where a letter to somebody begins that somebody signs; it reaches to the end of the text."""
    if not may_greet(text):
        return
    begin: int | None = None
    is_dear = is_closed = below_blank = False
    last = ""
    for line in _LINE.finditer(text):
        shown = line[0].rstrip("\n")
        if begin is None:
            greeting = _GREETING.match(shown)
            if greeting is None or not _greets_another(greeting):
                continue
            begin, is_dear = line.start(), greeting["whom"] is None or greeting["dear"] is not None
            shown = shown[greeting.end() :]
        if not shown.strip():
            below_blank = True
            continue
        closing = _SIGN_OFF.match(shown)
        if (
            (is_closed and _SIGNATURE.match(shown))
            or (closing is not None and closing["who"])
            or _SIGN_OFF_WITHIN.search(shown[-_TAIL:])
        ):
            yield begin, len(text)
            return
        is_closed, last, below_blank = closing is not None, shown if below_blank else "", False
    if begin is not None and is_dear and (is_closed or _SIGNATURE.match(last)):
        yield begin, len(text)


def _greets_another(greeting: re.Match[str]) -> bool:
    """Whether a greeting names somebody else than the assistant."""
    if greeting["formal"]:
        return True
    whom = (greeting["whom"] or greeting["to"] or greeting["known"]).strip(" *_")
    if not whom or is_machine(whom) or _ASSISTANT.fullmatch(whom):
        return False
    return greeting["whom"] is None or (len(whom.split()) <= 5 and _PERSON.match(whom) is not None)
