//! The library behind the package `fastgcm` for Node. Only `lib/` calls these functions.

mod aead;
mod background;
mod batch;
mod cobblestone;
mod fault;
mod js;
mod naming;
mod nonces;
mod pieces;

use fastgcm::Backend;
use js::{Call, Value, Verb};
use std::{env, ffi::CStr, sync::OnceLock};

/// All functions, by their names in JavaScript.
const VERBS: &[(&CStr, Verb)] = &[
    (c"gcm", aead::gcm),
    (c"siv", aead::siv),
    (c"xaes", aead::xaes),
    (c"kcXaes", aead::kc_xaes),
    (c"destroy", aead::destroy),
    (c"seal", aead::seal),
    (c"open", aead::open),
    (c"sealDrawn", aead::seal_drawn),
    (c"openDrawn", aead::open_drawn),
    (c"batch", batch::batch),
    (c"background", background::background),
    (c"counterNonces", nonces::counter),
    (c"randomNonces", nonces::random),
    (c"xorNonces", nonces::xor),
    (c"xorNonce", nonces::xor_at),
    (c"blocks", nonces::blocks),
    (c"blocksLeft", nonces::blocks_left),
    (c"blocksUsed", nonces::blocks_used),
    (c"draw", nonces::draw),
    (c"position", nonces::position),
    (c"pieces", pieces::begin),
    (c"piecesAad", pieces::aad),
    (c"piecesText", pieces::text),
    (c"piecesFinish", pieces::finish),
    (c"piecesVerify", pieces::verify),
    (c"piecesDestroy", pieces::destroy),
    (c"stream", cobblestone::stream),
    (c"streamRoom", cobblestone::room),
    (c"streamUpdate", cobblestone::update),
    (c"streamEnd", cobblestone::end),
    (c"streamDestroy", cobblestone::destroy),
    (c"file", cobblestone::file),
    (c"fileOpen", cobblestone::open),
    (c"fileDestroy", cobblestone::close),
    (c"place", naming::place),
    (c"publish", naming::publish),
    (c"cpu", cpu),
    (c"version", version),
];

/// Returns the back end for which keys are made: the one that the environment variable `FASTGCM_BACKEND` names, if this machine can run it,
/// or else the best. A program with more rights than the user who started it ignores the variable.
fn backend() -> Backend {
    static CHOSEN: OnceLock<Backend> = OnceLock::new();
    *CHOSEN.get_or_init(|| {
        // SAFETY: the call reads what the kernel told this process.
        #[cfg(target_os = "linux")]
        let looks = unsafe { libc::getauxval(libc::AT_SECURE) } == 0;
        #[cfg(not(target_os = "linux"))]
        let looks = false;
        let named = looks.then(|| env::var("FASTGCM_BACKEND").ok()).flatten().and_then(|name| name.parse::<Backend>().ok());
        named.filter(|backend| backend.is_available()).unwrap_or_else(Backend::detect)
    })
}

/// Returns names of back ends: the one in use, and all that the processor can run, best first.
fn cpu(call: &Call) -> Result<Value, fault::Fault> {
    let available = Backend::available().map(Backend::name).collect::<Vec<_>>().join(" ");
    Ok(call.text(&format!("{} {available}", backend().name())))
}

fn version(call: &Call) -> Result<Value, fault::Fault> {
    Ok(call.text(env!("CARGO_PKG_VERSION")))
}
