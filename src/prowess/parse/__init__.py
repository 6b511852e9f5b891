"""From the text of a SKILL.md to a skill.

The way of a header: bytes → lines → fences (`header`) → YAML, which nearly every header is (`yaml`)
→ repairs, for headers that are not (`repair`) → fields → manifest → name and description
(`manifest`). `lint` checks strictly, for authors. `candidates` is where a scan comes in.
"""
