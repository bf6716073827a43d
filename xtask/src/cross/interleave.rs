//! How many blocks should be in flight? A model of the bulk loop with 4, 5 or 8 of them, for counting: the instructions of one turn in the
//! order in which `gcm::turn` has them, Karatsuba's products, one reduction. It is not compiled code: registers are as many as one needs,
//! but for the round keys, which stay in theirs only beside few states.

use super::trace::Instruction;

/// Blocks in flight. Ard Biesheuvel has 4 for GCM and 5 for CTR alone.
pub(super) const BLOCKS: [usize; 3] = [4, 5, 8];

/// Up to here eleven round keys fit beside the states (32 registers: states, texts, three sums, two constants, some to work with).
const KEYS_FIT: usize = 5;

/// One turn of `n` blocks, AES-128.
pub(super) fn turn(n: usize) -> Vec<Instruction> {
    let mut code = Vec::new();
    let mut add = |mnemonic: &str, operands: String| code.push(Instruction { mnemonic: mnemonic.into(), operands });
    // v0 .. v7: states; v8 .. v10: sums; v11 .. v13: a block and its products; v30: round key; v31: constants.
    let key = |round: usize| if n <= KEYS_FIT { 14 + round } else { 30 };

    for block in 0..n {
        add("ldr", format!("q{block}, [x1, #{}]", 16 * block));
        add("eor", format!("v{block}.16b, v{block}.16b, v31.16b"));
    }
    for round in 0..9 {
        if n > KEYS_FIT {
            add("ldr", format!("q30, [x2, #{}]", 16 * round));
        }
        for block in 0..n {
            add("aese", format!("v{block}.16b, v{}.16b", key(round)));
            add("aesmc", format!("v{block}.16b, v{block}.16b"));
            if block + 1 == n / 2 && round < n {
                hash(&mut add, round);
            }
        }
    }
    if n > KEYS_FIT {
        add("ldr", "q30, [x2, #144]".into());
        add("ldr", "q29, [x2, #160]".into());
    }
    for block in 0..n {
        add("aese", format!("v{block}.16b, v{}.16b", key(9)));
        add("ldr", format!("q11, [x0, #{}]", 16 * block));
        add("eor", format!("v{block}.16b, v{block}.16b, v29.16b"));
        add("eor", format!("v{block}.16b, v{block}.16b, v11.16b"));
        add("str", format!("q{block}, [x3, #{}]", 16 * block));
    }
    // hi + fold(mid + lo + hi + fold(lo))
    add("eor", "v10.16b, v10.16b, v8.16b".into());
    add("eor", "v10.16b, v10.16b, v9.16b".into());
    for (from, to) in [(8, 10), (10, 9)] {
        add("pmull", format!("v11.1q, v{from}.1d, v31.1d"));
        add("ext", format!("v12.16b, v{from}.16b, v{from}.16b, #8"));
        add("eor", format!("v{to}.16b, v{to}.16b, v12.16b"));
        add("eor", format!("v{to}.16b, v{to}.16b, v11.16b"));
    }
    for pointer in [0, 1, 3] {
        add("add", format!("x{pointer}, x{pointer}, #{}", 16 * n));
    }
    add("subs", "x4, x4, #1".into());
    add("b.ne", "1000 <loop>".into());
    code
}

/// One block of the turn before meets its power.
fn hash(add: &mut impl FnMut(&str, String), block: usize) {
    add("ldr", format!("q11, [x3, #{}]", 16 * block));
    add("tbl", "v11.16b, {v11.16b}, v31.16b".into());
    if block == 0 {
        add("eor", "v11.16b, v11.16b, v9.16b".into()); // the hash before
    }
    add("ldp", format!("q12, q13, [x5, #{}]", 32 * block));
    for (product, sum) in [("pmull", 8), ("pmull2", 9)] {
        let lanes = if product == "pmull" { "1d" } else { "2d" };
        add(product, format!("v28.1q, v11.{lanes}, v12.{lanes}"));
        sum_up(add, sum, block);
    }
    add("ext", "v27.16b, v11.16b, v11.16b, #8".into());
    add("eor", "v27.16b, v27.16b, v11.16b".into());
    add("pmull", "v28.1q, v27.1d, v13.1d".into());
    sum_up(add, 10, block);
}

/// The first product is the sum.
fn sum_up(add: &mut impl FnMut(&str, String), sum: usize, block: usize) {
    if block == 0 {
        add("mov", format!("v{sum}.16b, v28.16b"));
    } else {
        add("eor", format!("v{sum}.16b, v{sum}.16b, v28.16b"));
    }
}
