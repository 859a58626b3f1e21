"""For every test: no property is judged by the wall clock, since a loaded machine would decide it."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("project", deadline=None)
settings.load_profile("project")
