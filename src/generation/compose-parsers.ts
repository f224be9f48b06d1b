import { heldFrom } from "../parsers/marker-scanner.ts";
import type { OutputEvent, OutputParser } from "../parsers/output-parser.ts";

/** Thoughts first, then calls: the text that `first` gives is what `second` reads. */
export function chainParsers(first: OutputParser, second: OutputParser): OutputParser {
  const pass = (events: readonly OutputEvent[]): readonly OutputEvent[] =>
    events.flatMap((event) => (event.type === "text-delta" ? second.push(event.text) : [event]));
  return {
    push: (text) => pass(first.push(text)),
    end: () => [...pass(first.end()), ...second.end()],
    get heldLength() {
      return first.heldLength + second.heldLength;
    },
  };
}

/** Thoughts in one piece, at their end. */
export function joinReasoning(parser: OutputParser): OutputParser {
  let thought = "";
  const join = (events: readonly OutputEvent[]): OutputEvent[] => {
    const joined: OutputEvent[] = [];
    for (const event of events) {
      if (event.type === "reasoning-delta") {
        thought += event.text;
        continue;
      }
      joined.push(...flush(), event);
    }
    return joined;
  };
  const flush = (): readonly OutputEvent[] => {
    if (thought === "") return [];
    const text = thought;
    thought = "";
    return [{ type: "reasoning-delta", text }];
  };
  return {
    push: (text) => join(parser.push(text)),
    end: () => [...join(parser.end()), ...flush()],
    get heldLength() {
      return parser.heldLength + thought.length;
    },
  };
}

/** Thoughts wait until there is text or a call; without either they are the text (Nemotron's `force_nonempty_content`). */
export function preferText(parser: OutputParser): OutputParser {
  let thought = "";
  let hasText = false;
  const wait = (events: readonly OutputEvent[]): OutputEvent[] => {
    const told: OutputEvent[] = [];
    for (const event of events) {
      if (event.type === "reasoning-delta" && !hasText) {
        thought += event.text;
        continue;
      }
      hasText = true;
      if (thought !== "") told.push({ type: "reasoning-delta", text: thought });
      thought = "";
      told.push(event);
    }
    return told;
  };
  return {
    push: (text) => wait(parser.push(text)),
    end() {
      const events = wait(parser.end());
      const text = thought;
      thought = "";
      return text === "" ? events : [...events, { type: "text-delta", text }];
    },
    get heldLength() {
      return parser.heldLength + thought.length;
    },
  };
}

/**
 * Calls that may not be made, as text: `{"name": …, "arguments": …}`, which is what the model said in the words that all
 * clients know. The others are counted anew.
 */
export function limitCalls(
  parser: OutputParser,
  isAllowed: (name: string) => boolean,
): OutputParser {
  let calls = 0;
  let isForbidden = false;
  const toAllowed = (event: OutputEvent): OutputEvent[] => {
    switch (event.type) {
      case "text-delta":
      case "reasoning-delta":
        return [event];
      case "tool-call-start":
        isForbidden = !isAllowed(event.name);
        if (!isForbidden) return [{ ...event, call: calls++ }];
        return [
          { type: "text-delta", text: `{"name": ${JSON.stringify(event.name)}, "arguments": ` },
        ];
      case "tool-call-delta":
        return isForbidden
          ? [{ type: "text-delta", text: event.arguments }]
          : [{ ...event, call: calls - 1 }];
      case "tool-call-end":
        return isForbidden ? [{ type: "text-delta", text: "}" }] : [{ ...event, call: calls - 1 }];
    }
  };
  return {
    push: (text) => parser.push(text).flatMap(toAllowed),
    end: () => parser.end().flatMap(toAllowed),
    get heldLength() {
      return parser.heldLength;
    },
  };
}

/** Thoughts as text. */
export function mergeReasoning(parser: OutputParser): OutputParser {
  const merge = (events: readonly OutputEvent[]): readonly OutputEvent[] =>
    events.map((event) =>
      event.type === "reasoning-delta" ? { type: "text-delta", text: event.text } : event,
    );
  return {
    push: (text) => merge(parser.push(text)),
    end: () => merge(parser.end()),
    get heldLength() {
      return parser.heldLength;
    },
  };
}

/**
 * Takes special tokens that a parser was shown, and gave back as ordinary text, out of the texts for the client. What
 * stands in the arguments of calls is the model's own and stays.
 */
export function dropMarkers(parser: OutputParser, markers: readonly string[]): OutputParser {
  if (markers.length === 0) return parser;
  let heldKind: "text-delta" | "reasoning-delta" = "text-delta";
  let held = "";
  const clean = (text: string): string =>
    markers.reduce((cleaned, marker) => cleaned.replaceAll(marker, ""), text);
  const flush = (): OutputEvent[] => {
    const text = held;
    held = "";
    return text === "" ? [] : [{ type: heldKind, text }];
  };
  const drop = (events: readonly OutputEvent[]): OutputEvent[] => {
    const kept: OutputEvent[] = [];
    for (const event of events) {
      if (event.type !== "text-delta" && event.type !== "reasoning-delta") {
        kept.push(...flush(), event);
        continue;
      }
      if (event.type !== heldKind) kept.push(...flush());
      heldKind = event.type;
      const text = clean(held + event.text);
      const certain = heldFrom(text, markers);
      held = text.slice(certain);
      if (certain > 0) kept.push({ type: event.type, text: text.slice(0, certain) });
    }
    return kept;
  };
  return {
    push: (text) => drop(parser.push(text)),
    end: () => [...drop(parser.end()), ...flush()],
    get heldLength() {
      return parser.heldLength + held.length;
    },
  };
}
