//! Nonces that lead to a J0 of the test's choice.

use fastgcm_model::{Block, Model, multiply_blocks};

/// Finds them for one key.
pub(crate) struct Nonces<'a> {
    model: &'a Model,
    one_over_h: Block,
}

impl<'a> Nonces<'a> {
    pub(crate) fn of(model: &'a Model) -> Self {
        Self { model, one_over_h: inverse(model.h()) }
    }

    /// J0 = (N·H + L)·H for a nonce N of one block and its length L, so N = (J0/H + L)/H.
    pub(crate) fn leading_to(&self, j0: &Block) -> Block {
        let mut nonce = multiply_blocks(j0, &self.one_over_h);
        nonce[15] ^= 128; // L, in bits
        nonce = multiply_blocks(&nonce, &self.one_over_h);
        assert_eq!(self.model.j0(&nonce), *j0, "the nonce leads where it should");
        nonce
    }
}

/// 1/x in GF(2^128): x^(2^128 - 2), by squaring.
fn inverse(x: Block) -> Block {
    let (mut power, mut product) = (x, None);
    for _ in 1..128 {
        power = multiply_blocks(&power, &power);
        product = Some(product.map_or(power, |product| multiply_blocks(&product, &power)));
    }
    product.unwrap()
}
