import type { CallArguments, Value } from "./values.ts";

export type Filter = (value: Value, args: CallArguments) => Value;

export interface FilterSet {
  get(name: string): Filter | undefined;
}
