//! The only functions with `#[target_feature]`, generated from the table in `backend.rs`.

/// The entries of one row: what `backend::Entries` lists, behind the one gate where vectors come to life. Short and long
/// messages are two functions, so that a short one does not pay for the long one's stack frame.
macro_rules! entries {
    ($variant:ident, $row:ident, $isa:expr, $multiply:expr $(, $features:literal)?) => {
        mod $row {
            #[allow(unused_imports)]
            use crate::{
                Block,
                backend::{Backend, Entries},
                gcm::{self, Path, Secret},
                ghash::{Karatsuba, KeyFolded, KeyFoldedHalves, Winograd},
                inout::InOut,
                isa::*,
                key::Material,
                nonce::{J0, Nonce96},
            };
            use zeroize::Zeroize;

            pub(super) static ENTRIES: Entries =
                Entries {
                    backend: Backend::$variant, derive, expand, wipe, seal, open, seal_any, open_any, j0, tag,
                    #[cfg(test)] prove: |fault| crate::ghash::proof::prove($multiply, fault),
                    #[cfg(test)] products,
                    #[cfg(test)] fill,
                };

            /// For a key that is returned by value.
            $(#[target_feature(enable = $features)])?
            fn derive(key: &[u8]) -> Material {
                Material::derived(|new| expand(new, key))
            }

            $(#[target_feature(enable = $features)])?
            fn expand(material: &mut Material, key: &[u8]) {
                gcm::expand($isa, $multiply, material, key);
            }

            $(#[target_feature(enable = $features)])?
            fn wipe(material: &mut Material) {
                gcm::wipe($isa, material);
            }

            $(#[target_feature(enable = $features)])?
            fn seal(key: &Material, nonce: Nonce96, aad: &[u8], text: InOut<'_>) -> Block {
                match gcm::path($isa, aad, &text) {
                    Path::Short => gcm::short::<_, _, true>($isa, $multiply, key, nonce, aad, text),
                    Path::Long => seal_long(key, nonce, None, aad, text),
                }
            }

            $(#[target_feature(enable = $features)])?
            fn open(key: &Material, nonce: Nonce96, aad: &[u8], text: InOut<'_>) -> Block {
                match gcm::path($isa, aad, &text) {
                    Path::Short => gcm::short::<_, _, false>($isa, $multiply, key, nonce, aad, text),
                    Path::Long => open_long(key, nonce, None, aad, text),
                }
            }

            $(#[target_feature(enable = $features)])?
            #[inline(never)]
            fn seal_long(key: &Material, nonce: Nonce96, secret: Option<&mut Secret>, aad: &[u8], text: InOut<'_>) -> Block {
                gcm::long::<_, _, true>($isa, $multiply, key, nonce, secret, aad, text)
            }

            $(#[target_feature(enable = $features)])?
            #[inline(never)]
            fn open_long(key: &Material, nonce: Nonce96, secret: Option<&mut Secret>, aad: &[u8], text: InOut<'_>) -> Block {
                gcm::long::<_, _, false>($isa, $multiply, key, nonce, secret, aad, text)
            }

            $(#[target_feature(enable = $features)])?
            fn seal_any(key: &Material, j0: J0, aad: &[u8], text: InOut<'_>) -> Block {
                let mut secret = Secret::new($isa, j0);
                let tag = seal_long(key, Nonce96::NONE, Some(&mut secret), aad, text);
                secret.zeroize();
                tag
            }

            $(#[target_feature(enable = $features)])?
            fn open_any(key: &Material, j0: J0, aad: &[u8], text: InOut<'_>) -> Block {
                let mut secret = Secret::new($isa, j0);
                let tag = open_long(key, Nonce96::NONE, Some(&mut secret), aad, text);
                secret.zeroize();
                tag
            }

            $(#[target_feature(enable = $features)])?
            fn j0(key: &Material, nonce: &[u8]) -> J0 {
                gcm::j0($isa, $multiply, key, nonce)
            }

            $(#[target_feature(enable = $features)])?
            fn tag(key: &Material, j0: J0, aad: &[u8], ciphertext: &[u8]) -> Block {
                gcm::tag($isa, $multiply, key, j0, aad, ciphertext)
            }

            /// Any other work, compiled for this row.
            #[cfg(feature = "internals")]
            $(#[target_feature(enable = $features)])?
            pub(super) fn run<J: crate::backend::Job>(job: J) -> J::Output {
                job.run($isa, $multiply)
            }

            // What a proof needs of a row, beside its messages.
            $(#[target_feature(enable = $features)])?
            #[cfg(test)]
            fn products(block: Block, power: Block) -> [Block; 4] {
                crate::ghash::proof::products($isa, $multiply, block, power)
            }

            $(#[target_feature(enable = $features)])?
            #[cfg(test)]
            fn fill(material: &mut Material, h: Block) {
                crate::ghash::proof::fill($isa, $multiply, material, h);
            }
        }
    };
}
pub(crate) use entries;
