import pytest

pytest.register_assert_rewrite("mnemic.testing.store_contract")
