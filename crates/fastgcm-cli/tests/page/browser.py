"""The page in Chromium: every case, each place that a text may go to, and what the page may not do."""

import http.server
import json
import threading
import time
from pathlib import Path

from chromium import Chromium

# Instead of the dialog, which this browser lacks: files in the browser's own storage, which have
# the methods of files on the disk. What is written to them is kept.
PICKER = """
window.picked = [];
window.showSaveFilePicker = async ({ suggestedName }) => {
    if (!navigator.userActivation.isActive) throw new DOMException("no click", "SecurityError");
    if (window.refusal) throw window.refusal;
    const folder = await navigator.storage.getDirectory();
    const handle = await folder.getFileHandle(suggestedName, { create: true });
    const create = handle.createWritable.bind(handle), pieces = [];
    handle.createWritable = async () => {
        const file = await create(), write = file.write.bind(file);
        file.write = async text => {
            pieces.push(text.slice());
            await window.delay?.();
            return write(text);
        };
        return file;
    };
    picked.push({ handle, pieces });
    return handle;
};
"""
NO_PICKER = "delete window.showSaveFilePicker;"
FORGET_CLICK = "Object.defineProperty(navigator, 'userActivation', { value: {}, configurable: true })"

# Waits until the page is at its end, or wants another click, and says what it shows.
SHOWN = """new Promise(resolve => {
    const timer = setInterval(() => {
        const asking = !$("asking").hidden;
        if (!$("running").hidden && !asking) return;
        clearInterval(timer);
        const shown = id => $(id).hidden ? null : [...$(id).children].map(line => line.textContent);
        resolve({ asking, failure: shown("failure"), success: shown("success") });
    }, 2);
})"""

# What has been written so far, what the file then was, and which files are left. Then they are removed.
STORED = """(async () => {
    const sha256 = async bytes => [...new Uint8Array(await crypto.subtle.digest("SHA-256", bytes))]
        .map(byte => byte.toString(16).padStart(2, "0")).join("");
    const folder = await navigator.storage.getDirectory(), left = {};
    for await (const [name, handle] of folder.entries()) {
        left[name] = await sha256(await (await handle.getFile()).arrayBuffer());
        await folder.removeEntry(name);
    }
    const written = concat(...picked.flatMap(({ pieces }) => pieces)), count = picked.length;
    picked = [];
    return { left, count, length: written.length, sha256: await sha256(written) };
})()"""


class Server(http.server.ThreadingHTTPServer):
    """Serves the page, also without its policy, and keeps what it is asked for."""

    def __init__(self, page):
        self.asked = []
        server, pages = self, {"/open.html": page, "/free.html": page.replace("Content-Security-Policy", "X")}

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                server.asked.append(self.path)
                content = pages.get(self.path)
                self.send_response(200 if content else 404)
                self.send_header("Content-Type", "text/html; charset=utf-8")
                self.end_headers()
                self.wfile.write((content or "").encode())

            do_POST = do_GET

            def log_message(self, *_):
                pass

        super().__init__(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server_port}/"


class Page:
    """The page in a browser, as a user works with it."""

    def __init__(self, path, browser, downloads):
        self.path, self.browser, self.downloads, self.script = path, browser, downloads, None
        options = {"behavior": "allow", "downloadPath": str(downloads), "eventsEnabled": True}
        browser.call("Browser.setDownloadBehavior", **options)

    def show(self, url, script):
        """Loads the page; before that the script runs in it."""
        if self.script:
            self.browser.tab("Page.removeScriptToEvaluateOnNewDocument", identifier=self.script)
        self.script = self.browser.tab("Page.addScriptToEvaluateOnNewDocument", source=script)["identifier"]
        self.browser.go(url)

    def fill(self, case):
        self.browser.choose("#file", case["file"])
        if case["digits"]:
            self.type("#digits", case["digits"])
        else:
            self.browser.choose("#key", case["key"])
        self.type("#context", case["context"])

    def type(self, selector, text):
        setting = f"field.value = {json.dumps(text)}; field.dispatchEvent(new Event('input'));"
        self.browser.run(f"(field => {{ {setting} }})(document.querySelector('{selector}'))")

    def open(self, case):
        self.fill(case)
        self.browser.run("$('open').click()")
        return self.shown()

    def shown(self):
        while (shown := self.browser.run(SHOWN))["asking"]:  # on a slow machine a click is soon forgotten
            self.browser.run("$('save').click()")
        return shown

    def downloaded(self):
        """The name and the content of what the page has offered, which the browser saves."""
        begun = self.browser.wait("Browser.downloadWillBegin")
        done = {"guid": begun["guid"], "state": "completed"}
        self.browser.wait("Browser.downloadProgress", lambda progress: done.items() <= progress.items())
        path = self.downloads / begun["suggestedFilename"]
        content = path.read_bytes()
        path.unlink()
        return path.name, content


def opened_name(case):
    return Path(case["file"]).name.removesuffix(".sealed")


def said(case, shown):
    """The failure that the page shows, without the name of the file or of the key."""
    if not shown["failure"]:
        return None
    name, key = Path(case["file"]).name, "key" if case["digits"] else f"key {Path(case['key']).name}"
    line = shown["failure"][0]
    assert line.startswith((f"{name}: ", f"{key}: ")), shown
    return line.removeprefix(f"{name}: ").removeprefix(f"{key}: ")


def every_case(page, cases):
    """Each file, to a file of the user's choice."""
    outcomes = []
    for case in cases.cases:
        shown = page.open(case)
        stored = page.browser.run(STORED)
        notes = shown["failure"][1:] if shown["failure"] else []
        outcomes.append({**stored, "failure": said(case, shown), "notes": notes})
        what = case["what"], shown, stored
        if case["failure"]:
            # What is wrong is said before the user is asked for a name.
            assert stored["left"] == {} and stored["count"] == 0 and not shown["success"], what
        else:
            assert stored["left"] == {opened_name(case): stored["sha256"]} and not shown["failure"], what
            assert "unchanged and complete" in shown["success"][0], what
    wrong = cases.wrong(outcomes)
    assert wrong == [] and len(outcomes) == 295, wrong
    return len(outcomes)


def offered(page, cases, url):
    """Without the dialog: the text is offered for saving when all of it has been verified."""
    done = 0
    for case in cases.cases[::3]:
        page.show(url, NO_PICKER)  # a page may offer ten
        shown = page.open(case)
        assert said(case, shown) == case["failure"], (case["what"], shown)
        if not case["failure"]:
            name, content = page.downloaded()
            assert (name, content) == (opened_name(case), case["text"]), (case["what"], name, len(content))
            assert shown["success"][1] == f"Save {name}", shown
        done += 1
    begun = [event for event in page.browser.events if event[0] == "Browser.downloadWillBegin"]
    assert begun == [] and list(page.downloads.iterdir()) == []
    return done


def manners(page, cases, url):
    """By mouse and keyboard, and what may come between."""
    browser = page.browser
    case = next(case for case in cases.cases if len(case["text"]) > 5_000_000 and not case["digits"])
    name = opened_name(case)

    # Dropped: both anywhere, or each on its field.
    key, file = case["key"], case["file"]
    for drops in ([("h1", key, file)], [("#drop-key", key), ("#drop-file", file)]):
        page.show(url, PICKER)
        page.type("#context", case["context"])
        for selector, *files in drops:
            browser.drop(selector, *files)
        browser.run("new Promise(resolve => setTimeout(resolve, 100))")
        browser.run("$('open').click()")
        assert page.shown()["success"], drops
        assert list(browser.run(STORED)["left"]) == [name]

    # Return, in a field of text.
    page.show(url, PICKER)
    page.fill(case)
    browser.run("$('digits').focus()")
    enter = {"key": "Enter", "code": "Enter", "windowsVirtualKeyCode": 13, "text": "\r"}
    for kind in ("keyDown", "keyUp"):
        browser.tab("Input.dispatchKeyEvent", type=kind, **enter)
    shown, stored = page.shown(), browser.run(STORED)
    assert shown["success"] and list(stored["left"]) == [name], shown

    # One kind of key takes the other's place.
    page.type("#digits", "ab")
    assert browser.run("$('key').files.length") == 0
    browser.choose("#key", case["key"])
    assert browser.run("$('digits').value") == ""

    # Nothing to open; digits that are none; a dialog that the user closes.
    page.show(url, PICKER)
    browser.run("$('open').click()")
    assert browser.run(SHOWN)["failure"] == ["choose a sealed file"]
    browser.choose("#file", case["file"])
    browser.run("$('open').click()")
    assert browser.run(SHOWN)["failure"] == ["key: choose a key file, or type the key's digits"]
    for digits in ("x", "ab" * 31, "a password of 16", "a password of 32, not hexadecimal"):
        shown = page.open({**case, "digits": digits})
        assert shown["failure"] == ["key: not a key: neither 32 nor 64 hexadecimal digits"], shown
    page.type("#digits", "")
    browser.run("window.refusal = new DOMException('', 'AbortError')")
    assert page.open(case)["failure"] == ["cancelled: nothing was saved"]
    browser.run("window.refusal = undefined")

    # A click that was long ago: the dialog wants another one. Or the user cancels.
    for button in ("cancel", "save"):
        browser.run(FORGET_CLICK)
        page.fill(case)
        browser.run("$('open').click()")
        assert browser.run(SHOWN)["asking"] and browser.run("picked.length") == 0
        browser.run("delete navigator.userActivation")
        browser.run(f"$('{button}').click()")
        shown, stored = browser.run(SHOWN), browser.run(STORED)
        assert shown["asking"] is False and bool(shown["success"]) == (button == "save"), shown
        assert list(stored["left"]) == ([name] if button == "save" else [])

    # Cancelled in the middle, and no room: nothing stays. Then the same page opens the file.
    browser.run("window.delay = async () => { if (picked[0].pieces.length === 2) $('cancel').click(); }")
    assert page.open(case)["failure"] == ["cancelled: nothing was saved"]
    stored = browser.run(STORED)
    assert stored["left"] == {} and 0 < stored["length"] < len(case["text"]), stored
    full = "if (picked[0].pieces.length === 3) throw new DOMException('no room', 'QuotaExceededError')"
    browser.run(f"window.delay = async () => {{ {full}; }}")
    assert page.open(case)["failure"] == [f"{Path(case['file']).name}: QuotaExceededError: no room"]
    assert browser.run(STORED)["left"] == {}
    browser.run("window.delay = undefined")
    assert page.open(case)["success"]
    browser.run(STORED)

    # Names are shown, not obeyed.
    strange = {**case, "file": cases.write("a\u202e\x1b<b>.sealed", b"no sealed file" * 10)}
    assert page.open(strange)["failure"][0].startswith("a\\u{202e}\\u{1b}<b>.sealed: wrong key")

    # A file that becomes another one before it is opened, or between its two readings.
    for when in ("before", "between"):
        changing = {**case, "file": cases.write("changing.sealed", Path(case["file"]).read_bytes())}
        page.fill(changing)
        if when == "between":
            browser.run(FORGET_CLICK)
            browser.run("$('open').click()")
            assert browser.run(SHOWN)["asking"]
            browser.run("delete navigator.userActivation")
        with open(changing["file"], "ab") as file:
            file.write(b"more")
        browser.run(f"$('{'open' if when == 'before' else 'save'}').click()")
        assert "it cannot be read" in browser.run(SHOWN)["failure"][0]
        assert browser.run(STORED)["left"] == {}
    return 19


def storage(page, cases, url):
    """What a page left in the browser's own storage the next one removes, but not what is in use."""
    names = "navigator.storage.getDirectory().then(folder => Array.fromAsync(folder.keys()))"
    case = next(case for case in cases.cases if case["text"] and not case["failure"])
    page.show(url, NO_PICKER)
    page.open(case)
    page.downloaded()
    kept = page.browser.run(names)
    assert len(kept) == 1, kept
    assert page.browser.run(f"Stored.sweep().then(() => {names})") == kept
    page.show(url, NO_PICKER)
    assert page.browser.run(f"Stored.sweep().then(() => {names})") == []
    # Where even that is missing there is memory, and a limit.
    limit = page.browser.run("try { new Held('a', 2 ** 30 + 1) } catch (error) { error.message }")
    assert limit.endswith("memory: 1.0 GiB, of at most 1.0 GiB"), limit
    return 3


# Ways out of a page. URL is one of the server's.
WAYS = ["fetch(URL)", "navigator.sendBeacon(URL)", "import(URL)", "new WebSocket(URL)", "new Worker(URL)",
        "new EventSource(URL)", "Object.assign(new Image(), { src: URL })",
        "new Function('u', 'fetch(u)')(URL)",
        "document.body.insertAdjacentHTML('beforeend', `<img src=${URL}>`)",
        "document.body.append(Object.assign(document.createElement('iframe'), { src: URL }))",
        "document.body.append(Object.assign(document.createElement('script'), { src: URL }))",
        "const link = Object.assign(document.createElement('link'), { rel: 'stylesheet', href: URL });"
        " document.head.append(link)",
        "const form = Object.assign(document.createElement('form'), { action: URL, target: 'x' });"
        " document.body.append(form); form.submit()"]


# Ways out that no policy of a page closes. A script would have to be in the page, and none but its own gets in.
UNBLOCKED = ["location.href = URL", "location.replace(URL)", "window.open(URL)",
             "document.body.append(Object.assign(document.createElement('a'), { id: 'out', href: URL }));"
             " document.getElementById('out').click()",
             "const peer = new RTCPeerConnection(); peer.createDataChannel('out');"
             " peer.createOffer().then(offer => { if (offer.sdp) location.href = URL })"]


def no_request(page, server):
    """Nothing has been asked for but the page. And no way that a policy can close leads out of it; without its policy all do."""
    requests = [parameters["request"]["url"] for method, parameters in page.browser.events
                if method == "Network.requestWillBeSent"]
    own = {f"{server.url}open.html", page.path.as_uri()}
    assert {url for url in requests if not url.startswith("blob:")} <= own, requests
    assert set(server.asked) <= {"/open.html", "/favicon.ico"}, server.asked
    for name, reached in (("open.html", 0), ("free.html", len(WAYS))):
        page.show(server.url + name, "")
        server.asked.clear()
        for number, way in enumerate(WAYS):
            url = json.dumps(f"{server.url}way{number}")
            page.browser.run(f"(async URL => {{ {way} }})({url}).catch(() => {{}}); 0")
        page.browser.run("new Promise(resolve => setTimeout(resolve, 1000))")
        ways = {path for path in server.asked if path.startswith("/way")}
        assert len(ways) == reached, (name, ways)
    for number, way in enumerate(UNBLOCKED):
        page.show(f"{server.url}open.html", "")
        server.asked.clear()
        url = json.dumps(f"{server.url}out{number}")
        page.browser.run(f"(URL => {{ setTimeout(() => {{ {way} }}) }})({url}); 0")
        deadline = time.monotonic() + 20
        while f"/out{number}" not in server.asked and time.monotonic() < deadline:
            time.sleep(0.05)
        # One that a policy closes by now belongs to the list above, and into the policy.
        assert f"/out{number}" in server.asked, way
    # The page's own scripts take none of these ways.
    own = page.path.read_text()
    assert not [word for word in ("location", "window.open", "RTCPeerConnection") if word in own]
    return len(WAYS) + len(UNBLOCKED)


def test(path, cases, folder):
    server, downloads = Server(path.read_text()), folder / "downloads"
    downloads.mkdir()
    served = f"{server.url}open.html"
    with Chromium(folder / "profile") as browser:
        page = Page(path, browser, downloads)
        page.show(served, PICKER)
        print("page::picked ok", every_case(page, cases))
        print("page::stored ok", offered(page, cases, served))
        print("page::held ok", offered(page, cases, path.as_uri()))
        print("page::storage ok", storage(page, cases, served))
        print("page::manners ok", manners(page, cases, served))
        print("page::no_request ok", no_request(page, server))
