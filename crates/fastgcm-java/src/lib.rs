//! `libfastgcm_java`: the library that the Java provider `Fastgcm` calls. From Java 25 on it calls the functions of `calls` directly
//! (foreign functions). Before that it calls the functions of `jni`, which find out where arrays of Java are and call those functions.

mod calls;
mod jni;

pub use {calls::*, jni::*};
