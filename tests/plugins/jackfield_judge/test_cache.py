from __future__ import annotations

import logging

from jackfield_judge.cache import AnswerCache

REQUEST = {"model": "m", "messages": [{"role": "user", "content": "東京 {x}"}], "temperature": 0.0}


def test_an_answer_is_found_by_the_very_request(tmp_path):
    """Whatever the order of keys; another model, message or temperature is another request."""
    cache = AnswerCache(tmp_path)
    assert cache.get(REQUEST) is None
    cache.put(REQUEST, "Verdict: 東京 \ud83d\ude00".encode("utf-16", "surrogatepass").decode("utf-16"))
    assert cache.get(dict(reversed(REQUEST.items()))) == "Verdict: 東京 😀"
    for changed in ({"model": "n"}, {"temperature": 0.5}, {"messages": [{"role": "user", "content": "?"}]}):
        assert cache.get(REQUEST | changed) is None
    assert not list(tmp_path.rglob("partial-*"))


def test_a_damaged_file_is_no_answer(tmp_path, caplog):
    """It is asked again and written anew."""
    cache = AnswerCache(tmp_path)
    cache.put(REQUEST, "yes")
    [file] = tmp_path.rglob("*.json")
    for content in ("{", "[]", '{"answer": 3}', '"x"'):
        file.write_text(content)
        with caplog.at_level(logging.WARNING):
            assert cache.get(REQUEST) is None
    assert "damaged" in caplog.text
    cache.put(REQUEST, "no")
    assert cache.get(REQUEST) == "no"
