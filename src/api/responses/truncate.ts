import type { ChatRequest, Message } from "../../core/chat-request.ts";
import type { GenerationService } from "../../generation/generation-service.ts";
import type { DecodedRequest } from "./to-chat-request.ts";

/**
 * The request without as many of its oldest messages as its prompt is too long by (`truncation: "auto"`). Instructions
 * and the last user's message always stay, and what the assistant did last; calls and their outputs go together. What
 * still does not fit then fails like any other prompt.
 */
export async function truncate(
  decoded: DecodedRequest,
  service: Pick<GenerationService, "tokenizeChat">,
): Promise<DecodedRequest> {
  const { request, paths } = decoded;
  const { messages, maxTokens = 1 } = request;
  const droppable = findDroppable(messages);
  let dropped: readonly MessageRange[] = [];
  for (;;) {
    const kept = keepOthers(messages, dropped);
    const { tokenIds, contextLength } = await service.tokenizeChat({
      ...request,
      messages: kept,
      tools: request.toolChoice.mode === "none" ? [] : request.tools,
    });
    const excess = tokenIds.length - ((contextLength ?? Infinity) - maxTokens);
    if (excess <= 0 || dropped.length === droppable.length) {
      if (dropped.length === 0) return decoded;
      return {
        ...decoded,
        request: { ...request, messages: kept },
        paths: keepOthers(paths, dropped),
      };
    }
    // Each round drops nearly what is too much: few rounds, however long the history.
    const share = excess / tokenIds.length;
    dropped = droppable.slice(0, countToDrop(droppable, dropped.length, share * lengthOf(kept)));
  }
}

/** Messages that go together: from `start` up to `end`. */
interface MessageRange {
  readonly start: number;
  readonly end: number;
  /** Of their JSON text. */
  readonly length: number;
}

/** Oldest first: what came before the last user's message, then what the assistant did since, but for the last. */
function findDroppable(messages: readonly Message[]): readonly MessageRange[] {
  const roles = messages.map(({ role }) => role);
  const lastUser = roles.lastIndexOf("user");
  const before = startsOf(roles, "user").filter((start) => start <= lastUser);
  const first = roles[0] === "system" ? 1 : 0;
  if (before[0] !== first && first < lastUser) before.unshift(first);
  const since = startsOf(roles, "assistant").filter((start) => start > lastUser);
  return [...toRanges(before, messages), ...toRanges(since, messages)];
}

function startsOf(roles: readonly string[], role: string): number[] {
  return roles.flatMap((each, index) => (each === role ? [index] : []));
}

/** One range from each start to the next; what the last one starts stays. */
function toRanges(starts: readonly number[], messages: readonly Message[]): MessageRange[] {
  return starts.slice(0, -1).map((start, index) => {
    const end = starts[index + 1] ?? messages.length;
    return { start, end, length: lengthOf(messages.slice(start, end)) };
  });
}

/** One range more than `from`, and as many as the length has room for: rather another round than too much. */
function countToDrop(ranges: readonly MessageRange[], from: number, length: number): number {
  let count = from + 1;
  let left = length - (ranges[from]?.length ?? 0);
  for (const range of ranges.slice(count)) {
    left -= range.length;
    if (left < 0) break;
    count += 1;
  }
  return count;
}

function keepOthers<Value>(values: readonly Value[], dropped: readonly MessageRange[]): Value[] {
  return values.filter(
    (_, index) => !dropped.some(({ start, end }) => index >= start && index < end),
  );
}

function lengthOf(messages: ChatRequest["messages"]): number {
  return JSON.stringify(messages).length;
}
