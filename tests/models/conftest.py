import pytest

pytest.register_assert_rewrite("mnemic.testing.embedder_contract", "mnemic.testing.chat_contract")
