/** Where a marker is in a text, or from where on one may be beginning. */
export interface MarkerMatch<Marker extends string> {
  readonly start: number;
  readonly marker: Marker;
}

/**
 * The first of several markers in a text; of two that start together the longest. Undefined also while an earlier or
 * longer one may still be coming: then `heldFrom` tells up to where the text is certain.
 */
export function findMarker<Marker extends string>(
  text: string,
  markers: readonly Marker[],
  from = 0,
): MarkerMatch<Marker> | undefined {
  let best: MarkerMatch<Marker> | undefined;
  for (const marker of markers) {
    const start = text.indexOf(marker, from);
    if (start < 0) continue;
    if (
      best === undefined ||
      start < best.start ||
      (start === best.start && marker.length > best.marker.length)
    ) {
      best = { start, marker };
    }
  }
  // A longer marker that starts no later may still be completed by what comes.
  if (best !== undefined) {
    const { start, marker } = best;
    const held = heldFrom(
      text,
      markers.filter((other) => other.length > marker.length),
      from,
    );
    if (held <= start) return undefined;
  }
  return best;
}

/**
 * Where the longest suffix begins that is a proper prefix of some marker; the text's length when there is none. What is
 * before is certain, whatever comes.
 */
export function heldFrom(text: string, markers: readonly string[], from = 0): number {
  let start = text.length;
  for (const marker of markers) {
    const first = Math.max(from, text.length - marker.length + 1);
    for (let position = first; position < start; position++) {
      if (marker.startsWith(text.slice(position))) {
        start = position;
        break;
      }
    }
  }
  return start;
}
