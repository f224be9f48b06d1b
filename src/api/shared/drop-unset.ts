/** A copy without the keys whose value is undefined or null: both mean "not set" on the wire. */
export function dropUnset<Value extends Record<string, unknown>>(
  value: Value,
): { [Key in keyof Value]?: Exclude<Value[Key], null | undefined> } {
  const set: { [Key in keyof Value]?: Exclude<Value[Key], null | undefined> } = {};
  for (const key in value) {
    const entry = value[key];
    if (isSet(entry)) set[key] = entry;
  }
  return set;
}

function isSet<Value>(value: Value): value is Exclude<Value, null | undefined> {
  return value !== undefined && value !== null;
}
