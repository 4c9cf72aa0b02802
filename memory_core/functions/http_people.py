"""Profiles, users' rights to their data, and an admin's view of an app's users.

A user has the right to export all stored data, to import it elsewhere, and to have it erased.
"""

from __future__ import annotations

import azure.functions as func
from azure.functions import HttpResponse

from memory_core.domain.requests.maintenance import (
    ImportCommitInput,
    ImportInput,
    PartInput,
    ProfileInput,
    ScenesInput,
    SettingsInput,
)
from memory_core.domain.requests.memories import AcrossInput
from memory_core.functions.gate import Admitted, gated
from memory_core.functions.request_parsing import Nothing
from memory_core.functions.responses import accepted_response, json_response

blueprint = func.Blueprint()
LINES = "application/x-ndjson"
_USER = "api/v1/users/{user_id}"


@blueprint.route(route=f"{_USER}/settings", methods=["GET"])
@gated("read", query=Nothing)
async def user_settings(req: Admitted[Nothing]) -> HttpResponse:
    """The settings of a user: the time zone."""
    return json_response((await req.core.user_settings(req.owner)).public())


@blueprint.route(route=f"{_USER}/settings", methods=["PUT"])
@gated("write", body=SettingsInput)
async def user_settings_put(req: Admitted[SettingsInput]) -> HttpResponse:
    """Set the settings of a user: the time zone."""
    return json_response(
        (await req.core.set_user_settings(req.owner, req.input, req.call)).public()
    )


@blueprint.route(route="api/v1/usage", methods=["GET"])
@gated("read", query=Nothing)
async def usage(req: Admitted[Nothing]) -> HttpResponse:
    """Bytes of a user's stored memories and tokens of the model today, with their limits.

    A limit is null where there is none.
    """
    return json_response(await req.core.usage(req.owner))


@blueprint.route(route="api/v1/usage/app", methods=["GET"])
@gated("admin", query=Nothing, scoped=False)
async def usage_app(req: Admitted[Nothing]) -> HttpResponse:
    """Bytes and tokens that all users of the app take together, with their limits."""
    return json_response(await req.core.app_usage(req.owner.app_id))


@blueprint.route(route=f"{_USER}/export", methods=["POST"])
@gated("read", query=Nothing)
async def user_export(req: Admitted[Nothing]) -> HttpResponse:
    """Export all that is stored of a user into a file.

    The file can be fetched in parts for seven days.
    """
    return accepted_response(req.owner, await req.core.export(req.owner, req.call))


@blueprint.route(route=f"{_USER}/export/{{task_id}}", methods=["GET"])
@gated("read", query=PartInput)
async def user_export_part(req: Admitted[PartInput]) -> HttpResponse:
    """A part of an export that has succeeded, counted from 1.

    The task of the export says how many parts there are.
    """
    data = await req.core.export_part(req.owner, req.route["task_id"], req.input.part)
    return HttpResponse(
        data,
        mimetype=LINES,
        headers={"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"},
    )


@blueprint.route(route=f"{_USER}/import", methods=["POST"])
@gated("write", query=ImportInput)
async def user_import(req: Admitted[ImportInput]) -> HttpResponse:
    """Begin to import a file.

    An export needs a user without any data; conversations are for any user.
    """
    return accepted_response(req.owner, await req.core.begin_import(req.owner, req.input, req.call))


@blueprint.route(route=f"{_USER}/import/{{task_id}}", methods=["PUT"])
@gated("write", query=PartInput, raw=LINES)
async def user_import_part(req: Admitted[PartInput]) -> HttpResponse:
    """Upload a part of the file, counted from 1, in any order.

    A part that is uploaded again replaces itself.
    """
    await req.core.import_part(
        req.owner, req.route["task_id"], req.input.part, req.content, req.call
    )
    return HttpResponse(status_code=204)


@blueprint.route(route=f"{_USER}/import/{{task_id}}/commit", methods=["POST"])
@gated("write", body=ImportCommitInput)
async def user_import_commit(req: Admitted[ImportCommitInput]) -> HttpResponse:
    """Begin the import of a file whose parts have all been uploaded.

    The file is checked, then stored. An export is stored completely or not at all, conversations in
    turn.
    """
    return accepted_response(
        req.owner,
        await req.core.commit_import(req.owner, req.route["task_id"], req.input, req.call),
    )


@blueprint.route(route=_USER, methods=["DELETE"])
@gated("admin", query=Nothing, own=True)
async def user_erase(req: Admitted[Nothing]) -> HttpResponse:
    """Erase a user permanently, in every store.

    Needs `admin`, or `write` with a key that is bound to this user.
    """
    return accepted_response(req.owner, await req.core.erase(req.owner, req.call))


# What memories add up to: the scenes of a life, and the profile of a person.


@blueprint.route(route="api/v1/scenes", methods=["GET"])
@gated("read", query=ScenesInput)
async def scenes_list(req: Admitted[ScenesInput]) -> HttpResponse:
    """List a user's scenes, the scene that began last first."""
    page = await req.core.scenes(req.owner, req.input.cursor, req.input.limit)
    soon = (
        {}
        if page.scenes or req.input.cursor
        else {"expected_at": await req.core.next_run(req.owner)}
    )
    return json_response(
        {
            "scenes": [scene.public() for scene in page.scenes],
            "next_cursor": page.next_cursor,
            **soon,
        }
    )


@blueprint.route(route="api/v1/scenes/{scene_id}", methods=["GET"])
@gated("read", query=Nothing)
async def scene_get(req: Admitted[Nothing]) -> HttpResponse:
    """A scene: its theme, its story, and the episodes in it."""
    return json_response((await req.core.scene(req.owner, req.route["scene_id"])).public())


@blueprint.route(route="api/v1/profile", methods=["GET"])
@gated("read", query=ProfileInput)
async def profile_get(req: Admitted[ProfileInput]) -> HttpResponse:
    """The profile of a user: facts that the user stated, and traits that were observed.

    With `at`, as it was true then.
    """
    profile = await req.core.profile(req.owner, req.input.at)
    soon = (
        {}
        if profile.explicit or profile.implicit or req.input.at
        else {"expected_at": await req.core.next_run(req.owner)}
    )
    return json_response({**profile.public(), **soon})


# Calls for an app's admin about all users: poisoned tasks, and agents.
#
# Note: Azure's host tries functions in the order of their names. `poisoned_tasks_list` has to come
# before `task_get`, whose route fits its path as well.


@blueprint.route(route="api/v1/tasks/poisoned", methods=["GET"])
@gated("admin", query=AcrossInput, scoped=False)
async def poisoned_tasks_list(req: Admitted[AcrossInput]) -> HttpResponse:
    """List the poisoned tasks of all users of the app, newest first.

    They failed too often, and are listed until they are retried or cancelled.
    """
    page = await req.core.poisoned_tasks(req.owner.app_id, req.input)
    tasks = [{"user_id": user_id, **task.public()} for user_id, task in page.tasks]
    return json_response({"tasks": tasks, "next_cursor": page.next_cursor})


@blueprint.route(route="api/v1/agents", methods=["GET"])
@gated("admin", query=AcrossInput, scoped=False)
async def agents_list(req: Admitted[AcrossInput]) -> HttpResponse:
    """List the agents that the app's users have memories of, by user and agent."""
    page = await req.core.agents(req.owner.app_id, req.input)
    return json_response({"agents": page.agents, "next_cursor": page.next_cursor})
