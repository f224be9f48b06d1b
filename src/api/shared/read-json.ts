import { EdgeError, invalidRequest } from "../../core/api-error.ts";

/** Nesting beyond this serves no client and could exhaust the stack of whatever walks over it. */
const MAX_JSON_DEPTH = 128;

/**
 * The JSON value of a request's body. Throws EdgeError: `unsupported-media-type`, `request-too-large` (before the whole
 * body was read), or `invalid-request` for an empty body, broken UTF-8, broken JSON, or nesting over MAX_JSON_DEPTH.
 */
export async function readJson(request: Request, maxBytes: number): Promise<unknown> {
  checkContentType(request.headers.get("content-type"));
  const text = decodeUtf8(await readBody(request, maxBytes));
  if (text.trim() === "") throw invalidRequest("The request has no body; send a JSON object.");
  const value = parseJson(text);
  if (isTooDeep(value)) {
    throw invalidRequest(`The body is nested deeper than ${MAX_JSON_DEPTH} levels.`);
  }
  return value;
}

function checkContentType(contentType: string | null): void {
  const mediaType = contentType?.split(";", 1)[0]?.trim().toLowerCase() ?? "";
  if (mediaType === "" || mediaType === "application/json" || mediaType.endsWith("+json")) return;
  throw new EdgeError({ kind: "unsupported-media-type", got: mediaType.slice(0, 100) });
}

async function readBody(request: Request, maxBytes: number): Promise<Uint8Array> {
  const tooLarge = new EdgeError({ kind: "request-too-large", limitBytes: maxBytes });
  if (Number(request.headers.get("content-length") ?? "0") > maxBytes) throw tooLarge;
  if (request.body === null) return new Uint8Array(0);
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of request.body) {
    length += chunk.byteLength;
    if (length > maxBytes) throw tooLarge;
    chunks.push(chunk);
  }
  return joinBytes(chunks, length);
}

function joinBytes(chunks: readonly Uint8Array[], length: number): Uint8Array {
  const [only] = chunks;
  if (only !== undefined && chunks.length === 1) return only;
  const bytes = new Uint8Array(length);
  let offset = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, offset);
    offset += chunk.length;
  }
  return bytes;
}

function decodeUtf8(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: false }).decode(bytes);
  } catch {
    throw invalidRequest("The body is not valid UTF-8.");
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const position = /position (\d+)/.exec(error instanceof Error ? error.message : "")?.[1];
    throw invalidRequest(
      position === undefined
        ? "The body is not valid JSON."
        : `The body is not valid JSON (at character ${position}).`,
    );
  }
}

/** Walks level by level, without recursion. */
function isTooDeep(root: unknown): boolean {
  let level: readonly object[] = isContainer(root) ? [root] : [];
  for (let depth = 0; depth < MAX_JSON_DEPTH; depth++) {
    const next: object[] = [];
    for (const value of level) {
      for (const child of Object.values(value)) if (isContainer(child)) next.push(child);
    }
    if (next.length === 0) return false;
    level = next;
  }
  return true;
}

function isContainer(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
