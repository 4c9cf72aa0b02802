"""The app without the function that forms conversations: what is told is accepted, found,
and never formed.
"""

import azure.functions as func

from memory_core.functions import triggers
from memory_core.functions.blueprints import BLUEPRINTS

app = func.FunctionApp(http_auth_level=func.AuthLevel.ANONYMOUS)
for blueprint in BLUEPRINTS:
    if blueprint is not triggers.blueprint:
        app.register_functions(blueprint)
