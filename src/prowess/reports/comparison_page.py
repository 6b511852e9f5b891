"""The page that `prowess compare --html` writes: one file that sorts and filters, no network."""

from __future__ import annotations

from prowess.model.outcome import Outcome, State
from prowess.reports.comparison import Agreement, ComparedSkill, HostComparison
from prowess.reports.html_page import make_safe, render_html
from prowess.text.display import count_words, shorten_path
from prowess.version import VERSION

_TITLE = "How hosts treat the same skills"
_STYLE = """\
:root {
  color-scheme: light dark; --ground: #fff; --card: #f6f7f9; --ink: #1b1f24; --soft: #5b6470;
  --line: #e1e5ea; --good: #1a7f4b; --bad: #c0362c; --odd: #9a6700; --mild: #2563a8;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #14171b; --card: #1c2127; --ink: #e8ebef; --soft: #9aa4b0;
    --line: #2c333b; --good: #4cc38a; --bad: #ff8177; --odd: #e3b341; --mild: #7db7f2;
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--ink);
  font: 15px/1.45 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif; }
main { padding: 2rem 1.5rem 3rem; max-width: 100rem; margin: 0 auto; }
h1 { font-size: 1.6rem; line-height: 1.2; margin: 0 0 .25rem; letter-spacing: -.01em; }
p { margin: .25rem 0; } .soft { color: var(--soft); }
form { display: flex; flex-wrap: wrap; gap: .5rem .75rem; align-items: center;
  margin: 1.25rem 0 .75rem; }
input, select { font: inherit; color: inherit; background: var(--card); padding: .35rem .6rem;
  border: 1px solid var(--line); border-radius: .4rem; }
input { min-width: 20rem; }
.frame { overflow-x: auto; border: 1px solid var(--line); border-radius: .6rem; }
table { border-collapse: collapse; width: 100%; font-size: .875rem; }
th, td { text-align: left; padding: .45rem .6rem; border-bottom: 1px solid var(--line);
  vertical-align: top; white-space: nowrap; }
thead th { background: var(--card); position: sticky; top: 0; }
tbody tr:last-child > * { border-bottom: 0; }
tbody th { font-weight: 600; position: sticky; left: 0; background: var(--ground);
  white-space: normal; overflow-wrap: anywhere; min-width: 12rem; max-width: 18rem; }
thead th:first-child { left: 0; z-index: 1; }
button { font: inherit; font-weight: 600; color: inherit; background: none; border: 0; padding: 0;
  cursor: pointer; }
th[aria-sort="ascending"] button::after { content: " ↑"; }
th[aria-sort="descending"] button::after { content: " ↓"; }
small { display: block; color: var(--soft); font-weight: 400; font-size: .78rem;
  line-height: 1.35; white-space: normal; overflow-wrap: anywhere; min-width: 7rem;
  max-width: 16rem; }
.ready { color: var(--good); } .invalid, .denied { color: var(--bad); }
.skipped, .ineligible, .disabled, .shadowed, .duplicate { color: var(--odd); }
.hidden, .dormant { color: var(--mild); } .none { color: var(--soft); }
footer { margin-top: 1.5rem; color: var(--soft); font-size: .875rem; }
"""

_SCRIPT = """\
const table = document.querySelector("table");
const body = table.tBodies[0];
const find = document.getElementById("find");
const kind = document.getElementById("kind");
const count = document.getElementById("count");

function filter() {
  const wanted = find.value.toLowerCase();
  let shown = 0;
  for (const row of body.rows) {
    const fits = row.textContent.toLowerCase().includes(wanted)
      && (!kind.value || row.dataset.agreement === kind.value);
    row.hidden = !fits;
    shown += fits;
  }
  count.textContent = `${shown} of ${body.rows.length} shown`;
}

function sort(header) {
  const index = header.cellIndex;
  const down = header.getAttribute("aria-sort") === "ascending";
  for (const other of header.parentNode.cells) other.removeAttribute("aria-sort");
  header.setAttribute("aria-sort", down ? "descending" : "ascending");
  const rows = [...body.rows].sort((one, other) => {
    const [a, b] = [one, other].map(row => row.cells[index].dataset.key);
    return a.localeCompare(b, undefined, { numeric: true });
  });
  body.append(...(down ? rows.reverse() : rows));
}

find.addEventListener("input", filter);
kind.addEventListener("input", filter);
document.querySelector("form").addEventListener("submit", event => event.preventDefault());
for (const header of table.tHead.rows[0].cells)
  header.querySelector("button").addEventListener("click", () => sort(header));
filter();
"""

_MARKS: dict[State, str] = {
    State.READY: "●",
    State.HIDDEN: "○",
    State.DORMANT: "◌",
    State.DENIED: "⊘",
    State.INELIGIBLE: "✗",
    State.SHADOWED: "↓",
    State.DISABLED: "–",
    State.DUPLICATE: "=",
    State.SKIPPED: "»",
    State.INVALID: "!",
}
# Sorted by the first column, the skills that hosts treat differently come first.
_AGREEMENT_WORDS = {
    Agreement.DIFFERENT: "treated differently",
    Agreement.NOT_READ: "not read by some",
    Agreement.SAME: "the same everywhere",
}


def render_page(compared: HostComparison, *, cwd: str, home: str | None = None) -> str:
    """The whole page; paths are relative to the working folder, or written with `~`."""
    hosts = [one.host for one in compared.hosts if one.problem is None]
    rows = sorted(compared.rows, key=lambda row: list(Agreement).index(row.agreement))
    cells = "\n".join(_render_row(row, hosts, cwd, home) for row in rows)
    heading = "".join(_render_heading(title) for title in ("Skill", *hosts))
    options = "".join(
        f'<option value="{one.value}">{words.capitalize()}</option>'
        for one, words in _AGREEMENT_WORDS.items()
    )
    problems = "".join(
        f"<p>No answer from {make_safe(one.host)}: {make_safe(one.problem)}</p>\n"
        for one in compared.hosts
        if one.problem is not None
    )
    folder = make_safe(shorten_path(cwd, home=home))
    number = f"{count_words(len(rows), 'skill')} and {count_words(len(hosts), 'host')}"
    body = f"""\
<h1>{_TITLE}</h1>
<p class="soft">{number} in {folder}. Click on a heading to sort.</p>
{problems}<form>
<input id="find" type="search" placeholder="Filter by name, state or reason" aria-label="Filter">
<select id="kind" aria-label="Agreement"><option value="">All skills</option>{options}</select>
<span id="count" class="soft"></span>
</form>
<div class="frame"><table>
<thead><tr>{heading}</tr></thead>
<tbody>
{cells}
</tbody></table></div>
<footer><p>Written by Prowess {make_safe(VERSION)}.</p></footer>"""
    return render_html(_TITLE, style=_STYLE, body=body, script=_SCRIPT)


def _render_heading(title: str) -> str:
    return f'<th scope="col"><button type="button">{make_safe(title)}</button></th>'


def _render_row(row: ComparedSkill, hosts: list[str], cwd: str, home: str | None) -> str:
    names = " / ".join(row.names)
    agreement = row.agreement
    # A file that all hosts found is shown once, beside the name, and not in each cell.
    files = {one.candidate.location for one in row.outcomes.values()}
    shared = shorten_path(*files, cwd=cwd, home=home) if len(files) == 1 else ""
    rank = list(Agreement).index(agreement)
    cells = "".join(
        _render_cell(row.outcomes.get(host), cwd, home, has_file=bool(shared)) for host in hosts
    )
    words = _AGREEMENT_WORDS[agreement]
    return (
        f'<tr data-agreement="{agreement.value}">'
        f'<th scope="row" data-key="{rank} {make_safe(names)}"><bdi>{make_safe(names)}</bdi>'
        f"<small>{words}</small><small>{make_safe(shared)}</small></th>{cells}</tr>"
    )


def _render_cell(outcome: Outcome | None, cwd: str, home: str | None, *, has_file: bool) -> str:
    if outcome is None:
        return '<td data-key="9" class="none">· not read</td>'
    state = outcome.state
    details = [] if has_file else [shorten_path(outcome.candidate.location, cwd=cwd, home=home)]
    details += [outcome.reason] if outcome.reason is not None else []
    small = "".join(f"<small>{make_safe(one)}</small>" for one in details)
    return (
        f'<td data-key="{state.rank} {make_safe(" ".join(details))}">'
        f'<span class="{state.value}">{_MARKS[state]} {state.value}</span>{small}</td>'
    )
