"""From what a row or a file holds to a validator that cannot fail later, or why there is none."""

from __future__ import annotations

import json
from typing import Any

REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")


class BadSchema(Exception):
    """The schema cannot be used; the message says why."""


def validator_of(schema: Any, name: str) -> Any:
    """For a schema as an object or as its text. Raises BadSchema, calling it ``name``."""
    import jsonschema

    try:
        parsed = json.loads(schema) if isinstance(schema, str | bytes) else schema
    except (ValueError, RecursionError) as error:
        raise BadSchema(f"{name} is not JSON: {error}") from error
    if not isinstance(parsed, dict):
        raise BadSchema(f"{name} must be a JSON schema, an object, found {str(parsed)[:60]!r} ({type(parsed).__name__})")
    kind = _kind(parsed, jsonschema.Draft202012Validator)
    try:
        _check(kind, parsed, name)
        return _References(kind, name).validator(parsed)
    except RecursionError as error:
        raise BadSchema(f"{name} is nested too deeply") from error


def _kind(schema: Any, default: Any) -> Any:
    """The class for the draft that a schema names, if it names one."""
    import jsonschema

    named = isinstance(schema, dict) and isinstance(schema.get("$schema"), str)
    return jsonschema.validators.validator_for(schema, default=default) if named else default


def _check(kind: Any, schema: Any, name: str) -> None:
    import jsonschema

    try:
        kind.check_schema(schema)
    except jsonschema.SchemaError as error:
        raise BadSchema(f"{name} is no JSON schema: {error.json_path}: {error.message[:100]}") from error


class _References:
    """Follows every reference that validating could meet: one that leads nowhere would else be found only by a value that meets it."""

    def __init__(self, kind: Any, name: str) -> None:
        import referencing.jsonschema

        self.kind, self.name = kind, name
        self.specification = referencing.jsonschema.specification_with(kind.META_SCHEMA["$schema"])
        self.seen = set[int]()

    def validator(self, schema: dict[str, Any]) -> Any:
        import referencing
        from jsonschema_specifications import REGISTRY  # type: ignore[import-untyped]

        root = self.specification.create_resource(schema)
        try:
            self._follow(root, REGISTRY.resolver_with_root(root), ())
        except ValueError as error:
            raise BadSchema(f"{self.name} is no JSON schema: {error}") from error
        return self.kind(schema, registry=referencing.Registry())

    def _follow(self, resource: Any, resolver: Any, trail: tuple[int, ...]) -> None:
        """``trail``: the schemas that referred here, one to the next."""
        import referencing

        contents = resource.contents
        if id(contents) in trail:
            raise BadSchema(f"{self.name}: a reference leads back to itself: {str(contents)[:60]}")
        if not isinstance(contents, dict) or id(contents) in self.seen:
            return
        self.seen.add(id(contents))
        resolver = resolver.in_subresource(resource)
        for reference in (contents[key] for key in REFERENCES if key in contents and key in self.kind.VALIDATORS):
            found = self._target(reference, resolver)
            target = referencing.Resource.from_contents(found.contents, default_specification=self.specification)
            self._follow(target, found.resolver, (*trail, id(contents)))
        for inner in resource.subresources():
            self._follow(inner, resolver, ())

    def _target(self, reference: str, resolver: Any) -> Any:
        import referencing.exceptions

        try:
            found = resolver.lookup(reference)
        except (referencing.exceptions.Unresolvable, ValueError, TypeError) as error:
            raise BadSchema(f"{self.name}: nothing in it is called {reference!r}; other documents are not fetched") from error
        _check(_kind(found.contents, self.kind), found.contents, f"{self.name}: what {reference!r} refers to")
        return found
