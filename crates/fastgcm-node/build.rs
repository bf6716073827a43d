//! What a program needs that loads the library: it is never unloaded, because threads may still have values
//! of it.

fn main() {
    napi_build::setup();
}
