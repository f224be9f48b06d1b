import type { MiddlewareHandler } from "hono";

import { EdgeError } from "../core/api-error.ts";

/**
 * Lets a request pass that carries the key as `Authorization: Bearer` or `x-api-key`. `apiKey` null: everybody passes.
 * Throws EdgeError `unauthenticated`, whose text never holds what the client sent.
 */
export function requireKey(apiKey: string | null): MiddlewareHandler {
  return async (c, next) => {
    if (apiKey !== null) {
      const given = readKey(c.req.header("authorization"), c.req.header("x-api-key"));
      if (given === null) {
        throw new EdgeError({
          kind: "unauthenticated",
          detail: "Send your API key as 'Authorization: Bearer …' or 'x-api-key'.",
        });
      }
      if (!(await isEqual(given, apiKey))) {
        throw new EdgeError({ kind: "unauthenticated", detail: "The API key is not valid." });
      }
    }
    await next();
  };
}

function readKey(authorization: string | undefined, apiKey: string | undefined): string | null {
  const bearer = /^Bearer +(\S+) *$/i.exec(authorization ?? "")?.[1];
  return bearer ?? apiKey ?? null;
}

/** In constant time: digests of equal length are compared byte by byte to the end. */
async function isEqual(given: string, expected: string): Promise<boolean> {
  const [one, other] = await Promise.all([digest(given), digest(expected)]);
  let difference = 0;
  for (let index = 0; index < one.length; index++) {
    difference |= (one[index] ?? 0) ^ (other[index] ?? 0);
  }
  return difference === 0;
}

async function digest(text: string): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));
}
