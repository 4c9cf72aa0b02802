"""The page's style sheet, light and dark, wide and narrow; and its content policy.

The policy allows no other content than that style sheet.
"""

from __future__ import annotations

import base64
import hashlib

STYLE = """
:root { color-scheme: light dark; --page: #f7f7f8; --card: #fff; --text: #1d1d21; --soft: #63636e; --line: #d9d9df; --edge: #8f8f9b;
  --standing: #2a7547; --standing-ground: #e8f5ed; --past: #64646f; --past-ground: #f0f0f2; --gone: #b3473f; --gone-ground: #fbebea;
  --episode: #6b5bc4; --episode-ground: #eeebfb; --asked: #b8500a; }
@media (prefers-color-scheme: dark) { :root { --page: #131316; --card: #1d1d22; --text: #ececf0; --soft: #a1a1ad; --line: #35353d;
  --edge: #71717e; --standing: #63c48c; --standing-ground: #16291e; --past: #94949f; --past-ground: #26262c; --gone: #e8867e;
  --gone-ground: #351c1a; --episode: #a699f0; --episode-ground: #242039; --asked: #f59e4b; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--text); font: 15px/1.5 system-ui, "Segoe UI", Roboto, "Noto Sans", sans-serif;
  overflow-wrap: anywhere; }
header, main, footer { max-width: 1280px; margin: 0 auto; padding: 0 20px; }
header { padding-top: 24px; }
h1 { margin: 0; font-size: 22px; line-height: 1.25; }
h2 { margin: 0 0 10px; font-size: 15px; }
header p { margin: 4px 0 0; color: var(--soft); }
.cut { margin-top: 12px; padding: 8px 12px; border-left: 3px solid var(--asked); background: var(--card); color: var(--text); }
.legend { display: flex; flex-wrap: wrap; gap: 4px 18px; margin: 14px 0 16px; padding: 0; list-style: none; font-size: 13px;
  color: var(--soft); }
.legend li { display: flex; align-items: center; gap: 7px; }
.key { width: 14px; height: 14px; border: 1.5px solid; border-radius: 4px; }
.ring { border: 3px solid var(--asked); }
.legend svg { width: 28px; height: 10px; }
main { display: flex; flex-wrap: wrap; align-items: flex-start; gap: 20px; padding-bottom: 32px; }
.drawing { flex: 1 1 auto; max-width: 100%; overflow: auto; border: 1px solid var(--line); border-radius: 12px; background: var(--card); }
.drawing svg { display: block; margin: 0 auto; }
.list { flex: 999 1 420px; min-width: 0; }
.list ol { margin: 0; padding: 0; list-style: none; display: grid; gap: 8px; }
.standing { color: var(--standing); background: var(--standing-ground); }
.past { color: var(--past); background: var(--past-ground); }
.gone { color: var(--gone); background: var(--gone-ground); }
.episode { color: var(--episode); background: var(--episode-ground); }
.edge { fill: none; stroke: var(--edge); stroke-width: 1.6; }
.dotted { stroke-dasharray: 2 5; stroke-linecap: round; }
.tip { fill: var(--edge); }
.why { font-size: 11px; fill: var(--soft); text-anchor: middle; paint-order: stroke; stroke: var(--card); stroke-width: 5px;
  stroke-linejoin: round; }
.box { fill: var(--ground); stroke: var(--tone); stroke-width: 1.3; }
g.standing { --tone: var(--standing); --ground: var(--standing-ground); }
g.past { --tone: var(--past); --ground: var(--past-ground); }
g.gone { --tone: var(--gone); --ground: var(--gone-ground); }
g.episode { --tone: var(--episode); --ground: var(--episode-ground); }
g.asked .box { stroke: var(--asked); stroke-width: 3; }
a:focus-visible { outline: 2px solid var(--asked); outline-offset: 3px; border-radius: 8px; }
g a:hover .box { stroke-width: 2.6; }
.inside { height: 100%; padding: 7px 10px; display: flex; flex-direction: column; justify-content: space-between; line-height: 1.3; }
.inside p { margin: 0; }
.words { font-size: 12.5px; color: var(--text); display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 3;
  overflow: hidden; }
.about { font-size: 11px; color: var(--tone); display: flex; justify-content: space-between; gap: 6px; white-space: nowrap; }
.about b { overflow: hidden; text-overflow: ellipsis; font-weight: 600; }
.memory { padding: 10px 14px; border: 1px solid var(--line); border-radius: 10px; background: var(--card); scroll-margin: 16px; }
.memory.asked { border-color: var(--asked); }
.memory:target { outline: 2px solid var(--asked); outline-offset: 1px; }
.facts { display: flex; flex-wrap: wrap; align-items: center; gap: 3px 10px; margin: 0 0 4px; font-size: 12.5px; color: var(--soft); }
.pill { padding: 0 8px; border-radius: 999px; font-weight: 600; }
.mark { color: var(--asked); font-weight: 600; }
.whole { margin: 0; white-space: pre-wrap; }
summary { cursor: pointer; }
details[open] summary { margin-bottom: 6px; color: var(--soft); }
.then { margin: 5px 0 0; font-size: 12.5px; color: var(--soft); }
.then a { color: inherit; }
code { color: var(--soft); font: 11.5px ui-monospace, "SF Mono", Consolas, monospace; }
@media (max-width: 560px) { header, main, footer { padding-left: 12px; padding-right: 12px; } h1 { font-size: 19px; }
  .list { flex-basis: 100%; } }
"""  # noqa: E501

_STYLE_HASH = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
POLICY = (
    f"default-src 'none'; style-src 'sha256-{_STYLE_HASH}'; img-src data:; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'; sandbox"
)
"""The Content-Security-Policy of the page.

`img-src data:` allows its empty icon, without which browsers would ask the host for an icon.
"""
