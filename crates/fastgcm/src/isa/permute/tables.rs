//! The tables of [`ssse3`](super), each by its definition, and the fields behind them. (Constants have no
//! closures, so these are macros.)

/// One byte for each nibble, or for each place in a block.
macro_rules! table {
    ($n:ident => $byte:expr) => {{
        let mut table = [0; 16];
        let mut at = 0;
        while at < 16 {
            let $n = at as u8;
            table[at] = $byte;
            at += 1;
        }
        table
    }};
}

/// 1/0: a lookup by this index gives zero.
const NONE: u8 = 0x80;
pub(super) static INVERSE: [u8; 16] =
    table!(n => if n == 0 { NONE } else { to_nibble(invert(of_nibble(n))) });
pub(super) static A_OVER: [u8; 16] =
    table!(n => if n == 0 { NONE } else { to_nibble(times(A, invert(of_nibble(n)))) });

/// The two halves of a linear function of 1/x: by io and by jo.
macro_rules! halves {
    ($y:ident => $byte:expr) => {
        [table!(n => { let $y = times(BY_IO, invert(of_nibble(n))); $byte }), table!(n => { let $y = times(BY_JO, invert(of_nibble(n))); $byte })]
    };
}
pub(super) static LAST: [[u8; 16]; 2] = halves!(y => affine(y));
pub(super) static S: [[u8; 16]; 2] = halves!(y => to_tower(affine(y)));
pub(super) static DOUBLE_S: [[u8; 16]; 2] = halves!(y => to_tower(times(2, affine(y))));
pub(super) static INTO_TOWER: [[u8; 16]; 2] = [table!(n => to_tower(n << 4)), table!(n => to_tower(n))];

pub(super) static REVERSED: [u8; 16] = table!(n => 15 - n);

/// ShiftRows, this many times: the place 4c + r from which the byte of row r and column c comes.
pub(super) static SHIFT_ROWS: [[u8; 16]; 4] = [shift_rows(0), shift_rows(1), shift_rows(2), shift_rows(3)];
const fn shift_rows(times: u8) -> [u8; 16] {
    table!(n => { let (c, r) = (n / 4, n % 4); 4 * ((c + times * r) % 4) + r })
}
/// One row below in the same column, and three rows below, where this many ShiftRows are left out (modulo 4).
pub(super) static NEXT_ROW: [[[u8; 16]; 2]; 4] = [next_row(0), next_row(1), next_row(2), next_row(3)];
const fn next_row(left_out: u8) -> [[u8; 16]; 2] {
    [below(1, left_out), below(3, left_out)]
}
const fn below(rows: u8, left_out: u8) -> [u8; 16] {
    table!(n => { let (c, from, r) = (n / 4, n % 4, (n + rows) % 4); 4 * ((c + left_out * (4 + r - from)) % 4) + r })
}

// ---- the field of AES (FIPS 197, section 4), and the tower in it

const fn times(a: u8, b: u8) -> u8 {
    let (mut sum, mut power, mut i) = (0, a, 0);
    while i < 8 {
        sum ^= power * (b >> i & 1);
        power = (power << 1) ^ (0x1b * (power >> 7));
        i += 1;
    }
    sum
}

/// Returns x^254 = x^2·x^4 ... x^128, which is 0 for 0.
const fn invert(x: u8) -> u8 {
    let mut square = times(x, x);
    let (mut product, mut i) = (square, 1);
    while i < 7 {
        square = times(square, square);
        product = times(product, square);
        i += 1;
    }
    product
}

/// The linear part of the affine map (section 5.1.1).
const fn affine(y: u8) -> u8 {
    y ^ y.rotate_left(1) ^ y.rotate_left(2) ^ y.rotate_left(3) ^ y.rotate_left(4)
}

/// Returns whether x is in GF(16).
const fn is_small(x: u8) -> bool {
    let square = times(x, x);
    let fourth = times(square, square);
    let eighth = times(fourth, fourth);
    times(eighth, eighth) == x
}

/// Returns the smallest number for which this is true.
macro_rules! first {
    ($x:ident => $is_it:expr) => {{
        let mut $x = 0;
        while !$is_it {
            $x += 1;
        }
        $x
    }};
}

/// The number whose powers are the basis of nibbles: x^4 = x + 1.
const X: u8 = first!(x => times(times(x, x), times(x, x)) == x ^ 1);
/// θ, which is outside GF(16) while a = θ^2/(θ + 1) is inside.
const THETA: u8 = first!(x => !is_small(x) && is_small(a(x)));
const A: u8 = a(THETA);
const fn a(theta: u8) -> u8 {
    times(times(theta, theta), invert(theta ^ 1))
}

const fn of_nibble(n: u8) -> u8 {
    if n < 2 { n } else { (n & 1) ^ times(of_nibble(n >> 1), X) }
}
const fn to_nibble(x: u8) -> u8 {
    first!(n => of_nibble(n) == x)
}
const fn to_tower(x: u8) -> u8 {
    TOWER[x as usize]
}
/// The table of all values at once: looked up one by one, they took a second of each build.
const TOWER: [u8; 256] = {
    let (mut tower, mut ik) = ([0; 256], 0);
    while ik < 256 {
        tower[(of_nibble(ik as u8 & 15) ^ times(of_nibble(ik as u8 >> 4), THETA)) as usize] = ik as u8;
        ik += 1;
    }
    tower
};

/// The factors of 1/io and 1/jo in 1/x. k/N = (1/io + 1/jo)/a and i/N = (1/io + k/N)/a.
const BY_IO: u8 = invert(A) ^ times(invert(A) ^ times(invert(A), invert(A)), THETA ^ A);
const BY_JO: u8 = invert(A) ^ times(times(invert(A), invert(A)), THETA ^ A);
