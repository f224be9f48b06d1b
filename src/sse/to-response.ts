/**
 * The only place that makes a stream for a client. One read of the events, one write of their frames: `render` is
 * synchronous, and what one step gives goes out in one piece.
 */
export interface SseReply<Step> {
  /** Frames that go out before everything else. */
  readonly head: string;
  /** Send the head at once, not together with the first step: the step is still to come. */
  readonly isHeadAlone: boolean;
  /** The first step, already under way. */
  readonly first: Promise<IteratorResult<Step, void>>;
  readonly steps: AsyncIterator<Step, void, undefined>;
  /** The frames of one step; "" for nothing. */
  readonly render: (step: Step) => string;
  /** Frames that end the stream. */
  readonly tail: string;
  readonly heartbeat: Heartbeat | null;
  /** The client has gone: must end the steps at once. */
  readonly onCancel: () => void;
  readonly headers: Readonly<Record<string, string>>;
}

export interface Heartbeat {
  /** What goes out after so long without a frame; must mean nothing to the client. */
  readonly text: string;
  readonly intervalMs: number;
}

/** A comment line. One newline only: an empty line would make some clients dispatch an empty event. */
export const PING_COMMENT = ": ping\n";

const encoder = new TextEncoder();

/** Status 200 and a body that never throws: a fault is a step of its own. */
export function toSseResponse<Step>(reply: SseReply<Step>): Response {
  let head = reply.head;
  let pending: Promise<IteratorResult<Step, void>> | null = reply.first;
  let lastWriteAt = Date.now();
  let isPulling = false;
  let stopBeating = (): void => undefined;

  const write = (controller: ReadableStreamDefaultController<Uint8Array>, text: string): void => {
    controller.enqueue(encoder.encode(text));
    lastWriteAt = Date.now();
  };
  const schedule = (
    controller: ReadableStreamDefaultController<Uint8Array>,
    heartbeat: Heartbeat,
    delayMs: number,
  ): void => {
    const timer = setTimeout(() => beat(controller, heartbeat), delayMs);
    stopBeating = () => clearTimeout(timer);
  };
  const beat = (
    controller: ReadableStreamDefaultController<Uint8Array>,
    { text, intervalMs }: Heartbeat,
  ): void => {
    const left = lastWriteAt + intervalMs - Date.now();
    // Only a waiting reader gets a heartbeat: a slow one has bytes to read already.
    if (left <= 0 && isPulling) write(controller, text);
    schedule(controller, { text, intervalMs }, left > 0 ? left : intervalMs);
  };

  const body = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        const { heartbeat } = reply;
        if (heartbeat !== null) schedule(controller, heartbeat, heartbeat.intervalMs);
      },
      async pull(controller) {
        if (head !== "" && reply.isHeadAlone) {
          write(controller, head);
          head = "";
          return;
        }
        isPulling = true;
        for (;;) {
          const read = await (pending ?? reply.steps.next());
          pending = null;
          if (read.done === true) {
            stopBeating();
            write(controller, head + reply.tail);
            controller.close();
            return;
          }
          const frames = head + reply.render(read.value);
          head = "";
          if (frames === "") continue;
          write(controller, frames);
          break;
        }
        isPulling = false;
      },
      cancel() {
        stopBeating();
        // First the engine's call, then the generator: return() waits for a read that is under way.
        reply.onCancel();
        void reply.steps.return?.();
      },
    },
    { highWaterMark: 0 },
  );
  return new Response(body, {
    headers: {
      "content-type": "text/event-stream; charset=utf-8",
      "cache-control": "no-cache, no-transform",
      ...reply.headers,
    },
  });
}
