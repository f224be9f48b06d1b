import { randomUUID } from "node:crypto";
import { mkdir, open, readFile, rename, rm, stat } from "node:fs/promises";
import { hostname } from "node:os";
import { dirname, resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

import { ModelError } from "./model-error.ts";

const POLL_MS = 100;
const TIMEOUT_MS = 120_000;
/** A lock without an owner's name is one that is just being written, unless it is this old. */
const NAMELESS_MS = 10_000;

/**
 * Runs `work` while no other process works on the same assets. The lock is a file beside the folder (in it, it would be
 * deployed); that of a process that died is taken over. Throws a ModelError after two minutes of waiting.
 */
export async function withAssetLock<T>(assetsDir: string, work: () => Promise<T>): Promise<T> {
  const path = `${resolve(assetsDir)}.lock`;
  await mkdir(dirname(path), { recursive: true });
  const owner = `${hostname()} ${process.pid} ${randomUUID()}`;
  const giveUpAt = Date.now() + TIMEOUT_MS;
  while (!(await tryLock(path, owner))) {
    await breakStaleLock(path);
    if (Date.now() > giveUpAt) {
      throw new ModelError(`another process is working on ${assetsDir}`, {
        hint: `If none is, delete ${path}.`,
      });
    }
    await delay(POLL_MS);
  }
  try {
    return await work();
  } finally {
    await rm(path, { force: true });
  }
}

async function tryLock(path: string, owner: string): Promise<boolean> {
  try {
    const file = await open(path, "wx");
    await file.writeFile(owner);
    await file.close();
    return true;
  } catch (error) {
    if (isErrno(error, "EEXIST")) return false;
    throw error;
  }
}

async function breakStaleLock(path: string): Promise<void> {
  try {
    const owner = await readFile(path, "utf8");
    if (!(await isStale(path, owner))) return;
    // Moved away first: if another process broke it and made its own meanwhile, ours is the wrong file and goes back.
    const aside = `${path}.${process.pid}`;
    await rename(path, aside);
    if ((await readFile(aside, "utf8")) === owner) await rm(aside, { force: true });
    else await rename(aside, path);
  } catch (error) {
    if (!isErrno(error, "ENOENT")) throw error;
  }
}

async function isStale(path: string, owner: string): Promise<boolean> {
  const [host, pid] = owner.split(" ");
  if (pid === undefined) return Date.now() - (await stat(path)).mtimeMs > NAMELESS_MS;
  if (host !== hostname()) return false;
  try {
    process.kill(Number(pid), 0);
    return false;
  } catch (error) {
    return isErrno(error, "ESRCH");
  }
}

function isErrno(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}
