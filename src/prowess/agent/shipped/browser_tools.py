"""The tools of `claude-in-chrome`: open pages in a browser, read them, click and type."""

from __future__ import annotations

import json
import weakref
from typing import Any

from prowess.agent.shipped.changes import plan_reading
from prowess.agent.tools.plan import Access, IsCancelled, Plan
from prowess.agent.tools.web import list_url_names, split_url
from prowess.errors import UsageError
from prowess.machine.chromium import Chromium
from prowess.machine.network_address import NameUnresolved, is_public, resolve
from prowess.model.permission import Action
from prowess.runtime import Skills
from prowess.text.markup import escape_tags, escape_xml, tidy_line

_RESOLVE_SECONDS = 10.0
_MOST_TEXT = 50_000
_MOST_ELEMENTS = 200
_DEFAULT_PORTS = {"http": 80, "https": 443}

# What a person could use in a page. Each gets a number, by which it is clicked and typed into.
_LIST = """(() => {
  const shown = e => e.getClientRects().length && getComputedStyle(e).visibility !== 'hidden';
  const all = document.querySelectorAll('a[href],button,input,select,textarea,[role=button]');
  const found = [...all].filter(shown).slice(0, %d);
  window.__prowess = found;
  const name = e => e.getAttribute('aria-label') || (e.labels && e.labels[0] || e).innerText
    || e.placeholder || e.name || e.title || '';
  return {
    url: location.href, title: document.title, text: document.body ? document.body.innerText : '',
    elements: found.map(e => [e.tagName.toLowerCase(), e.type || '', name(e),
      e.type === 'password' ? '' : (e.tagName === 'A' ? e.href : (e.value || ''))])
  };
})()"""
_FIND = """(() => {
  const e = (window.__prowess || [])[%d];
  if (!e || !e.isConnected) throw new Error(%s);
  return e;
})()"""
_CLICK = "(() => { const e = %s; e.scrollIntoView(); e.click(); return true; })()"
_TYPE = """(() => {
  const e = %s; e.focus(); e.value = %s;
  e.dispatchEvent(new Event('input', {bubbles: true}));
  e.dispatchEvent(new Event('change', {bubbles: true}));
  if (%s && e.form) e.form.requestSubmit();
  return true;
})()"""


class BrowserTools:
    """The tools of `claude-in-chrome`, which share one browser."""

    def __init__(self, skills: Skills) -> None:
        self._skills = skills
        self._browser: Chromium | None = None
        self._url = ""

    def open_page(self, url: str) -> Plan:
        """Open a page in a headless browser, and return its text and its elements.

        The browser has its own profile: the user is not logged in anywhere. Only pages of hosts
        that were opened in this way can be loaded.

        Args:
            url: The address of the page, http or https.
        """
        parts = split_url(url)

        def run(is_cancelled: IsCancelled) -> str:
            port = parts.port or _DEFAULT_PORTS[parts.scheme]
            self._check_host(parts.hostname or "", port)
            browser = self._open_browser()
            browser.open(url, is_cancelled=is_cancelled)
            if browser.stopped:
                raise UsageError(" ".join(_explain_stopped(browser)))
            return self._render(browser)

        return Plan(
            title=f"Open {url}",
            permissions=("webfetch",),
            accesses=(Access(names=list_url_names(parts)),),
            default=Action.ASK,
            run=run,
            details=(url,),
        )

    def read_page(self) -> Plan:
        """Return the text and the elements of the page that is open, as it is now."""

        def run(is_cancelled: IsCancelled) -> str:
            return self._render(self._get_browser())

        return plan_reading("Read page", run)

    def click_element(self, element: int) -> Plan:
        """Click an element of the page that is open, and return the page afterwards.

        Args:
            element: Its number in the list of elements.
        """
        script = _CLICK % _find_element(element)
        return self._plan_action(f"Click element {element}", script)

    def type_text(self, element: int, text: str, *, submit: bool = False) -> Plan:
        """Put text into a field of the page that is open, and return the page afterwards.

        Args:
            element: The number of the field in the list of elements.
            text: What to write; it replaces what is there.
            submit: Also send the form that the field is in.
        """
        flag = "true" if submit else "false"
        # As a literal of JSON: the text is never part of the script.
        script = _TYPE % (_find_element(element), json.dumps(text), flag)
        verb = "Type and submit" if submit else "Type"
        return self._plan_action(f"{verb} in element {element}: {tidy_line(text)}", script)

    def _plan_action(self, title: str, script: str) -> Plan:
        """Something that a person could do in the page, and that may have any effect there."""
        browser = self._get_browser()

        def run(is_cancelled: IsCancelled) -> str:
            browser.act(script, is_cancelled=is_cancelled)
            return self._render(browser)

        return Plan(
            title=title,
            permissions=("webfetch",),
            accesses=(Access(names=list_url_names(split_url(self._url))),),
            default=Action.ASK,
            run=run,
            details=(self._url,),
            asks_because="it acts in a page, which may send or buy something",
        )

    def _check_host(self, host: str, port: int) -> None:
        """Raise `UsageError` for a host in a private network that the settings do not name."""
        if host in self._skills.project.load_own_settings().agent.private_hosts:
            return
        try:
            addresses = [one.address for one in resolve(host, port, seconds=_RESOLVE_SECONDS)]
        except NameUnresolved as error:
            raise UsageError(f"{host} cannot be found: {error}.") from error
        # The browser resolves the name again, by itself, and may take any of them.
        if not all(map(is_public, addresses)):
            raise UsageError(
                f"{host} is in a private network. Hosts under `[agent] private_hosts` in the"
                " user's own prowess.toml are allowed."
            )

    def _open_browser(self) -> Chromium:
        if self._browser is None:
            self._browser = Chromium(self._skills.facts.env)
            # The session that has these tools does not know that they have a browser.
            weakref.finalize(self, self._browser.close)
        return self._browser

    def _get_browser(self) -> Chromium:
        if self._browser is None or not self._url:
            raise UsageError("No page is open yet; call OpenPage first.")
        return self._browser

    def _render(self, browser: Chromium) -> str:
        page = browser.evaluate(_LIST % _MOST_ELEMENTS)
        if not str(page["url"]).startswith(("http://", "https://")):
            # What the browser shows in place of a page that was not loaded.
            raise UsageError("The page could not be loaded.")
        self._url = str(page["url"])
        return "\n".join((_render_page(page), *_explain_stopped(browser)))


def _find_element(number: int) -> str:
    """The script that finds an element, and fails with a reason where it is gone."""
    problem = json.dumps(f"there is no element {number}; read the page again")
    return _FIND % (number - 1, problem)


def _explain_stopped(browser: Chromium) -> list[str]:
    return [
        f"The page tried to load {tidy_line(url)[:300]} from another host; open it with OpenPage."
        for url in browser.stopped
    ]


def _render_page(page: dict[str, Any]) -> str:
    # All of it is a stranger's text, so it cannot close the tag that it is in.
    text = str(page["text"])[:_MOST_TEXT]
    title = tidy_line(str(page["title"]))
    elements = [_render_element(number, *one) for number, one in enumerate(page["elements"], 1)]
    whole = "\n".join((f"# {title}", "", text, "", "Elements:", *elements))
    return (
        f'<web_page url="{escape_xml(str(page["url"]))}">\n'
        f"{escape_tags(whole, 'web_page')}\n</web_page>"
    )


def _render_element(number: int, tag: str, kind: str, name: str, value: str) -> str:
    # A button has a type, too, but only that of a field says what to type.
    has_kind = tag == "input" and kind != ""
    word = f"{tag} {kind}" if has_kind else tag
    line = f"{number}. {word}: {tidy_line(name)[:100]}"
    return f"{line} = {tidy_line(value)[:200]}" if value else line
