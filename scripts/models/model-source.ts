import { existsSync, statSync } from "node:fs";
import { isAbsolute, join, resolve } from "node:path";

import { ModelError } from "./model-error.ts";
import { findPackage } from "./read-folder.ts";

export type ModelSource =
  | { readonly kind: "folder"; readonly folder: string }
  | { readonly kind: "npm"; readonly name: string; readonly folder: string }
  | { readonly kind: "hub"; readonly id: string }
  | { readonly kind: "worker"; readonly url: string };

const HUB_NAME = /^[A-Za-z0-9][\w.-]*(?:\/[A-Za-z0-9_][\w.-]*)?$/u;
const NPM_NAME = /^(?:@[a-z0-9~-][\w.~-]*\/)?[a-z0-9~-][\w.~-]*$/u;

/**
 * What a source on the command line means. The first rule that fits decides:
 *
 * 1. `http://…` or `https://…`: a worker behind its gRPC-Web gateway
 * 2. `hf:ID`: a Hugging Face id; `npm:NAME`: an npm package
 * 3. an existing folder, and whatever is written as a path (`./x`, `../x`, `/x`, `~/x`)
 * 4. the name of a package in node_modules
 * 5. `org/name`: a Hugging Face id
 *
 * Throws a ModelError when none fits or what is named does not exist.
 */
export function resolveSource(text: string, cwd: string): ModelSource {
  if (/^https?:\/\//iu.test(text)) return workerSource(text);
  if (text.startsWith("hf:")) return hubSource(text.slice("hf:".length));
  if (text.startsWith("npm:")) return packageSource(text.slice("npm:".length), cwd);
  const path = resolve(cwd, text);
  if (text !== "" && existsSync(path)) return folderSource(path);
  if (isAbsolute(text) || /^(?:\.{1,2}|~)(?:[/\\]|$)/u.test(text)) {
    throw new ModelError(`there is no folder ${path}`);
  }
  if (NPM_NAME.test(text)) {
    const folder = findPackage(text, cwd);
    if (folder !== null) return { kind: "npm", name: text, folder };
  }
  if (text.includes("/") && HUB_NAME.test(text)) return { kind: "hub", id: text };
  throw new ModelError(`"${text}" is no folder, no installed npm package and no Hugging Face id`, {
    hint: "Write a path with ./, install the package, or write hf:NAME for a Hugging Face id without an owner.",
  });
}

function workerSource(text: string): ModelSource {
  if (!URL.canParse(text)) throw new ModelError(`"${text}" is not a URL`);
  const url = new URL(text);
  if (url.username !== "" || url.password !== "") {
    throw new ModelError("a worker URL must not hold a user name or password", {
      hint: "Give the gateway's token with --gateway-token or GATEWAY_TOKEN.",
    });
  }
  url.hash = "";
  url.search = "";
  return { kind: "worker", url: url.href.replace(/\/+$/u, "") };
}

function hubSource(id: string): ModelSource {
  if (HUB_NAME.test(id)) return { kind: "hub", id };
  throw new ModelError(`"${id}" is not a Hugging Face id (org/name)`);
}

function packageSource(name: string, cwd: string): ModelSource {
  if (!NPM_NAME.test(name)) throw new ModelError(`"${name}" is not the name of an npm package`);
  const folder = findPackage(name, cwd);
  if (folder !== null) return { kind: "npm", name, folder };
  throw new ModelError(`npm package ${name} is not installed`, { hint: `npm install ${name}` });
}

function folderSource(path: string): ModelSource {
  if (statSync(path).isDirectory()) return { kind: "folder", folder: path };
  throw new ModelError(`${path} is a file; give the folder that holds it`, {
    hint: join(path, ".."),
  });
}
