import { renderOpenAiErrorResponse } from "./api/shared/openai-error.ts";
import { ConfigError } from "./config.ts";
import { consoleLogger } from "./core/logger.ts";
import { createEdge, type EdgeEnv } from "./edge.ts";

type Edge = ReturnType<typeof createEdge>;

/** One edge for each isolate: an isolate keeps its env object as long as it lives. */
const edges = new WeakMap<EdgeEnv, Edge>();

export default {
  fetch(request, env, context) {
    let edge = edges.get(env);
    if (edge === undefined) {
      try {
        edge = createEdge(env);
      } catch (error) {
        if (!(error instanceof ConfigError)) throw error;
        consoleLogger.error("configuration", { detail: error.message });
        return renderOpenAiErrorResponse({ kind: "internal" }, { modelNotFoundStatus: 404 });
      }
      edges.set(env, edge);
    }
    return edge.fetch(request, env, context);
  },
} satisfies ExportedHandler<EdgeEnv>;
