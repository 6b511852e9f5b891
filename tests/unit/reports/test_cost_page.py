"""The page about costs, from a value alone."""

from __future__ import annotations

from prowess.reports.cost_page import render_page
from tests.unit.reports.test_cost import make_report


def test_the_page_is_made_from_the_report_alone():
    page = render_page(make_report(300, 10), home="/p")
    assert page.startswith('<!doctype html>\n<html lang="en">\n')
    assert "2 skills ready in ~, by the rules of prowess." in page
    assert '<td class="number" data-what="body">300</td>' in page
    assert "Loading on demand saves" not in page
    assert "loading all of them up front would save 50 tokens" in page
