import type { TemplateMessage } from "./chat-template.ts";
import type { Body } from "./jinja/ast.ts";
import { findContentUse } from "./jinja/content-use.ts";

/** A text that no template prints by itself. */
const PROBE = "zqprobezq";
/** A part that was printed by `str` or `tojson`. */
const PRINTED_PART = /["']text["']: ?["']zqprobezq["']/;

/**
 * Whether a template takes content parts. Its tree tells whether it walks over a message's content, takes an element of
 * it, or asks for its type. A rendering of one part then settles what the tree leaves open: a template that asks for
 * the type may still drop the parts, print them as JSON or fail on them, and such a one is better off with strings.
 */
export function detectContentFormat(
  body: Body,
  render: (messages: readonly TemplateMessage[]) => string,
): "string" | "openai" {
  const use = findContentUse(body);
  if (use === "none") return "string";
  switch (probe(render, [{ type: "text", text: PROBE }])) {
    case "text":
      return "openai";
    case "structure":
      return "string";
    case "nothing":
      return use === "walked" ? "openai" : "string";
    case "failure":
      // Where a plain text fails too, the template wants another kind of conversation: believe the tree.
      return use === "walked" && probe(render, PROBE) !== "text" ? "openai" : "string";
  }
}

/** How the content comes out: as its text, as a printed structure, not at all, or the template fails. */
function probe(
  render: (messages: readonly TemplateMessage[]) => string,
  content: TemplateMessage["content"],
): "text" | "structure" | "nothing" | "failure" {
  let rendered: string;
  try {
    rendered = render([{ role: "user", content }]);
  } catch {
    return "failure";
  }
  if (!rendered.includes(PROBE)) return "nothing";
  return PRINTED_PART.test(rendered) ? "structure" : "text";
}
