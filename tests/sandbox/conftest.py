"""The sandbox fixture for all tests of this folder."""

from tests.sandbox_fixture import sandbox

__all__ = ["sandbox"]
