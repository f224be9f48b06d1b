/** Where a command writes. What it was asked for goes to `out`, what it says meanwhile to `log`. */
export interface Terminal {
  out(text: string): void;
  log(text: string): void;
  /** Rewrites one line on a person's terminal, writes a line per finished file elsewhere. */
  progress(label: string, done: number, total: number | null): void;
  /** Ends the progress line. */
  endProgress(): void;
}

interface Stream {
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
  write(text: string): unknown;
}

const BAR_WIDTH = 24;
const REDRAW_MS = 80;

export function createTerminal(stdout: Stream, stderr: Stream): Terminal {
  const interactive = stderr.isTTY === true;
  let current: { readonly label: string; done: number } | undefined;
  let drawnAt = 0;

  const endProgress = (): void => {
    if (current === undefined) return;
    const line = `${current.label} ${formatBytes(current.done)}`;
    current = undefined;
    drawnAt = 0;
    stderr.write(interactive ? `\r\u001B[K${line}\n` : `${line}\n`);
  };

  return {
    endProgress,
    out(text) {
      endProgress();
      stdout.write(`${text}\n`);
    },
    log(text) {
      endProgress();
      stderr.write(`${text}\n`);
    },
    progress(label, done, total) {
      if (current?.label !== label) endProgress();
      current = { label, done };
      const now = performance.now();
      if (!interactive || now - drawnAt < REDRAW_MS) return;
      drawnAt = now;
      const line = `${label} ${bar(done, total)}`;
      stderr.write(`\r\u001B[K${line.slice(0, (stderr.columns ?? 80) - 1)}`);
    },
  };
}

function bar(done: number, total: number | null): string {
  if (total === null || total === 0) return formatBytes(done);
  const share = Math.min(1, done / total);
  const filled = Math.round(share * BAR_WIDTH);
  const drawn = "#".repeat(filled) + "-".repeat(BAR_WIDTH - filled);
  return `[${drawn}] ${Math.round(share * 100)} % of ${formatBytes(total)}`;
}

/** Bytes in the unit that reads best: `812 B`, `11.4 MB`. */
export function formatBytes(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  const units = ["kB", "MB", "GB"];
  let value = bytes / 1000;
  let unit = 0;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000;
    unit++;
  }
  return `${value.toFixed(1)} ${units[unit] ?? ""}`;
}

/** Rows under their headings, in columns as wide as their widest cell. */
export function formatTable(
  headings: readonly string[],
  rows: readonly (readonly string[])[],
): string {
  const all = [headings, ...rows];
  const widths = headings.map((_, column) =>
    Math.max(...all.map((row) => (row[column] ?? "").length)),
  );
  return all
    .map((row) =>
      widths
        .map((width, column) => (row[column] ?? "").padEnd(width))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}
