// Opens files with the first script of the page, without a browser.
//
//     node node.mjs open.html cases.json letters.json
//
// Prints the outcomes as JSON: what the page passed on, and what it says if it fails;
// what is wrong with numbers and lengths of files that are too long for a test; and how
// the page shows those texts.

import assert from "node:assert/strict";
import { createHash, webcrypto } from "node:crypto";
import { readFileSync } from "node:fs";

const [page, cases, letters] = process.argv.slice(2);
const script = readFileSync(page, "utf8").match(/<script>(.*?)<\/script>/s)[1];
const { Sealed, escaped, parseKey, textLength, typedKey } =
    new Function("crypto", `${script}; return { Sealed, escaped, parseKey, textLength, typedKey };`)(webcrypto);

async function numbers() {
    const { subtle } = webcrypto;
    const aes = await subtle.importKey("raw", new Uint8Array(16), "AES-GCM", false, ["encrypt", "decrypt"]);
    const nonce = webcrypto.getRandomValues(new Uint8Array(12));
    const base = BigInt(`0x${Buffer.from(nonce).toString("hex")}`);
    for (const number of [0, 2 ** 31, 2 ** 32 - 1, 2 ** 32, 2 ** 32 + 1, 2 ** 33 + 2 ** 31, 2 ** 38 - 1]) {
        const iv = Buffer.from((base ^ BigInt(number)).toString(16).padStart(24, "0"), "hex");
        const chunk = new Uint8Array(await subtle.encrypt({ name: "AES-GCM", iv }, aes, Buffer.from("text")));
        const text = await Object.assign(new Sealed(), { aes, nonce }).openChunk(number, chunk);
        assert.equal(Buffer.from(text).toString(), "text");
    }
    const longest = 2 ** 52 - 1, sealed = 56 + longest + 2 ** 38 * 16;
    assert.equal(textLength(sealed), longest);
    assert.throws(() => textLength(sealed + 1), /longer than the format allows/);
}

const outcomes = [];
for (const { file, key, digits, context } of JSON.parse(readFileSync(cases))) {
    const hash = createHash("sha256");
    let length = 0, failure = null, notes = [];
    try {
        const secret = digits ? typedKey(digits) : parseKey(new Uint8Array(readFileSync(key)));
        const sealed = await Sealed.of(new Blob([readFileSync(file)]), secret, context);
        await sealed.copy(async text => {
            hash.update(text);
            length += text.length;
        });
    } catch (error) {
        failure = error.notes ? error.message : String(error.stack);
        notes = error.notes ?? [];
    }
    outcomes.push({ failure, notes, length, sha256: hash.digest("hex") });
}
const wrongNumbers = await numbers().then(() => null, error => error.message);
const shown = JSON.parse(readFileSync(letters)).map(escaped);
console.log(JSON.stringify({ outcomes, shown, wrongNumbers }));
