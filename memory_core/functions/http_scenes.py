"""What memories add up to: the scenes of a life, and the profile of a person."""

from __future__ import annotations

import azure.functions as func
from azure.functions import HttpResponse

from memory_core.domain.scene_requests import ProfileInput, ScenesInput
from memory_core.functions.answers import json_response
from memory_core.functions.gate import Admitted, gated
from memory_core.functions.inputs import Nothing

blueprint = func.Blueprint()


@blueprint.route(route="api/v1/scenes", methods=["GET"])
@gated("read", query=ScenesInput)
async def scenes_list(req: Admitted[ScenesInput]) -> HttpResponse:
    """List a user's scenes, the one begun last first."""
    page = await req.core.scenes(req.owner, req.input.cursor, req.input.limit)
    soon = {} if page.scenes or req.input.cursor else {"expected_at": await req.core.next_run(req.owner)}
    return json_response({"scenes": [scene.public() for scene in page.scenes], "next_cursor": page.next_cursor, **soon})


@blueprint.route(route="api/v1/scenes/{scene_id}", methods=["GET"])
@gated("read", query=Nothing)
async def scene_get(req: Admitted[Nothing]) -> HttpResponse:
    """One scene: its theme, its story, and the episodes in it."""
    return json_response((await req.core.scene(req.owner, req.route["scene_id"])).public())


@blueprint.route(route="api/v1/profile", methods=["GET"])
@gated("read", query=ProfileInput)
async def profile_get(req: Admitted[ProfileInput]) -> HttpResponse:
    """What is known of a user: what they said of themselves, and what shows; with `at`, as it was true then."""
    profile = await req.core.profile(req.owner, req.input.at)
    soon = {} if profile.explicit or profile.implicit or req.input.at else {"expected_at": await req.core.next_run(req.owner)}
    return json_response({**profile.public(), **soon})
