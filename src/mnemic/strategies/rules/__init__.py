"""What tasks come to without a model: pure rules in English and Chinese, the same for the same passages."""
