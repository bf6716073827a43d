// Modules of WebAssembly in Node: `node run.mjs MODULE...` checks each; `node run.mjs --time MODULE...` also measures them side by side, with WebCrypto.
import { readFile } from 'node:fs/promises';

const options = process.argv.slice(2);
const isTimed = options[0] === '--time' && options.shift();
const rows = [];
for (const file of options) {
    const { instance } = await WebAssembly.instantiate(await readFile(file), {});
    const [{ seal, check, back_ends: backEnds }, name] = [instance.exports, file.split('/').at(-4)];
    console.log(`wasm::node::${name} ok ${check()}`);
    for (let which = 0; which <= backEnds(); which++)
        rows.push({ name: `${name}, ${['portable', 'vpaes-simd128'][backEnds() - 1 - which] ?? 'RustCrypto'}`, seal: (...given) => seal(which, ...given), times: [] });
}
if (isTimed) {
    const [length, messages, rounds] = [16384, 4, 400];
    const [key, text] = [await crypto.subtle.importKey('raw', Buffer.alloc(16, 7), 'AES-GCM', false, ['encrypt']), Buffer.alloc(length, 5)];
    const parameters = { name: 'AES-GCM', iv: Buffer.alloc(12, 1) };
    const web = async () => {
        for (let message = 0; message < messages; message++) await crypto.subtle.encrypt(parameters, key, text);
    };
    rows.push({ name: 'WebCrypto', seal: web, times: [] });
    for (let round = 0; round < rounds; round++)
        for (const row of rows) {
            const begin = performance.now();
            await row.seal(length, messages);
            row.times.push(((performance.now() - begin) * 1000) / messages);
        }
    for (const { name, times } of rows) {
        times.sort((a, b) => a - b);
        console.log(`${name}: best ${times[0].toFixed(1)} us, median ${times[rounds / 2].toFixed(1)} us, ${(length / times[0]).toFixed(0)} MB/s`);
    }
}
