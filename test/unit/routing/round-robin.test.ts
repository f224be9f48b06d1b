import { describe, it } from "vitest";

import { roundRobin } from "../../../src/routing/round-robin.ts";

describe("round robin", () => {
  const rows = [
    { workers: ["a", "b", "c"], turn: 0, order: ["a", "b", "c"] },
    { workers: ["a", "b", "c"], turn: 1, order: ["b", "c", "a"] },
    { workers: ["a", "b", "c"], turn: 5, order: ["c", "a", "b"] },
    { workers: ["a"], turn: 7, order: ["a"] },
    { workers: [], turn: 3, order: [] },
  ];
  it.for(rows)("turn $turn of $workers", ({ workers, turn, order }, { expect }) => {
    expect(roundRobin(workers, turn)).toEqual(order);
  });
});
