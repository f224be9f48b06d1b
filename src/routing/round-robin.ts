/**
 * The order in which workers are tried: a rotation of the list that starts one further each turn, so that neighbours
 * in time start at different workers and every worker is tried once.
 */
export function roundRobin<Worker>(workers: readonly Worker[], turn: number): readonly Worker[] {
  if (workers.length === 0) return [];
  const start = turn % workers.length;
  return [...workers.slice(start), ...workers.slice(0, start)];
}
