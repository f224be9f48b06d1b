import { EdgeError } from "../../../../src/core/api-error.ts";

export interface Refusal {
  readonly param: string | undefined;
  readonly detail: string;
}

/** How the work refuses a request; undefined when it does not. */
export function refusalOf(work: () => unknown): Refusal | undefined {
  try {
    work();
    return undefined;
  } catch (error) {
    if (!(error instanceof EdgeError) || error.error.kind !== "invalid-request") throw error;
    return { param: error.error.param, detail: error.error.detail };
  }
}
