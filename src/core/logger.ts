/** One structured line per event. Fields never hold prompts, replies, keys or header values. */
export interface Logger {
  info(event: string, fields: LogFields): void;
  warn(event: string, fields: LogFields): void;
  error(event: string, fields: LogFields): void;
}

export type LogFields = Readonly<Record<string, string | number | boolean | null | undefined>>;

/** JSON lines on the console, where Workers Logs and `wrangler tail` read them. */
export const consoleLogger: Logger = {
  info: (event, fields) => print("info", event, fields),
  warn: (event, fields) => print("warn", event, fields),
  error: (event, fields) => print("error", event, fields),
};

function print(level: "info" | "warn" | "error", event: string, fields: LogFields): void {
  // oxlint-disable-next-line no-console -- the console is the log of a Worker
  console[level](JSON.stringify({ level, event, ...fields }));
}

/** What is safe to log of a thrown value: its class, message and cause, without a stack of the runtime's own. */
export function describeError(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown);
  const cause = thrown.cause === undefined ? "" : ` <- ${describeError(thrown.cause)}`;
  return `${thrown.name}: ${thrown.message}${cause}`;
}
