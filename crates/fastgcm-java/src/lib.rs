//! `libfastgcm_java`: what the provider `Fastgcm` of Java calls. From Java 25 on it calls the functions of `calls` themselves (foreign functions), before
//! that those of `jni`, which find out where arrays of Java lie and call the same functions.

mod calls;
mod jni;

pub use {calls::*, jni::*};
