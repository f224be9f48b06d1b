const LEVELS = ["debug", "info", "warn", "error", "silent"] as const;

export type LogLevel = (typeof LEVELS)[number];

/** One JSON object a line on stderr. */
export interface Log {
  debug(message: string, fields?: Readonly<Record<string, unknown>>): void;
  info(message: string, fields?: Readonly<Record<string, unknown>>): void;
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
  error(message: string, fields?: Readonly<Record<string, unknown>>): void;
}

export function createLog(level: LogLevel): Log {
  const write =
    (at: LogLevel) =>
    (message: string, fields: Readonly<Record<string, unknown>> = {}) => {
      if (LEVELS.indexOf(at) < LEVELS.indexOf(level)) return;
      const line = { time: new Date().toISOString(), level: at, message, ...fields };
      process.stderr.write(`${JSON.stringify(line)}\n`);
    };
  return { debug: write("debug"), info: write("info"), warn: write("warn"), error: write("error") };
}
