/** One server-sent event whose data is already JSON text. */
export function dataFrame(json: string): string {
  return `data: ${json}\n\n`;
}

/** The end of an OpenAI stream. */
export const DONE_FRAME = "data: [DONE]\n\n";
