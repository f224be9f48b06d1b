import { mkdtemp, readdir, rm, utimes, writeFile } from "node:fs/promises";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";

import { afterEach, beforeEach, describe, it } from "vitest";

import { withAssetLock } from "../../../scripts/models/asset-lock.ts";

let home = "";

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "asset-lock-"));
});

afterEach(async () => {
  await rm(home, { recursive: true, force: true });
});

describe("the lock of the assets", () => {
  it("lets one work at a time", async ({ expect }) => {
    const order: string[] = [];
    const work = (name: string) =>
      withAssetLock(join(home, "assets"), async () => {
        order.push(`${name} in`);
        await new Promise<void>((resolve) => {
          setImmediate(resolve);
        });
        order.push(`${name} out`);
      });
    await Promise.all(["a", "b", "c"].map(work));
    const ins = order.filter((_, index) => index % 2 === 0).map((step) => step.slice(0, 1));
    expect(order).toEqual(ins.flatMap((name) => [`${name} in`, `${name} out`]));
    expect(ins.toSorted()).toEqual(["a", "b", "c"]);
    expect(await readdir(home)).toEqual([]);
  });

  it("is given back after a failure", async ({ expect }) => {
    const work = withAssetLock(join(home, "assets"), () => Promise.reject(new Error("no")));
    await expect(work).rejects.toThrow("no");
    expect(await readdir(home)).toEqual([]);
  });

  const stale: { name: string; owner: string; old?: boolean }[] = [
    // Linux, macOS and Windows have no process of this number.
    { name: "a process that died", owner: `${hostname()} 999999999 x` },
    { name: "one that never wrote its name", owner: "", old: true },
  ];
  it.for(stale)("is taken over from $name", async ({ owner, old }, { expect }) => {
    const path = join(home, "assets.lock");
    await writeFile(path, owner);
    if (old === true) await utimes(path, 1, 1);
    expect(await withAssetLock(join(home, "assets"), () => Promise.resolve("done"))).toBe("done");
    expect(await readdir(home)).toEqual([]);
  });
});
