/** xorshift32: whole numbers below a limit, the same for the same seed, here and in scripts/oracle/tokenizer.py. */
export function createRandom(seed: number): (limit: number) => number {
  let state = Math.imul(seed, 2_654_435_761) >>> 0 || 1;
  return (limit) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state = (state ^ (state << 5)) >>> 0;
    return state % limit;
  };
}
