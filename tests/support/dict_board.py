"""A store in memory with the calls of torch's TCPStore that a board makes, so that one test can be several ranks."""

from learners.notice_board import StoreBoard


class DictStore:
    def __init__(self):
        self.keys = {}

    def set(self, key, value):
        self.keys[key] = value if isinstance(value, bytes) else value.encode()

    def compare_set(self, key, expected, desired):
        assert expected == desired, "a board only reads with it"
        return self.keys.get(key, expected.encode())

    def check(self, keys):
        return all(key in self.keys for key in keys)

    def delete_key(self, key):
        return self.keys.pop(key, None) is not None

    def wait(self, keys):
        assert self.check(keys), f"nobody would write {keys}"


def boards(size, store=None):
    """Return the boards of all ranks, on one store."""
    store = store or DictStore()
    return [StoreBoard(store, rank, size) for rank in range(size)]
