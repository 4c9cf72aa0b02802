"""The composition root that Azure Functions indexes: one app, its blueprints, nothing else.

ANONYMOUS means that the host lets everybody in and our own gate
(`memory_core.functions.gate`) decides.
"""

import gc

gc.disable()  # imports make no garbage, and looking for some is a fifth of their time

import azure.functions as func  # noqa: E402

from memory_core.functions.blueprints import BLUEPRINTS  # noqa: E402

app = func.FunctionApp(http_auth_level=func.AuthLevel.ANONYMOUS)
for blueprint in BLUEPRINTS:
    app.register_functions(blueprint)

gc.freeze()
gc.enable()
