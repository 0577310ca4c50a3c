"""How golden files are made anew."""

from __future__ import annotations

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--golden-write", action="store_true", help="write the golden files instead of comparing with them")


@pytest.fixture
def write(pytestconfig: pytest.Config) -> bool:
    """Whether to write; the option is unknown where pytest was not pointed at this folder."""
    return bool(pytestconfig.getoption("--golden-write", default=False))
