/** Where ids come from; injected, so that tests are repeatable. */
export interface IdSource {
  /** `length` lower-case hexadecimal digits, unpredictable in production. */
  hex(length: number): string;
}

export const randomIds: IdSource = {
  hex(length) {
    const bytes = crypto.getRandomValues(new Uint8Array(Math.ceil(length / 2)));
    let text = "";
    for (const byte of bytes) text += byte.toString(16).padStart(2, "0");
    return text.slice(0, length);
  },
};
