"""A secret is masked in each form that the page on safety promises, and masking stays fast."""

from __future__ import annotations

import html
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Callable
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prowess.model.settings import MASK
from prowess.text.masker import Masker

# Keys as services issue them, and with what they must be escaped for.
SECRETS = st.text(
    st.characters(min_codepoint=33, max_codepoint=126) | st.sampled_from("éß漢😀&<>'\"%+/"),
    min_size=8,
    max_size=60,
)
FORMS: dict[str, Callable[[str], str]] = {
    "plain": str,
    "hex": lambda secret: secret.encode().hex(),
    "hex in capitals": lambda secret: secret.encode().hex().upper(),
    "base64": lambda secret: b64encode(secret.encode()).decode(),
    "base64 for addresses": lambda secret: urlsafe_b64encode(secret.encode()).decode(),
    "base64 without padding": lambda secret: b64encode(secret.encode()).decode().rstrip("="),
    "reversed": lambda secret: secret[::-1],
    "percent": lambda secret: quote(secret, safe=""),
    "percent as in a form": quote_plus,
    "percent, all": lambda secret: "".join(f"%{byte:02X}" for byte in secret.encode()),
    "percent, all in small letters": lambda secret: "".join(f"%{b:02x}" for b in secret.encode()),
    "html": html.escape,
    "html without quotes": lambda secret: html.escape(secret, quote=False),
    "html, all": lambda secret: "".join(f"&#{ord(one)};" for one in secret),
    "html, all in hex": lambda secret: "".join(f"&#x{ord(one):x};" for one in secret),
}


@pytest.mark.parametrize("form", FORMS)
@given(secret=SECRETS)
def test_a_secret_is_masked_in_every_form(form: str, secret: str) -> None:
    spelled = FORMS[form](secret)
    assert Masker([secret]).mask(f"before {spelled} after") == f"before {MASK} after"


@given(secret=SECRETS, before=st.binary(max_size=5), after=st.binary(max_size=5))
def test_a_secret_is_found_within_encoded_bytes(secret: str, before: bytes, after: bytes) -> None:
    whole = before + secret.encode() + after
    masker = Masker([secret])
    assert masker.finds(b64encode(whole).decode())
    assert masker.finds(urlsafe_b64encode(whole).decode())
    assert masker.finds(whole.hex())
