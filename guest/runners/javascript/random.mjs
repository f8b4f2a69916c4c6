// Math.random that can be seeded. V8's own can not, so that all copies of a saved runner would draw the same numbers.

let a, b, c, d;

/** `seed` is 32 hex digits. */
export function seedRandom(seed) {
  [a, b, c, d] = seed.match(/.{8}/g).map(word => parseInt(word, 16) | 0);
  if ((a | b | c | d) === 0) d = 1;
  for (let round = 0; round < 16; round++) next();
}

/** xoshiro128**, by Blackman and Vigna (public domain): 32 bits, period 2^128 - 1. */
function next() {
  let result = Math.imul(b, 5);
  result = Math.imul((result << 7) | (result >>> 25), 9);
  const t = b << 9;
  c ^= a;
  d ^= b;
  b ^= c;
  a ^= d;
  c ^= t;
  d = (d << 11) | (d >>> 21);
  return result >>> 0;
}

/** 53 bits, as V8's own has. */
export function installRandom() {
  const random = {random() {
    return ((next() >>> 5) * 67108864 + (next() >>> 6)) / 9007199254740992;
  }}.random;
  Object.defineProperty(Math, 'random', {value: random, writable: true, configurable: true, enumerable: false});
}
