"""The picture of the architecture, docs/architecture.svg, out of the boxes and lines below:
`python -m deployment.picture`.

Change it here and run it; a test compares. Names that stand in infra/policy.json are
read from there.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from html import escape
from typing import Literal

from deployment.app import ROOT

TARGET = ROOT / "docs" / "architecture.svg"
WIDTH, HEIGHT = 1180, 700
STYLE = """
  text { font: 13px system-ui, 'Segoe UI', Helvetica, Arial, sans-serif; fill: #24292f }
  .title { font-weight: 600; font-size: 15px } .small { font-size: 12px; fill: #57606a }
  .label { font-size: 12px; fill: #0b5a8f }
  .page { fill: #ffffff } .box { fill: #f6f8fa; stroke: #57606a; stroke-width: 1.2 }
  .app { fill: #e7f1fa; stroke: #0b5a8f; stroke-width: 1.8 }
  .optional { fill: #ffffff; stroke: #57606a; stroke-width: 1.2; stroke-dasharray: 5 4 }
  .network { fill: none; stroke: #8a6d00; stroke-width: 1.4; stroke-dasharray: 9 5 } .of-network { fill: #8a6d00; font-size: 12px }
  .line { fill: none; stroke: #0b5a8f; stroke-width: 1.6 } .tip { fill: #0b5a8f }
"""  # noqa: E501
Side = Literal["left", "right", "top", "bottom"]


@dataclass(frozen=True, slots=True)
class Box:
    """A box: left, top, width and height in pixels, a title and lines under it."""

    x: int
    y: int
    w: int
    h: int
    title: str
    lines: tuple[str, ...] = ()
    kind: str = "box"

    def at(self, side: Side, share: float = 0.5) -> tuple[float, float]:
        """The point on a side, a share of its length from its beginning."""
        if side in ("left", "right"):
            return self.x + (self.w if side == "right" else 0), self.y + share * self.h
        return self.x + share * self.w, self.y + (self.h if side == "bottom" else 0)


def boxes() -> dict[str, Box]:
    """Everything that is deployed, and who calls it."""
    policy = json.loads((ROOT / "infra" / "policy.json").read_text(encoding="utf-8"))
    containers = json.loads(
        (ROOT / "memory_core/adapters/cosmos/policy.json").read_text(encoding="utf-8")
    )
    work = [name for name in policy["queues"] if not name.endswith("-poison")]
    names = ", ".join(container["name"] for container in containers["containers"])
    return {
        "agents": Box(
            30, 180, 190, 96, "Agents, people", ("HTTPS with an API key,", "webhooks back to them")
        ),
        "app": Box(340, 62, 300, 384, "Function app", ("Flex Consumption, Python 3.13",), "app"),
        "http": Box(
            360, 122, 260, 62, "HTTP functions", ("behind one gate; always ready if asked",)
        ),
        "queues": Box(360, 198, 260, 62, "Queue functions", ("form, consolidate, tell receivers",)),
        "timer": Box(360, 274, 260, 62, "Hourly timer", ("finds what is due and sends it on",)),
        **_called_services(names, ", ".join(work)),
        "host": Box(340, 500, 140, 92, "Storage: host", ("the app's package,", "leases, timer")),
        "logs": Box(500, 500, 140, 92, "Monitor", ("logs, alerts,", "workbook, budget")),
        "identity": Box(
            360,
            350,
            260,
            80,
            "One managed identity",
            ("signs in to all that is called,", "with a role for each: no key anywhere"),
        ),
    }


def _called_services(containers: str, queues: str) -> dict[str, Box]:
    """The services that the app calls, from top to bottom on the right."""
    return {
        "cosmos": Box(
            840,
            60,
            310,
            92,
            "Cosmos DB",
            (
                "the truth: one partition a user",
                f"container {containers}: vectors, full text, index",
            ),
        ),
        "storage": Box(
            840,
            172,
            310,
            92,
            "Storage: data",
            (f"queues {queues}", "blobs: the archive, Hot → Cool → Cold"),
        ),
        "openai": Box(
            840, 284, 310, 74, "Azure OpenAI", ("embeddings, and a chat model if wanted",)
        ),
        "redis": Box(
            840,
            378,
            310,
            74,
            "Managed Redis, optional",
            ("the short term; may be lost at any moment",),
            "optional",
        ),
        "vault": Box(
            840,
            472,
            310,
            74,
            "Key Vault, optional",
            ("hashes of API keys, two signing secrets",),
            "optional",
        ),
    }


def picture() -> str:
    """The whole picture as SVG."""
    all_boxes = boxes()
    app = all_boxes["app"]
    lines = [
        _line(
            all_boxes["agents"].at("right"),
            app.at("left", (228 - app.y) / app.h),
            label="HTTPS",
            before=52,
        ),
        *(
            _line(
                app.at("right", (y - app.y) / app.h),
                all_boxes[name].at("left"),
                bend=bend,
                label=label,
            )
            for name, y, bend, label in (
                ("cosmos", 106, 740, "batches, queries"),
                ("storage", 190, 720, "send, receive"),
                ("openai", 274, 700, "vectors, answers"),
                ("redis", 358, 680, "cache"),
                ("vault", 420, 660, "settings"),
            )
        ),
        _line(app.at("bottom", 70 / app.w), all_boxes["host"].at("top")),
        _line(app.at("bottom", 230 / app.w), all_boxes["logs"].at("top")),
    ]
    network = (
        '<rect class="network" x="300" y="30" width="870" height="610" rx="14"/>'
        '<text class="of-network" x="320" y="664">with vnetEnabled: the app in a subnet, its '
        "stores and models by private endpoints, "
        "their public doors closed; callers still come by HTTPS</text>"
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" '
        f'height="{HEIGHT}" role="img" '
        'aria-label="Architecture of Memory Core on Azure">\n'
        f"<style>{STYLE}</style>\n"
        '<defs><marker id="tip" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" '
        'markerHeight="7" orient="auto-start-reverse">'
        '<path class="tip" d="M0 0 10 5 0 10z"/></marker></defs>\n'
        f'<rect class="page" width="{WIDTH}" height="{HEIGHT}"/>\n{network}\n'
        + "\n".join([*(_box(box) for box in all_boxes.values()), *lines])
        + "\n</svg>\n"
    )


def _box(box: Box) -> str:
    texts = [f'<text class="title" x="{box.x + 14}" y="{box.y + 25}">{escape(box.title)}</text>']
    texts += [
        f'<text class="small" x="{box.x + 14}" y="{box.y + 46 + 19 * at}">{escape(line)}</text>'
        for at, line in enumerate(box.lines)
    ]
    return (
        f'<rect class="{box.kind}" x="{box.x}" y="{box.y}" width="{box.w}" height="{box.h}" '
        f'rx="8"/>{"".join(texts)}'
    )


def _line(
    start: tuple[float, float],
    end: tuple[float, float],
    *,
    bend: float = 0,
    label: str = "",
    before: float = 14,
) -> str:
    """From one point to another: straight down, straight across, or across to `bend`, up or down,
    and on; a label `before` its end.
    """
    (x, y), (to_x, to_y) = start, end
    path = (
        f"M{x:g} {y:g} V{to_y:g}"
        if x == to_x
        else f"M{x:g} {y:g} H{bend or to_x:g} V{to_y:g} H{to_x:g}"
    )
    text = (
        (
            f'<text class="label" text-anchor="end" x="{to_x - before:g}" '
            f'y="{to_y - 7:g}">{escape(label)}</text>'
        )
        if label
        else ""
    )
    return f'<path class="line" d="{path}" marker-end="url(#tip)"/>{text}'


if __name__ == "__main__":
    TARGET.write_text(picture(), encoding="utf-8")
    print(TARGET)
