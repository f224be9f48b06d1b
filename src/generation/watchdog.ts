/**
 * Calls back when nothing was reported for too long. One timer at a time, re-armed only when it fires, so that a report
 * costs one clock reading.
 */
export interface Watchdog {
  /** Something happened; from now on silence may last `limitMs`. */
  touch(limitMs: number): void;
  stop(): void;
}

export function startWatchdog(limitMs: number, onSilence: () => void): Watchdog {
  let limit = limitMs;
  let lastTouch = Date.now();
  let timer = setTimeout(check, limit);

  function check(): void {
    const left = lastTouch + limit - Date.now();
    if (left <= 0) onSilence();
    else timer = setTimeout(check, left);
  }

  return {
    touch(nextLimitMs) {
      lastTouch = Date.now();
      if (nextLimitMs < limit) {
        clearTimeout(timer);
        timer = setTimeout(check, nextLimitMs);
      }
      limit = nextLimitMs;
    },
    stop: () => clearTimeout(timer),
  };
}
