import type { Handler } from "hono";

import { EdgeError } from "../../core/api-error.ts";
import type { GenerationService } from "../../generation/generation-service.ts";

type Service = Pick<GenerationService, "listModels">;

/** GET /v1/models */
export function createModelListHandler({ service }: { readonly service: Service }): Handler {
  return async (c) => {
    const models = await service.listModels();
    return c.json({ object: "list", data: models.map(renderModel) });
  };
}

/** GET /v1/models/{id}; the id may hold slashes. */
export function createModelHandler({ service }: { readonly service: Service }): Handler {
  return async (c) => {
    const id = c.req.param("id") ?? "";
    const model = (await service.listModels()).find((entry) => entry.id === id);
    if (model === undefined) throw new EdgeError({ kind: "model-not-found", model: id });
    return c.json(renderModel(model));
  };
}

function renderModel(model: { readonly id: string; readonly createdAt: number }) {
  return { id: model.id, object: "model", created: model.createdAt, owned_by: "sglang" };
}
