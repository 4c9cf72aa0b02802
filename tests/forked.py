"""`python -I -S tests/forked.py SOCKET module arguments…`: stands in for a program that a fork
server runs.

For tests whose client starts its process by itself, and can't be given one. It passes on its files
with all others that it was given, its folder, its environment, and the signals that ask for an end;
it ends as the program does. When it is killed, the server kills the program.
"""

import array
import json
import os
import signal
import socket
import sys

PASSED_ON = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def ask(
    address: str, arguments: list[str], cwd: str, env: dict[str, str], files: list[tuple[int, int]]
) -> socket.socket:
    """The connection to a server that was asked for a program: it says the pid in a line,
    and the exit code in a second one.

    files: each is a pair of its number here and its number in the program.
    """
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(address)
    request = json.dumps(
        {"arguments": arguments, "cwd": cwd, "env": env, "files": [number for _, number in files]}
    ).encode()
    passed = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [file for file, _ in files]))]
    connection.sendmsg([len(request).to_bytes(4, "big")], passed)
    connection.sendall(request)
    return connection


def line(connection: socket.socket) -> str:
    """The next line that the server says; raises RuntimeError where the server is gone.
    No byte after the line is taken.
    """
    read = b""
    while not read.endswith(b"\n"):
        piece = connection.recv(1)
        if not piece:
            raise RuntimeError("the fork server has ended")
        read += piece
    return read.decode()


def given_files() -> list[int]:
    """The files that the starter has given this process."""
    numbers = [int(name) for name in os.listdir("/proc/self/fd")]
    files = []
    for number in numbers:
        try:
            if os.get_inheritable(number):
                files.append(number)
        except OSError:
            pass  # the one by which they were listed
    return files


def main(address: str, *arguments: str) -> None:
    """Run a program and end as it does."""
    files = given_files()
    connection = ask(
        address, list(arguments), os.getcwd(), dict(os.environ), [(file, file) for file in files]
    )
    pid = int(line(connection))
    for which in PASSED_ON:
        signal.signal(which, lambda number, _: os.kill(pid, number))
    for file in files:  # they are the program's, whose reader would else not see it close them
        os.close(file)
    code = int(line(connection))
    if code < 0:
        signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(code)


if __name__ == "__main__":
    main(*sys.argv[1:])
