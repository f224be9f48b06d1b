import type { ToolFormat } from "../output-parser.ts";
import { DEEPSEEKV3, DEEPSEEKV31 } from "./deepseek.ts";
import { INKLING } from "./inkling.ts";
import {
  APERTUS2509,
  COHERE_COMMAND4,
  GIGACHAT3,
  HERMES,
  INTERNS1,
  QWEN25,
  TRINITY,
} from "./json-tag-formats.ts";
import { KIMI_K2 } from "./kimi-k2.ts";
import { LFM2 } from "./lfm2.ts";
import { LLAMA3 } from "./llama3.ts";
import { MISTRAL } from "./mistral.ts";
import { PYTHONIC } from "./pythonic.ts";

/** The formats whose arguments are JSON or Python literals. */
export const JSON_FORMATS: readonly ToolFormat[] = [
  QWEN25,
  TRINITY,
  HERMES,
  LLAMA3,
  PYTHONIC,
  LFM2,
  MISTRAL,
  DEEPSEEKV3,
  DEEPSEEKV31,
  KIMI_K2,
  INTERNS1,
  APERTUS2509,
  COHERE_COMMAND4,
  GIGACHAT3,
  INKLING,
];
