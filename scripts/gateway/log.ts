export type LogLevel = "debug" | "info" | "warn" | "error" | "silent";

export const LOG_LEVELS: readonly LogLevel[] = ["debug", "info", "warn", "error", "silent"];

type LogFields = Readonly<Record<string, string | number | boolean | undefined>>;

/** Writes one record. Fields hold no header values, tokens or payload. */
export type Log = (level: Exclude<LogLevel, "silent">, event: string, fields?: LogFields) => void;

/** A log of one JSON object a line, from `threshold` upwards. */
export function createLog(threshold: LogLevel, write: (line: string) => void): Log {
  const lowest = LOG_LEVELS.indexOf(threshold);
  return (level, event, fields) => {
    if (LOG_LEVELS.indexOf(level) >= lowest) {
      write(`${JSON.stringify({ time: new Date().toISOString(), level, event, ...fields })}\n`);
    }
  };
}
