"""A stop event for tests of the worker."""


class Waits:
    """An event that is set when it has been waited for so often."""

    def __init__(self, most: int) -> None:
        self.left = most

    def is_set(self) -> bool:
        return self.left <= 0

    def wait(self, seconds: float) -> None:
        self.left -= 1
