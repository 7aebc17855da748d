"""What pages leave out of the library's words."""

from incrowd.web.result_views import _without_hints


def test_hints_at_the_command_line_go_and_names_that_look_like_them_stay():
    said = {"why": ["say which (--qi)", "leave 'age (--old)' out (--other)"], "count": 3}
    assert _without_hints(said) == {"why": ["say which", "leave 'age (--old)' out"], "count": 3}
