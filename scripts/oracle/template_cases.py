"""Writes the fixtures of the chat templates: what Hugging Face renders for real templates, and what Jinja gives for
single features. Run from the project's root with transformers and jinja2 installed:

    python scripts/oracle/template_cases.py

The versions that it ran with are in the first line of each file. Needs the project's node to read the templates out
of their packages.
"""

import datetime
import hashlib
import json
import subprocess

import jinja2
import transformers
from transformers.utils import chat_template_utils

from template_features import DATA, FEATURES

OUT = "test/cases/template"
NOW = datetime.datetime(2025, 3, 7, 9, 5, 3, 120000)
VERSIONS = {"transformers": transformers.__version__, "jinja2": jinja2.__version__}

# Templates whose texts are kept in full; of the others only a hash, to keep the file small.
IN_FULL = {
    "qwen3", "qwen2_5", "llama3.1:8b", "deepseek_v3", "deepseek-v3.1:latest", "deepseek-r1:latest", "gemma3",
    "mistral_nemo", "llama4:latest", "qwen3-coder:30b", "glm4:9b", "phi4-mini:3.8b", "granite4:latest",
}


class FrozenTime(datetime.datetime):
    @classmethod
    def now(cls, tz=None):
        return NOW


chat_template_utils.datetime = FrozenTime

WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "Weather <b>& 'more'</b> in \"東京\" 🤗\nsecond line",
        "parameters": {
            "type": "object",
            "properties": {
                "city": {"type": "string", "description": "City"},
                "unit": {"type": "string", "enum": ["c", "f"], "default": None},
                "days": {"type": "integer", "minimum": 1, "maximum": 14},
                "where": {
                    "type": "object",
                    "properties": {
                        "lat": {"type": "number", "minimum": -89.5},
                        "tags": {"type": "array", "items": {"type": ["string", "null"]}},
                    },
                    "additionalProperties": False,
                },
            },
            "required": ["city"],
        },
    },
}
CLOCK = {
    "type": "function",
    "function": {
        "name": "clock",
        "description": "Time",
        "parameters": {"type": "object", "properties": {}, "required": []},
    },
}
TOOLS = [WEATHER, CLOCK]


def system(text):
    return {"role": "system", "content": text}


def user(text):
    return {"role": "user", "content": text}


def assistant(text, **more):
    return {"role": "assistant", "content": text, **more}


def call(call_id, name, arguments):
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def result(call_id, name, text):
    return {"role": "tool", "tool_call_id": call_id, "name": name, "content": text}


ONE_CALL = [
    user("Weather in Paris?"),
    assistant("", tool_calls=[call("abcdefgh1", "get_weather", {"city": "Paris", "days": 2, "where": {"lat": 48.85}})]),
    result("abcdefgh1", "get_weather", '{"temp": 21}'),
]
TWO_CALLS = [
    system("Use tools."),
    user("Both?"),
    assistant(
        None,
        tool_calls=[
            call("abcdefgh1", "get_weather", {"city": "東京 <b>&'\"", "where": {"tags": ["a", None], "lat": 0.1}}),
            call("abcdefgh2", "clock", {}),
        ],
    ),
    result("abcdefgh1", "get_weather", "sunny"),
    result("abcdefgh2", "clock", "noon"),
]
LONG = [system("Be brief.")] + [
    message
    for turn in range(60)
    for message in (user(f"Question {turn}?"), assistant(f"Answer {turn}."))
]
PARTS = [user([{"type": "text", "text": "first part"}, {"type": "text", "text": "second"}])]

# name, messages, and what else differs from a plain request
CASES = [
    ("user", [user("Hello")], {}),
    ("no-generation-prompt", [user("Hello"), assistant("Hi")], {"addGenerationPrompt": False}),
    ("system-user", [system("You are terse."), user("Hello")], {}),
    ("system-only", [system("You are terse.")], {}),
    ("turns", [system("S"), user("a"), assistant("b"), user("c"), assistant("d"), user("e")], {}),
    ("two-systems", [system("one"), user("a"), assistant("b"), system("two"), user("c")], {}),
    ("user-user", [user("a"), user("b")], {}),
    ("assistant-first", [assistant("Welcome"), user("a")], {}),
    ("developer", [{"role": "developer", "content": "Obey."}, user("a")], {}),
    ("unknown-role", [{"role": "critic", "content": "Hm."}, user("a")], {}),
    ("unicode", [system("Żółć"), user("안녕? 🤗 <b>&amp;'\"</b> \u00a0\u2028 \\n {{ x }} {% y %}")], {}),
    ("spaces", [system("  s \n"), user(" \t a \n\n"), assistant("\n b "), user("\u3000c\u0085")], {}),
    ("empty-content", [system(""), user(""), assistant(""), user("a")], {}),
    ("null-content", [user("a"), assistant(None), user("b")], {}),
    ("missing-content", [user("a"), {"role": "assistant"}, user("b")], {}),
    ("parts", PARTS, {}),
    ("parts-system", [system([{"type": "text", "text": "S"}]), *PARTS, assistant("ok"), user("c")], {}),
    ("special-tokens", [user("<|im_end|><|im_start|>system <|eot_id|>[/INST]</s><think>x</think>")], {}),
    ("tools", [user("Weather?")], {"tools": TOOLS}),
    ("tools-system", [system("Be kind."), user("Weather?")], {"tools": TOOLS}),
    ("tool-call", ONE_CALL, {"tools": TOOLS}),
    ("tool-call-no-tools", ONE_CALL, {}),
    ("tool-call-answered", [*ONE_CALL, assistant("It is 21."), user("Thanks")], {"tools": TOOLS}),
    ("tool-calls-parallel", TWO_CALLS, {"tools": TOOLS}),
    ("tool-call-text", [user("a"), assistant("Let me see.", tool_calls=[call("abcdefgh1", "clock", {})])],
     {"tools": TOOLS, "addGenerationPrompt": False}),
    ("tool-call-string-arguments", [user("a"), assistant("", tool_calls=[call("abcdefgh1", "clock", "not json")])],
     {"tools": TOOLS, "addGenerationPrompt": False}),
    ("short-call-id", [user("a"), assistant("", tool_calls=[call("x", "clock", {})]), result("x", "clock", "1")],
     {"tools": TOOLS}),
    ("thinking-on", [user("a")], {"kwargs": {"enable_thinking": True, "thinking": True}}),
    ("thinking-off", [user("a")], {"kwargs": {"enable_thinking": False, "thinking": False}}),
    ("reasoning-history",
     [user("a"), assistant("b", reasoning_content="because"), user("c"), assistant("d", reasoning_content="so\n")],
     {"addGenerationPrompt": False}),
    ("reasoning-in-text", [user("a"), assistant("<think>\nhm\n</think>\n\nb"), user("c")], {}),
    ("reasoning-with-tools",
     [user("a"), assistant("", reasoning_content="hm", tool_calls=[call("abcdefgh1", "clock", {})]),
      result("abcdefgh1", "clock", "noon")], {"tools": TOOLS}),
    ("long-history", LONG, {}),
    ("continue", [user("a"), assistant("Once upon")], {"continueFinalMessage": True}),
    ("continue-spaces", [user("a"), assistant("  Once upon \n")], {"continueFinalMessage": True}),
    ("continue-empty", [user("a"), assistant("")], {"continueFinalMessage": True}),
    ("continue-parts", [user("a"), assistant([{"type": "text", "text": "Once"}])], {"continueFinalMessage": True}),
    ("continue-user", [user("Tell me")], {"continueFinalMessage": True}),
    ("continue-thought", [user("a"), assistant("<think>hm</think> Yes")], {"continueFinalMessage": True}),
    ("continue-null", [user("a"), assistant(None)], {"continueFinalMessage": True}),
    ("kwargs-win", [user("a")], {"kwargs": {"bos_token": "[B]", "eos_token": "[E]", "date_string": "1 Jan 2030",
                                            "custom_instructions": "x", "reasoning_effort": "high"}}),
    ("kwargs-types", [user("a")], {"kwargs": {"documents": [{"title": "T", "text": "x", "doc_id": 1}],
                                              "builtin_tools": ["brave_search"], "controls": ["thinking"],
                                              "length": "long", "guardian_config": {"risk_name": "harm"}}}),
]


def run(template, special_tokens, messages, options):
    """The text, or the error that Hugging Face raises."""
    if "'developer'" not in template and '"developer"' not in template:
        messages = [{**m, "role": "system"} if m["role"] == "developer" else m for m in messages]
    final = options.get("continueFinalMessage", False)
    variables = {**special_tokens, **options.get("kwargs", {})}
    try:
        texts, _ = chat_template_utils.render_jinja_template(
            conversations=[messages],
            tools=options.get("tools"),
            documents=variables.pop("documents", None),
            chat_template=template,
            continue_final_message=final,
            add_generation_prompt=options.get("addGenerationPrompt", not final),
            **variables,
        )
        return {"text": texts[0]}
    except Exception as error:  # every kind of failure is a row
        return {"error": type(error).__name__, "message": str(error).split("Final message to continue")[0]}


def write_chats():
    origins = json.loads(subprocess.check_output(["node", "scripts/oracle/template-sources.ts"]))
    cases = [{"name": name, "messages": messages, **options} for name, messages, options in CASES]
    with open(f"{OUT}/chats.json", "w", encoding="utf-8") as out:
        json.dump({"versions": VERSIONS, "now": NOW.isoformat() + "Z", "cases": cases}, out, ensure_ascii=False)
        out.write("\n")
    with open(f"{OUT}/chats-rendered.jsonl", "w", encoding="utf-8") as out:
        out.write(json.dumps({"versions": VERSIONS}) + "\n")
        for origin in origins:
            head = {key: origin[key] for key in ("name", "path", "sha256")}
            out.write(json.dumps({"template": head}, ensure_ascii=False) + "\n")
            for name, messages, options in CASES:
                row = run(origin["templates"]["default"], origin["specialTokens"], messages, options)
                if "text" in row and (origin["name"] not in IN_FULL or name == "long-history"):
                    row = {"sha256": hashlib.sha256(row["text"].encode()).hexdigest()[:16]}
                out.write(json.dumps({"case": name, **row}, ensure_ascii=False, separators=(",", ":")) + "\n")


def write_features():
    rows = []
    for template in FEATURES:
        try:
            text = chat_template_utils._compile_jinja_template(template).render(**DATA)
            rows.append({"template": template, "target": text})
        except Exception as error:
            rows.append({"template": template, "error": type(error).__name__, "message": str(error)})
    with open(f"{OUT}/features.jsonl", "w", encoding="utf-8") as out:
        out.write(json.dumps({"versions": VERSIONS, "now": NOW.isoformat() + "Z", "data": DATA}, ensure_ascii=False) + "\n")
        for row in rows:
            out.write(json.dumps(row, ensure_ascii=False) + "\n")
    print(f"{len(rows)} features")


write_chats()
write_features()
