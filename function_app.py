"""The composition root that Azure Functions indexes: one app, its blueprints, nothing else.

ANONYMOUS means that the host lets everybody in and our own gate
(`memory_core.functions.gate`) decides.
"""

import azure.functions as func

from memory_core.functions.blueprints import BLUEPRINTS

app = func.FunctionApp(http_auth_level=func.AuthLevel.ANONYMOUS)
for blueprint in BLUEPRINTS:
    app.register_functions(blueprint)
