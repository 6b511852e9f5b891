"""Every kind of source with its fetcher, as a table."""

from __future__ import annotations

from collections.abc import Mapping

from prowess.supply.install.clawhub_fetch import ClawHubFetcher, parse_clawhub
from prowess.supply.install.fetch import SourceFetcher
from prowess.supply.install.git_fetch import GitFetcher
from prowess.supply.install.local_fetch import ArchiveFetcher, FolderFetcher
from prowess.supply.install.mcp_fetch import McpFetcher, parse_mcp
from prowess.supply.install.plugin_fetch import PluginFetcher, parse_plugin
from prowess.supply.install.site_fetch import SiteFetcher, parse_site
from prowess.supply.install.source import ARCHIVE, CLAWHUB, FOLDER, GIT, MCP, PLUGIN, SITE, Parser

FETCHERS: Mapping[str, SourceFetcher] = {
    FOLDER: FolderFetcher(),
    ARCHIVE: ArchiveFetcher(),
    GIT: GitFetcher(),
    SITE: SiteFetcher(),
    CLAWHUB: ClawHubFetcher(),
    PLUGIN: PluginFetcher(),
    MCP: McpFetcher(),
}

PARSERS: tuple[Parser, ...] = (parse_clawhub, parse_plugin, parse_mcp, parse_site)
"""What reads the sources that are neither on this disk nor repositories."""
