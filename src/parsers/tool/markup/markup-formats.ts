import type { ToolFormat } from "../../output-parser.ts";
import { DSML_FORMATS } from "./dsml.ts";
import { gemma4 } from "./gemma4.ts";
import { ARG_KEY_FORMATS } from "./glm.ts";
import { kimiK3 } from "./kimi-k3.ts";
import { minicpm5 } from "./minicpm5.ts";
import { minimaxM2 } from "./minimax-m2.ts";
import { minimaxM3 } from "./minimax-m3.ts";
import { muse } from "./muse.ts";
import { FUNCTION_FORMATS } from "./qwen-coder.ts";
import { step3 } from "./step3.ts";

/** The formats whose calls are markup with values typed by the tools' schemas. */
export const MARKUP_FORMATS: readonly ToolFormat[] = [
  ...DSML_FORMATS,
  ...ARG_KEY_FORMATS,
  ...FUNCTION_FORMATS,
  kimiK3,
  minimaxM2,
  minimaxM3,
  step3,
  gemma4,
  minicpm5,
  muse,
];

/** Other names of these formats. */
export const MARKUP_ALIASES: Readonly<Record<string, string>> = {
  glm: "glm45",
  qwen_coder: "qwen3_coder",
  qwen_xml: "qwen3_coder",
  step3p5: "qwen3_coder",
};
