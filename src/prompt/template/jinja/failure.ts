/**
 * Why a template could not be read or rendered. `raised`: the template's own `raise_exception`, its message is meant
 * for the client; `failed`: an error of the template or of its input, the message is Python's and names only types and
 * attributes; `syntax`: the source is not a template.
 */
export class TemplateFailure extends Error {
  override readonly name = "TemplateFailure";
  readonly kind: "raised" | "failed" | "syntax";

  constructor(kind: "raised" | "failed" | "syntax", message: string) {
    super(message);
    this.kind = kind;
  }
}

/** A TemplateFailure for what Python reports as TypeError, UndefinedError and the like. */
export function failure(message: string): TemplateFailure {
  return new TemplateFailure("failed", message);
}
