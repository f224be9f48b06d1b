import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";

import { TOKEN_HEADER } from "./headers.ts";

/** Which header carried a valid token, or that none did. */
export type AuthResult = "authorization" | "token-header" | "refused";

/**
 * The tokens a gateway accepts, kept as digests. Any of them opens it, so a new one can be added before the old one goes.
 * An empty set refuses everything.
 */
export class TokenSet {
  #digests: readonly Buffer[];

  constructor(tokens: readonly string[]) {
    this.#digests = tokens.map(digest);
  }

  replace(tokens: readonly string[]): void {
    this.#digests = tokens.map(digest);
  }

  check(headers: IncomingHttpHeaders): AuthResult {
    const bearer = /^bearer +(\S+) *$/i.exec(headers.authorization ?? "")?.[1];
    if (bearer !== undefined && this.#matches(bearer)) {
      return "authorization";
    }
    const own = headers[TOKEN_HEADER];
    return typeof own === "string" && this.#matches(own) ? "token-header" : "refused";
  }

  /** Compares digests of equal length with every token, so the time tells neither the length nor which one matched. */
  #matches(candidate: string): boolean {
    const given = digest(candidate);
    let matched = false;
    for (const known of this.#digests) {
      matched = timingSafeEqual(given, known) || matched;
    }
    return matched;
  }
}

function digest(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}

/** The shortest token that is accepted from a file or the environment, in characters. */
const MIN_TOKEN_CHARS = 16;

/**
 * Reads tokens, separated by commas or white space; a line that begins with `#` is a comment. Throws on a token that is
 * too short to be a secret, without repeating it.
 */
export function parseTokens(text: string, source: string): readonly string[] {
  const tokens = text
    .split("\n")
    .filter((line) => !line.trimStart().startsWith("#"))
    .flatMap((line) => line.split(/[\s,]+/))
    .filter((token) => token !== "");
  const short = tokens.findIndex((token) => token.length < MIN_TOKEN_CHARS);
  if (short !== -1) {
    throw new Error(
      `token ${short + 1} of ${source} is shorter than ${MIN_TOKEN_CHARS} characters`,
    );
  }
  return tokens;
}
