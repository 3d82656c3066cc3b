"""Chat with any OpenAI-compatible endpoint, with memory: OPENAI_BASE_URL=... python examples/chat.py MODEL"""

import os
import sys

from openai import OpenAI

from mnemic import Memory

client, model = OpenAI(), sys.argv[1] if len(sys.argv) > 1 else os.environ["OPENAI_MODEL"]
with Memory() as memory:
    me = memory.scope(user="me")
    for line in filter(str.strip, sys.stdin):
        recalled = me.context(line, budget=800).text
        messages = [{"role": "user", "content": f"{recalled}\n\n{line}"}]
        answer = client.chat.completions.create(model=model, messages=messages).choices[0].message.content
        me.observe([{"role": "user", "content": line}, {"role": "assistant", "content": answer}])
        print(answer, flush=True)
