import { describe, it } from "vitest";

import { ConfigError, readConfig } from "../../src/config.ts";

const base = { GATEWAYS: '["https://gpu-1.example.com"]', API_KEY: "sk-0123456789" };

describe("configuration", () => {
  it("has defaults for all but gateways and key", ({ expect }) => {
    expect(readConfig(base)).toMatchObject({
      gateways: [{ url: "https://gpu-1.example.com" }],
      gatewayToken: undefined,
      unknownModelStatus: 404,
      corsOrigins: ["*"],
      heartbeat: { mode: "comment", intervalMs: 15_000 },
      headersHoldMs: 10_000,
    });
  });

  it("takes numbers and lists as text", ({ expect }) => {
    const config = readConfig({
      ...base,
      GATEWAYS: '[{"url": "http://127.0.0.1:1", "model": "m", "binding": "GPU"}]',
      MAX_BODY_BYTES: "2048",
      CORS_ORIGINS: "https://a.example, https://b.example",
      MODEL_SETTINGS: '{"m": {"tool_call_parser": "qwen25", "keep_tools_without_choice": true}}',
    });
    expect(config).toMatchObject({
      gateways: [{ url: "http://127.0.0.1:1", model: "m", binding: "GPU" }],
      maxBodyBytes: 2_048,
      corsOrigins: ["https://a.example", "https://b.example"],
    });
    expect(config.modelSettings.get("m")).toEqual({
      toolCallParser: "qwen25",
      keepsToolsWithoutChoice: true,
    });
  });

  const wrong = [
    { name: "no gateways", env: { API_KEY: base.API_KEY }, says: "GATEWAYS" },
    { name: "an empty list", env: { ...base, GATEWAYS: "[]" }, says: "GATEWAYS" },
    { name: "a list that is no JSON", env: { ...base, GATEWAYS: "gpu" }, says: "GATEWAYS" },
    {
      name: "a gateway of another scheme",
      env: { ...base, GATEWAYS: '["ftp://a"]' },
      says: "GATEWAYS",
    },
    {
      name: "a gateway with credentials",
      env: { ...base, GATEWAYS: '["https://user:hunter2@a.example"]' },
      says: "GATEWAYS",
    },
    {
      name: "a gateway with an unknown key",
      env: { ...base, GATEWAYS: '[{"url": "https://a", "x": 1}]' },
      says: "GATEWAYS",
    },
    { name: "no key", env: { GATEWAYS: base.GATEWAYS }, says: "API_KEY" },
    { name: "a short key", env: { ...base, API_KEY: "short" }, says: "API_KEY" },
    {
      name: "another status",
      env: { ...base, UNKNOWN_MODEL_STATUS: "500" },
      says: "UNKNOWN_MODEL_STATUS",
    },
    {
      name: "a size that is no number",
      env: { ...base, MAX_BODY_BYTES: "big" },
      says: "MAX_BODY_BYTES",
    },
    {
      name: "an unknown model setting",
      env: { ...base, MODEL_SETTINGS: '{"m": {"parser": "x"}}' },
      says: "MODEL_SETTINGS",
    },
  ];
  it.for(wrong)("names the variable that is wrong: $name", ({ env, says }, { expect }) => {
    const read = () => readConfig(env);
    expect(read).toThrow(ConfigError);
    expect(read).toThrow(says);
    expect(read).not.toThrow("hunter2");
  });
});
