"""Tell the names of people from the names of models, tools and the parts that programs play in a conversation."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from mnemic.core.items import Slot

_WORD: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[^\W\d_A-Z]+|\d+")
_PARTS_WORDS: Final = """
action agent agents api app assistant automation automations backend bash bot bots browser callback chatbot chatbots
chatgpt cli code codex completion console context copilot crawler critic cron daemon database dev developer doc document
documents env environment execution executor file function functions gateway gpt import input interpreter ipython
javascript jupyter kernel knowledge llm llms log logger machine mcp memory middleware model monitor node notification
notifications observation observations openai orchestrator output outputs parser pipeline plugin plugins prompt python
rag repl result results retrieval retriever robot router runtime sandbox scheduler scraper script search server service
shell snippet sql stderr stdin stdout subagent supervisor sys system task terminal thought tool toolbox toolcall toolkit
toolmessage tools transcript trigger verifier webhook webpage website workflow
"""
_PARTS: Final = frozenset(_PARTS_WORDS.split())
"""Words of which one in a name is enough: no person is called so."""
_ENDINGS: Final = ("agent", "assistant", "gpt", "llm", "bot")
_SURNAMES_IN_BOT: Final = frozenset({"abbot", "talbot", "cabot", "gobot", "tarbot", "lambot", "rambot", "thibot"})
_MODELS_WORDS: Final = """
alexa bard bedrock bixby chatglm claude cohere command cortana dalle deepseek doubao ernie falcon gemini gemma glm grok
hunyuan kimi llama mistral mixtral minimax moonshot nova opus perplexity phi qwen siri sonnet haiku titan
whisper yi
"""
_MODELS: Final = frozenset(_MODELS_WORDS.split())
"""Names of models; some are names of people too, so that all of a name must speak for a model."""
_NUMBERED: Final = re.compile(r"o[1-9](?:-\w+)?", re.IGNORECASE)
_VERSIONS_WORDS: Final = """
anthropic b chat code coder flash google instruct k large latest lite max medium meta microsoft mini nano plus preview
pro r r1 reasoner small think thinking turbo ultra v vision x xai
"""
_VERSIONS: Final = frozenset(_VERSIONS_WORDS.split())
_CHINESE_PARTS: Final = re.compile(
    "助手|助理|系统|智能体|机器人|模型|工具|函数|环境|观察|代理|插件|人工智能|执行结果|输出|终端|浏览器|搜索|检索|开发者"
    "|文档|网页|调用|豆包|文心一言|通义千问|千问|元宝|混元|讯飞星火|智谱清言|天猫精灵|小爱同学|小度"
)
_LABELS_WORDS: Final = """
user human me myself you i quote quoted excerpt citation role content body stdout stderr
用户 我 本人 你 引用 引文 原文 摘录 转发 正文 内容 邮件 邮件内容 邮件正文 角色
"""
_LABELS: Final = frozenset(_LABELS_WORDS.split())
"""What a transcript calls who speaks, beside parts and models, and what quotes are headed by."""
_OF_SPEECH_WORDS: Final = "code context doc document documents file input log memory output outputs result results task"
_NOT_ALONE: Final = frozenset((*_OF_SPEECH_WORDS.split(), "search", "import", "tools", "app", "sql", "python", "bash"))
"""Parts that people also head their own words with: "Output: always metric"."""


_USERS: Final = frozenset({"user", "human"})
"""The roles in which a person speaks, in capital letters or small ones; in no other role does anybody speak for
themselves, however near to these it is written."""
_MYSELF: Final = frozenset({"user", "human", "me", "myself", "i", "我", "本人", "用户"})
"""What files call whoever kept them."""


def is_users_role(role: Slot) -> bool:
    """Whether a role is one of people, letter by letter: a program that writes it otherwise means something else."""
    return isinstance(role, str) and role.isascii() and role.lower() in _USERS


def names_user(speaker: str, user: str) -> bool:
    """Whether a speaker goes by the name of the user whose memory it is, or by what files call whoever kept them."""
    return speaker.casefold() in (user.casefold(), *_MYSELF)


def is_machine(name: str) -> bool:
    """Whether a speaker's name is that of a model, a tool or a part that no person plays."""
    plain = name.strip() if name.isascii() else _plain(name)
    if (not plain.isascii() and _CHINESE_PARTS.search(plain)) or _NUMBERED.fullmatch(plain):
        return True
    written = _WORD.findall(plain)
    words = [word.lower() for word in written if not word.isdigit()]
    if any(map(_is_part, words)) or _is_ai(written):
        return True
    return not _MODELS.isdisjoint(words) and all(word in _MODELS or word in _VERSIONS for word in words)


def _plain(name: str) -> str:
    """A name in plain letters, and without what nobody sees, of which ASCII has none."""
    return "".join(c for c in unicodedata.normalize("NFKC", name) if unicodedata.category(c) != "Cf").strip()


def is_machine_label(label: str) -> bool:
    """Whether a label before a colon heads what a model, a tool or a transcript says, and not words of one's own."""
    plain = label.strip(" *_[]()【】#>-").lower()
    return plain in _LABELS or (plain not in _NOT_ALONE and is_machine(label))


def _is_part(word: str) -> bool:
    return word in _PARTS or (word.endswith(_ENDINGS) and word not in _SURNAMES_IN_BOT)


def _is_ai(words: list[str]) -> bool:
    """Whether "AI" is among the words of a name, which as "Ai" before another word is a person's."""
    return any(
        word in ("AI", "ai") or (word.lower() == "ai" and (len(words) == 1 or place > 0))
        for place, word in enumerate(words)
    )
