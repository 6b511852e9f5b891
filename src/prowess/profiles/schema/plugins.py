"""`[plugins.NAME]`: where the host finds plugins, and what of them it uses."""

# Annotations are real types, for the reason given in this folder's `__init__.py`.

from typing import Literal

from prowess.model.plugin import Owner
from prowess.profiles.schema import Table

FindPlugins = Literal[
    "named",
    "folders",
    "versions",
    "registry",
    "marketplaces",
    "skills-folders",
    "node",
    "python",
    "npm",
]


class PluginRule(Table, frozen=True):
    """A way in which the host finds plugins.

    - `find`: how plugins are found: those that options and settings name (`named`), the folders in
      a folder (`folders`), the newest version of those that settings enable (`versions`), those in
      a list of installed plugins (`registry`), those of known marketplaces that settings enable
      (`marketplaces`), folders with a manifest between skills (`skills-folders`), npm packages that
      the host installed (`node`), or installed packages that bring skills (`python`, `npm`).
    - `at`: path templates, as in `[roots.NAME]`, of the folders or lists to read. In those for
      `versions`, `{plugin_name}` and `{marketplace}` stand for the two parts of an id.
    - `anchor`: use `{ancestor}` only for the nearest folder that has this entry; without one, for
      the repository.
    - `manifests`: the files that can describe a plugin; the first that exists counts.
    - `marker`: a file that the folder of a plugin must have.
    - `needs_manifest`: leave out folders without a manifest, and skills that it does not list.
    - `ignore_broken`: a manifest that is not a JSON table counts as none; otherwise the plugin
      can't be used.
    - `suffix`: what comes after the name and an `@` in the id of a plugin.
    - `owner`: who brought the plugins.
    - `scopes`: the scopes in a list of installed plugins that count; all if empty.
    - `any_project`: installations in a list that are for other projects count too.
    - `follow_links`: the usual folder of skills may be a link that leads out of the plugin.
    - `prefix`: put the name of the plugin before the names of its skills.
    - `default`: whether a plugin is on if no setting says.
    - `switches`: path templates of JSON files of another host that turn plugins on and off with
      `enabledPlugins`. The settings of this host come before them.
    - `replaces`: plugins take the place of those with the same id that were found before. Without
      this, the first of an id counts.
    """

    find: FindPlugins
    at: tuple[str, ...] = ()
    anchor: str = ""
    manifests: tuple[str, ...] = ()
    marker: str = ""
    needs_manifest: bool = False
    ignore_broken: bool = False
    suffix: str = ""
    owner: Owner = "user"
    scopes: tuple[str, ...] = ()
    any_project: bool = False
    follow_links: bool = False
    prefix: bool = False
    default: bool = True
    switches: tuple[str, ...] = ()
    replaces: bool = False
