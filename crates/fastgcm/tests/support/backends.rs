//! Which back ends a suite is put to.

use fastgcm::Backend;

/// All that this machine can run; with `FASTGCM_ONLY=vaes-avx512,vaes-avx2` those of them. An emulated processor is slow, and is there
/// for the sake of these two.
pub(crate) fn backends() -> Vec<Backend> {
    let Ok(only) = std::env::var("FASTGCM_ONLY") else { return Backend::available().collect() };
    let named: Vec<Backend> = only.split(',').map(|name| name.parse().expect("FASTGCM_ONLY names back ends")).collect();
    assert!(named.iter().all(|backend| backend.is_available()), "FASTGCM_ONLY: this machine cannot run {named:?}");
    named
}
