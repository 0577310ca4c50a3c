"""Search over a local index or a retrieval server, and the server itself."""

from __future__ import annotations

import argparse

from jackfield import hookimpl
from jackfield.hookspecs import AddCommand, Register


@hookimpl
def jackfield_tools(register: Register) -> None:
    register("search", "jackfield_search.tool:Search", "Searches a corpus (BM25, dense or both) or a Search-R1 retrieval server.")


@hookimpl
def jackfield_embedders(register: Register) -> None:
    register("wordllama", "jackfield_search.wordllama:WordLlama", "Mean of static token vectors: no model to run, very fast.")
    register("minilm", "jackfield_search.transformer:MiniLm", "all-MiniLM-L6-v2, a small sentence transformer.")
    register("transformer", "jackfield_search.transformer:TransformerEmbedder", "An encoder in a local folder, such as E5.")


@hookimpl
def jackfield_commands(add: AddCommand) -> None:
    add(
        "serve-search",
        "Serve a corpus over HTTP, as Search-R1's retrieval server does.",
        _arguments,
        "jackfield_search.serve:serve",
    )


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--corpus", required=True, metavar="NAME|FILE", help="a corpus by name, or a file of passages such as wiki-18.jsonl"
    )
    parser.add_argument("--retriever", choices=("bm25", "dense", "fusion"), default="bm25", help="how to search (default: bm25)")
    parser.add_argument("--embedder", metavar="NAME", help="text to vectors, for dense and fusion")
    parser.add_argument(
        "--top-k", type=int, default=3, metavar="K", help="passages a query, where a request names none (default: 3)"
    )
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default: 127.0.0.1: this machine only)")
    parser.add_argument("--port", type=int, default=8000, help="port to listen on; 0 takes a free one (default: 8000)")
