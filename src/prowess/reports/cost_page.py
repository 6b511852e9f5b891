"""The page that `prowess cost --html` writes: one file, no scripts, no network."""

from __future__ import annotations

from collections.abc import Sequence

from prowess.model.catalog import Shown
from prowess.reports.catalog_report import SHOWN_WORDS
from prowess.reports.cost import (
    CostReport,
    SkillCost,
    list_comparison,
    render_saving,
    render_share,
)
from prowess.reports.html_page import make_safe, render_html
from prowess.reports.phrases import name_host
from prowess.text.display import count_words, shorten_path
from prowess.version import VERSION

# The rest is folded away.
_MOST_ROWS = 60

_STYLE = """\
:root {
  color-scheme: light dark; --ground: #fff; --card: #f6f7f9; --ink: #1b1f24; --soft: #5b6470;
  --line: #e1e5ea; --listed: #3d5bd1; --body: #23998b; --track: #eceff3;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #14171b; --card: #1c2127; --ink: #e8ebef; --soft: #9aa4b0;
    --line: #2c333b; --listed: #93a8ff; --body: #41bfae; --track: #252b33;
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--ink);
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif; }
main { max-width: 60rem; margin: 0 auto; padding: 2.5rem 1.25rem 4rem; }
h1 { font-size: 1.75rem; line-height: 1.2; margin: 0 0 .25rem; letter-spacing: -.01em; }
h2 { font-size: 1.1rem; margin: 2.5rem 0 .75rem; }
p { margin: .25rem 0; } .soft { color: var(--soft); }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(13rem, 1fr)); gap: .75rem;
  margin-top: 1.5rem; }
.tile { background: var(--card); border: 1px solid var(--line); border-radius: .6rem;
  padding: .9rem 1rem; display: flex; flex-direction: column; }
.tile span:first-child { flex: 1; }
.tile b { display: block; font-size: 1.6rem; line-height: 1.25;
  font-variant-numeric: tabular-nums; }
.tile span { color: var(--soft); font-size: .875rem; display: block; }
table { width: 100%; border-collapse: collapse; font-size: .9375rem; }
thead th { font-weight: 600; font-size: .8125rem; color: var(--soft); text-align: left;
  padding: 0 .75rem .4rem 0; border-bottom: 1px solid var(--line); vertical-align: bottom; }
tbody th { font-weight: 500; text-align: left; }
tbody th, td { padding: .45rem .75rem .45rem 0; border-bottom: 1px solid var(--line);
  vertical-align: middle; overflow-wrap: anywhere; }
tbody th { width: 38%; }
.number { text-align: right !important; font-variant-numeric: tabular-nums; width: 6.5rem;
  white-space: nowrap; overflow-wrap: normal; }
td.chart, th.chart { padding-right: 0; }
small { display: block; color: var(--soft); font-weight: 400; font-size: .78rem;
  line-height: 1.35; }
em { font-style: normal; font-size: .72rem; color: var(--soft); border: 1px solid var(--line);
  border-radius: 1rem; padding: .05rem .45rem; margin-left: .4rem; white-space: nowrap; }
.bar { display: flex; height: .8rem; border-radius: .2rem; background: var(--track);
  overflow: hidden; }
.bar i { display: block; height: 100%; }
.listed { background: var(--listed); } .body { background: var(--body); }
.bar .listed { min-width: 2px; } .bar .listed + .body { margin-left: 1px; }
.legend { display: flex; gap: .25rem 1.25rem; flex-wrap: wrap; color: var(--soft);
  font-size: .875rem; margin: 0 0 .75rem; }
.legend i { display: inline-block; width: .75rem; height: .75rem; border-radius: .15rem;
  margin-right: .4rem; }
.note { margin-bottom: 1rem; } .saving { margin-top: .75rem; font-weight: 500; }
details { margin-top: 1rem; } summary { cursor: pointer; color: var(--soft); padding: .5rem 0; }
footer { margin-top: 2.5rem; padding-top: 1rem; border-top: 1px solid var(--line);
  color: var(--soft); font-size: .875rem; }
@media (max-width: 40rem) {
  main { padding: 1.5rem 1rem 3rem; }
  .tiles { grid-template-columns: 1fr 1fr; }
  .tile { padding: .7rem .8rem; } .tile b { font-size: 1.25rem; }
  thead { display: none; }
  tbody tr { display: grid; grid-template-columns: 1fr auto; gap: 0 .75rem; padding: .6rem 0;
    border-bottom: 1px solid var(--line); }
  tbody th, td { border: 0; padding: 0; } tbody th { width: auto; grid-row: span 2; }
  .number { width: auto; }
  td[data-what]::before { content: attr(data-what) " "; color: var(--soft); font-size: .78rem; }
  td.chart { grid-column: 1 / -1; margin-top: .4rem; }
  .compare th { grid-row: auto; }
}
"""

_LEGEND = """\
<p class="legend"><span><i class="listed"></i>catalog: in every request</span>
<span><i class="body"></i>body: when it is used</span></p>"""

_TABLE_HEAD = """\
<thead><tr><th scope="col">Skill</th><th scope="col" class="number">Catalog</th>
<th scope="col" class="number">Body</th><th scope="col" class="chart">Tokens</th></tr></thead>"""


def render_page(report: CostReport, *, home: str | None = None) -> str:
    """The whole page; paths below the home folder are written with `~`."""
    body = "\n".join(
        (
            _render_head(report, home),
            _render_tiles(report),
            _render_comparison(report),
            _render_skills(report, home),
            _render_footer(report),
        )
    )
    return render_html("What skills cost here", style=_STYLE, body=body)


def _render_head(report: CostReport, home: str | None) -> str:
    skills = count_words(len(report.skills), "skill")
    folder = make_safe(shorten_path(report.cwd, home=home))
    host = make_safe(name_host(report.host, report.edition))
    return f"""\
<h1>What skills cost here</h1>
<p class="soft">{skills} ready in {folder}, by the rules of {host}. Numbers are tokens; the context
window has {report.window:,}.</p>"""


def _render_footer(report: CostReport) -> str:
    return f"""\
<footer><p>{make_safe(report.method.says)}</p>
<p>Written by Prowess {make_safe(VERSION)}.</p></footer>"""


def _render_tiles(report: CostReport) -> str:
    tiles = [
        _render_tile(what, tokens, report.share(tokens)) for what, tokens in list_comparison(report)
    ]
    compared = report.comparison
    tiles.append(_render_tile("saved by loading on demand", compared.saved, compared.share))
    rendered = "\n".join(tiles)
    return f'<section class="tiles">\n{rendered}\n</section>'


def _render_tile(what: str, tokens: int, share: float) -> str:
    return f"""\
<div class="tile"><span>{make_safe(_capitalize(what))}</span><b>{_render_number(tokens)}</b>
<span>{render_share(share)}</span></div>"""


def _capitalize(text: str) -> str:
    return text[:1].upper() + text[1:]


def _render_number(tokens: int) -> str:
    # A minus sign is as wide as a digit, so that the columns stay aligned.
    return f"{tokens:,}".replace("-", "−")


def _render_comparison(report: CostReport) -> str:
    lines = list_comparison(report)
    most = max(tokens for _, tokens in lines)
    rows = "\n".join(_render_compared(what, tokens, most, report) for what, tokens in lines)
    return f"""\
<section>
<h2>On demand, or all up front</h2>
{_LEGEND}
<table class="compare"><tbody>
{rows}
</tbody></table>
<p class="saving">{make_safe(render_saving(report))}</p>
</section>"""


def _render_compared(what: str, tokens: int, most: int, report: CostReport) -> str:
    # An agent that loads everything up front needs no catalog.
    is_up_front = tokens == report.comparison.up_front
    listed = 0 if is_up_front else min(report.catalog, tokens)
    return f"""\
<tr><th scope="row">{make_safe(_capitalize(what))}</th>
<td class="number">{_render_number(tokens)}</td>
<td class="chart">{_render_bar(listed, tokens - listed, most)}</td></tr>"""


def _render_bar(listed: int, body: int, most: int) -> str:
    # A part of no tokens is left out: the style gives every part at least two pixels.
    parts = [
        f'<i class="{kind}" style="width:{tokens / most * 100:.2f}%"></i>'
        for kind, tokens in (("listed", listed), ("body", body))
        if tokens > 0 and most > 0
    ]
    return f'<div class="bar">{"".join(parts)}</div>'


def _render_skills(report: CostReport, home: str | None) -> str:
    if not report.skills:
        return "<section>\n<h2>Each skill</h2>\n<p>No skill is ready here.</p>\n</section>"
    most = report.skills[0].total
    first, rest = report.skills[:_MOST_ROWS], report.skills[_MOST_ROWS:]
    table = _render_table(first, most, report.cwd, home)
    if rest:
        summary = f"{count_words(len(rest), 'more skill')}, which cost less"
        folded = _render_table(rest, most, report.cwd, home)
        table += f"\n<details><summary>{summary}</summary>\n{folded}\n</details>"
    warnings = "".join(
        f'<p class="soft note">{make_safe(warning)}</p>\n' for warning in report.warnings
    )
    return (
        f"<section>\n<h2>Each skill, the most expensive first</h2>\n{warnings}{table}\n</section>"
    )


def _render_table(costs: Sequence[SkillCost], most: int, cwd: str, home: str | None) -> str:
    rows = "\n".join(
        _render_row(cost, most, shorten_path(cost.location, cwd=cwd, home=home)) for cost in costs
    )
    return f'<table class="skills">{_TABLE_HEAD}\n<tbody>\n{rows}\n</tbody></table>'


def _render_row(cost: SkillCost, most: int, path: str) -> str:
    mark = "" if cost.shown is Shown.WHOLE else f"<em>{SHOWN_WORDS[cost.shown]}</em>"
    body = "not read" if cost.body is None else f"{cost.added:,}"
    return f"""\
<tr><th scope="row"><bdi>{make_safe(cost.name)}</bdi>{mark}<small>{make_safe(path)}</small></th>
<td class="number" data-what="catalog">{cost.listed:,}</td>
<td class="number" data-what="body">{body}</td>
<td class="chart">{_render_bar(cost.listed, cost.added, most)}</td></tr>"""
