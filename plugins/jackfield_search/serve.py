"""The command ``jackfield serve-search``."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jackfield.errors import Problem, UserError
from jackfield_search.index import LocalIndex
from jackfield_search.server import SearchHttpServer

if TYPE_CHECKING:
    from jackfield.plugins import Plugins


def serve(arguments: argparse.Namespace) -> int:
    """Index the corpus and answer until Ctrl-C. Raises UserError for arguments that cannot be followed."""
    _check(arguments)
    plugins: Plugins = arguments.plugins
    embedder = None if arguments.embedder is None else _component(plugins, "embedders", arguments.embedder)
    index = LocalIndex(_corpus(plugins, arguments.corpus), arguments.retriever, embedder)
    with _listen(arguments, index) as server:
        host, port = server.server_address[:2]
        passages = f"{len(index.passages):,} passages ({arguments.retriever})"
        sys.stdout.write(f"serving {passages} at http://{host!s}:{port}/retrieve; Ctrl-C ends it\n")
        sys.stdout.flush()
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            sys.stdout.write("ended\n")
    return 0


def _check(arguments: argparse.Namespace) -> None:
    problems = []
    if arguments.top_k < 1:
        problems.append(Problem("", "--top-k", f"must be at least 1, found {arguments.top_k}"))
    if not 0 <= arguments.port <= 65535:
        problems.append(Problem("", "--port", f"must lie between 0 and 65535, found {arguments.port}"))
    if (arguments.retriever == "bm25") != (arguments.embedder is None):
        needs = "needs no embedder" if arguments.embedder else "needs one, for example --embedder wordllama"
        problems.append(Problem("", "--embedder", f"retriever {arguments.retriever} {needs}"))
    if problems:
        raise UserError(problems)


def _corpus(plugins: Plugins, name: str) -> Any:
    """A file of passages, told from a name by its dot, is read by the component ``jsonl``."""
    if "." not in name:
        return _component(plugins, "corpora", name)
    if not Path(name).is_file():
        raise UserError(Problem(name, "--corpus", "there is no such file"))
    return _component(plugins, "corpora", "jsonl", path=Path(name))


def _component(plugins: Plugins, kind: str, name: str, **keys: Any) -> Any:
    cls = plugins.registries[kind].find(name).load()
    try:
        return cls(**keys)
    except (TypeError, ValueError) as error:
        raise UserError(Problem("", name, f"cannot be used from the command line: {error}")) from error


def _listen(arguments: argparse.Namespace, index: LocalIndex) -> SearchHttpServer:
    try:
        return SearchHttpServer((arguments.host, arguments.port), index, arguments.retriever, arguments.top_k)
    except OSError as error:
        reason = error.strerror or str(error)
        raise UserError(
            Problem(f"{arguments.host}:{arguments.port}", "", f"cannot listen there ({reason}); choose another --port")
        ) from error


__all__ = ["serve"]
