"""Names of variables that no setting may give to the programs of a skill, and those that look like
secrets.

A setting comes from a file; a variable of one of these names would change which code a program
loads, where it connects to, or whom it acts for. The tables are data of the program and no part of
a profile, so that no file can loosen them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

# Why a name is refused, and the names: whole ones, and beginnings, which end with `*`.
REFUSED: Mapping[str, tuple[str, ...]] = {
    "it decides which code programs load": tuple(
        "LD_* DYLD_* GLIBC_TUNABLES GCONV_PATH LOCPATH NLSPATH BASH_FUNC_* MALLOC_* _RLD_* LIBPATH"
        " SHLIB_PATH GIO_MODULE_DIR GTK_MODULES GTK_PATH QT_PLUGIN_PATH OPENSSL_CONF"
        " OPENSSL_MODULES OPENSSL_ENGINES PKG_CONFIG_PATH PKG_CONFIG_LIBDIR CLASSPATH".split()
    ),
    "it changes what a shell or an interpreter runs": tuple(
        "PATH PATHEXT HOME SHELL IFS ENV BASH_ENV BASHOPTS SHELLOPTS PS4 PROMPT_COMMAND CDPATH"
        " FPATH ZDOTDIR COMSPEC PYTHON* NODE_* NPM_CONFIG_* BUN_* DENO_* YARN_* PNPM_* COREPACK_*"
        " PERL* RUBY* GEM_* BUNDLE_* LUA_* PHPRC PHP_INI_SCAN_DIR JAVA_HOME JAVA_TOOL_OPTIONS"
        " JDK_JAVA_OPTIONS _JAVA_OPTIONS MAVEN_* GRADLE_* KOTLIN_* SCALA_* GROOVY_* ERL_* ELIXIR_*"
        " R_HOME R_PROFILE* R_ENVIRON* R_LIBS* JULIA_* DOTNET_* COMPLUS_* CORECLR_* COR_*"
        " PSMODULEPATH AWKPATH AWKLIBPATH TCLLIBPATH EMACSLOADPATH VIMINIT"
        " VIMRUNTIME EXINIT".split()
    ),
    "it changes what build and installation tools run": tuple(
        "CC CXX CPP LD AS AR CFLAGS CXXFLAGS CPPFLAGS LDFLAGS MAKE MAKEFLAGS MAKEFILES MFLAGS"
        " CMAKE_* RUSTC* RUSTFLAGS RUSTUP_* CARGO_* GO111MODULE GOFLAGS GOPATH GOROOT GOPROXY"
        " GONOSUMDB GOPRIVATE GOSUMDB GOTOOLCHAIN CGO_* PIP_* UV_* POETRY_* CONDA_* PIPX_*"
        " VIRTUAL_ENV HOMEBREW_* NIX_* DOCKER_* BUILDKIT_* COMPOSE_* KUBECONFIG HELM_* TF_*"
        " ANSIBLE_*".split()
    ),
    "it changes which programs other programs start": tuple(
        "EDITOR VISUAL PAGER BROWSER MANPAGER LESS LESSOPEN LESSCLOSE GIT_* SVN_* HG* SSH_* SUDO_*"
        " RSYNC_* CVS_RSH TERMINFO TERMINFO_DIRS TERMCAP XDG_* DBUS_* DISPLAY WAYLAND_DISPLAY"
        " SYSTEMD_* TMPDIR TMP TEMP FZF_* RIPGREP_CONFIG_PATH CURL_HOME WGETRC"
        " INPUTRC SCREENRC".split()
    ),
    "it changes where programs connect or which certificates they trust": tuple(
        "HTTP_PROXY HTTPS_PROXY FTP_PROXY ALL_PROXY NO_PROXY SOCKS_PROXY RSYNC_PROXY SSL_CERT_FILE"
        " SSL_CERT_DIR SSLKEYLOGFILE CURL_CA_BUNDLE REQUESTS_CA_BUNDLE AWS_CA_BUNDLE RES_OPTIONS"
        " HOSTALIASES LOCALDOMAIN RESOLV_* OPENAI_BASE_URL OPENAI_API_BASE ANTHROPIC_BASE_URL"
        " ANTHROPIC_CUSTOM_HEADERS".split()
    ),
    "it contains credentials that are not just for this skill": tuple(
        "AWS_* AZURE_* ARM_* GOOGLE_APPLICATION_CREDENTIALS GCLOUD_* CLOUDSDK_* GITHUB_TOKEN"
        " GH_TOKEN GITHUB_PAT GITLAB_TOKEN CI_JOB_TOKEN BITBUCKET_TOKEN NPM_TOKEN NODE_AUTH_TOKEN"
        " TWINE_* PYPI_* VAULT_* CONSUL_HTTP_TOKEN NOMAD_TOKEN NETRC PGPASSFILE PGSERVICEFILE"
        " MYSQL_PWD KRB5* GNUPGHOME GPG_*".split()
    ),
    "it belongs to Prowess or to a host": tuple(
        "PROWESS_* CLAUDE_* CLAUDECODE OPENCLAW_* CLAWDBOT_* OPENCODE_* OMP_* PI_* CODEX_*".split()
    ),
}

_WHOLE = {name: why for why, names in REFUSED.items() for name in names if not name.endswith("*")}
_BEGINNINGS = tuple(
    (name[:-1], why) for why, names in REFUSED.items() for name in names if name.endswith("*")
)
_SECRET = re.compile(r"API_?KEY|TOKEN|PASSW(?:OR)?D|PASSPHRASE|PRIVATE_?KEY|SECRET", re.IGNORECASE)
_PERHAPS_SECRET = re.compile(
    r"KEY|TOKEN|SECRET|PASS|CREDENTIAL|AUTH|COOKIE|SESSION|DSN|PWD|WEBHOOK|CONNECTION|(?:DATABASE|DB)_?UR[IL]",
    re.IGNORECASE,
)
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
# curl reads `http_proxy` in lower case only; npm, pnpm and yarn ignore the case of their names.
_READ_IN_LOWER_CASE = re.compile(r"[a-z]+_proxy|p?npm_config_.*|yarn_.*", re.IGNORECASE)


def find_refusal(name: str) -> str | None:
    """Why a variable of this name is refused whoever declares it; None where it is not."""
    if _NAME.fullmatch(name) is None:
        return "it is not a valid variable name"
    # Windows ignores the case of names, and programs read `http_proxy` as they do `HTTP_PROXY`.
    upper = name.upper()
    if upper in _WHOLE:
        return _WHOLE[upper]
    for beginning, why in _BEGINNINGS:
        if upper.startswith(beginning):
            return why
    return None


def is_read_by_programs(name: str) -> bool:
    """Whether a name, in this spelling, is a refused one that programs read."""
    if find_refusal(name) is None:
        return False
    # Names such as `path`, `temp` and `pythonVersion` are common in scripts; no program reads them.
    begins_in_lower_case = name[0].islower()
    return not begins_in_lower_case or _READ_IN_LOWER_CASE.fullmatch(name) is not None


def looks_secret(name: str) -> bool:
    """Whether a variable of this name holds a secret, so that a skill must declare it."""
    return _SECRET.search(name) is not None


def may_be_secret(name: str) -> bool:
    """Whether a variable of this name may hold a secret, so that its value is better not shown."""
    return _PERHAPS_SECRET.search(name) is not None
