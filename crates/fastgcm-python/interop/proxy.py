"""Connections that are cut: between a client and a server, for tests."""

import contextlib
import socket
import threading


class Proxy:
    """Passes bytes on to `port`. `through(number, up, data)` sees what comes on the connection of that number, up to the server or down from it, and
    returns what goes on. After `None` both ends are reset."""

    def __init__(self, port, through):
        self.port, self.through, self.count = port, through, 0
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        with contextlib.suppress(OSError):
            while True:
                client, _ = self.listener.accept()
                self.count += 1
                server = socket.create_connection(("127.0.0.1", self.port))
                for up, here, there in ((True, client, server), (False, server, client)):
                    threading.Thread(target=self._pass, args=(self.count, up, here, there), daemon=True).start()

    def _pass(self, number, up, here, there):
        with contextlib.suppress(OSError):
            while (data := here.recv(1 << 16)) and (data := self.through(number, up, data)) is not None:
                there.sendall(data)
        for end in (here, there):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def close(self):
        self.listener.close()
