"""Chromium without a window, by its DevTools protocol over two pipes."""

import contextlib
import json
import os
import select
import subprocess


EVENTS = ["Page.loadEventFired", "Network.requestWillBeSent"]
EVENTS += ["Browser.downloadWillBegin", "Browser.downloadProgress"]


class Chromium:
    """A browser with a profile of its own, and one tab."""

    def __init__(self, profile, *options):
        from_browser, its_output = os.pipe()
        its_input, to_browser = os.pipe()

        def wire():  # It reads commands from 3, and writes to 4.
            ends = os.dup(its_input), os.dup(its_output)
            os.dup2(ends[0], 3)
            os.dup2(ends[1], 4)

        command = ["chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe"]
        self.process = subprocess.Popen(
            [*command, f"--user-data-dir={profile}", *options, "about:blank"],
            preexec_fn=wire, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )
        os.close(its_input)
        os.close(its_output)
        self.input, self.output = open(from_browser, "rb", buffering=0), open(to_browser, "wb", buffering=0)
        self.received, self.number, self.events = b"", 0, []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Network"):
            self.tab(f"{domain}.enable")

    def call(self, method, session=None, **parameters):
        """Sends a command, and waits for its answer."""
        self.number += 1
        command = {"id": self.number, "method": method, "params": parameters}
        if session:
            command["sessionId"] = session
        self.output.write(json.dumps(command).encode() + b"\0")
        while True:
            message = self.receive()
            if message.get("id") == self.number:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']}")
                return message["result"]

    def tab(self, method, **parameters):
        return self.call(method, self.session, **parameters)

    def receive(self):
        """The next message. An event of those that matter is kept, too."""
        while b"\0" not in self.received:
            if not select.select([self.input], [], [], 60)[0]:
                raise TimeoutError(f"Chromium is silent: {self.events[-5:]}")
            some = self.input.read(1 << 16)
            if not some:
                raise EOFError("Chromium has ended")
            self.received += some
        message, self.received = self.received.split(b"\0", 1)
        message = json.loads(message)
        if message.get("method") in EVENTS:
            self.events.append((message["method"], message["params"]))
        return message

    def wait(self, method, fits=lambda parameters: True):
        """Waits for an event, which may have come already, and takes it from the list."""
        while True:
            for event in self.events:
                if event[0] == method and fits(event[1]):
                    self.events.remove(event)
                    return event[1]
            self.receive()

    def go(self, url):
        self.events = [event for event in self.events if event[0] != "Page.loadEventFired"]
        self.tab("Page.navigate", url=url)
        self.wait("Page.loadEventFired")

    def run(self, expression):
        """The value of JavaScript in the page, as if the user had clicked."""
        options = {"awaitPromise": True, "returnByValue": True, "userGesture": True}
        options["allowUnsafeEvalBlockedByCSP"] = False
        answer = self.tab("Runtime.evaluate", expression=expression, **options)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{expression}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def node(self, selector):
        document = self.tab("DOM.getDocument")["root"]["nodeId"]
        return self.tab("DOM.querySelector", nodeId=document, selector=selector)["nodeId"]

    def choose(self, selector, *files):
        paths = [os.path.abspath(file) for file in files]
        self.tab("DOM.setFileInputFiles", nodeId=self.node(selector), files=paths)

    def drop(self, selector, *files):
        """Drops files on the middle of an element."""
        box = self.run(f"(({{ x, y, width, height }}) => [x + width / 2, y + height / 2])"
                       f"(document.querySelector('{selector}').getBoundingClientRect())")
        data = {"items": [], "files": [os.path.abspath(file) for file in files], "dragOperationsMask": 1}
        for kind in ("dragEnter", "dragOver", "drop"):
            self.tab("Input.dispatchDragEvent", type=kind, x=box[0], y=box[1], data=data)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        """Ends it, and waits until all of its processes have: they write to the profile."""
        with contextlib.suppress(BrokenPipeError):
            self.output.write(b'{"id": 0, "method": "Browser.close"}\0')
        while self.input.read(1 << 16):
            pass
        self.process.wait()
