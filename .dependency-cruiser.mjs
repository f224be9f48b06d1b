// Who may import whom. An arrow is a permission: anything not listed is an error. Everything may import core.
const layers = {
  core: [],
  sse: ["core"],
  prompt: ["core"],
  parsers: ["core"],
  routing: ["core"],
  engine: ["core"],
  generation: ["core", "prompt", "parsers", "routing", "engine"],
  api: ["core", "sse", "generation"],
  middleware: ["core"],
};

const layerRules = Object.entries(layers).map(([folder, allowed]) => ({
  name: `layer-${folder}`,
  comment: `src/${folder} may import ${allowed.length === 0 ? "nothing else" : allowed.join(", ")}.`,
  severity: "error",
  from: { path: `^src/${folder}/` },
  to: {
    path: "^(src|durable|scripts|test)/",
    pathNot: `^src/(${[folder, ...allowed].join("|")})/`,
  },
}));

/** A package that only some places may import. */
const packageRule = (name, packages, places) => ({
  name,
  severity: "error",
  from: { path: "^(src|durable)/", pathNot: places },
  to: { path: `node_modules/(${packages})` },
});

export default {
  forbidden: [
    ...layerRules,
    {
      name: "api-siblings",
      comment: "Protocols are siblings: what they share is in api/shared.",
      severity: "error",
      from: { path: "^src/api/([^/]+)/" },
      to: { path: "^src/api/([^/]+)/", pathNot: "^src/api/($1|shared)/" },
    },
    {
      name: "no-scripts-in-worker",
      severity: "error",
      from: { path: "^(src|durable)/" },
      to: { path: "^(scripts|test)/" },
    },
    packageRule(
      "hono-at-the-border",
      "hono/",
      "^src/(app[.]ts|middleware/|api/[^/]+/handler[.]ts)",
    ),
    packageRule("connect-in-engine", "@connectrpc/|@bufbuild/", "^src/engine/"),
    packageRule("zod-at-the-border", "zod/", "schema[.]ts$|^src/config[.]ts$"),
    {
      name: "generated-in-engine",
      severity: "error",
      from: { path: "^(src|durable)/", pathNot: "^src/engine/" },
      to: { path: "^src/engine/gen/" },
    },
    { name: "no-circular", severity: "error", from: {}, to: { circular: true } },
    {
      name: "no-orphans",
      severity: "error",
      from: { path: "^(src|durable)/", orphan: true, pathNot: "[.]d[.]ts$" },
      to: {},
    },
  ],
  options: {
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.json" },
    exclude: { path: "^src/engine/gen/.*node_modules" },
    doNotFollow: { path: "node_modules" },
  },
};
