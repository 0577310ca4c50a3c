from __future__ import annotations

from jackfield_vitalwiki.articles import read_articles
from jackfield_vitalwiki.sources import Sources


def test_a_passage_begins_with_the_description(sources: Sources) -> None:
    """The description, capitalised, stands before the lead: it holds years and makers."""
    articles = read_articles(sources.summaries)
    passage = articles["Night Train (film)"].passage
    assert passage.title == "Night Train (film)"
    assert passage.text.startswith("1985 film by Bruno Feld. Night Train is a 1985 film")
    assert articles["Night Train (film)"].name == "Night Train"


def test_order_and_ids_follow_the_titles_and_stubs_are_left_out(sources: Sources) -> None:
    """Ids number the sorted titles, whatever the order in the file; leads that are too short give no passage."""
    articles = read_articles(sources.summaries)
    assert list(articles) == sorted(articles)
    assert "Stub" not in articles
    assert articles["Ada Stone"].id == "wiki-00000"
    reordered = dict(sorted(sources.summaries.items(), key=lambda item: item[0][::-1]))
    assert read_articles(reordered) == articles
