/**
 * A stage of the output chain: takes pieces, returns what they complete.
 *
 * Every machine is *split-invariant* (however a sequence is cut into pieces, the joined outputs are equal) and is fed
 * by `push` any number of times, then by `end` once. No machine throws on model output.
 */
export interface PushMachine<In, Out> {
  push(piece: In): Out;
  end(): Out;
}
