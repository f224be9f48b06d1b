export * from "../stack/workerd-process.ts";
