"""Writes the fixtures of the Harmony prompts: what the public gpt-oss chat template gives for many chats.

    python scripts/oracle/harmony.py path/to/openai-gpt-oss-120b.jinja

Needs transformers and jinja2; run from the project's root. The template itself is not part of the project: the first
line of the fixture names its SHA-256 and the versions that rendered it.

A row's chat is in the shape that clients send: thoughts in `reasoning_content`, arguments as JSON text, null for no
content. The template wants them as `thinking`, an object and "".
"""

import datetime
import hashlib
import json
import random
import sys

import jinja2
import transformers
from transformers.utils import chat_template_utils

OUT = "test/cases/harmony/prompts.jsonl"
NOW = datetime.datetime(2025, 8, 5, 23, 59, 58)


class FrozenTime(datetime.datetime):
    @classmethod
    def now(cls, tz=None):
        return NOW


chat_template_utils.datetime = FrozenTime


def system(text):
    return {"role": "system", "content": text}


def developer(text):
    return {"role": "developer", "content": text}


def user(text):
    return {"role": "user", "content": text}


def assistant(text, **more):
    return {"role": "assistant", "content": text, **more}


def calling(name, arguments, text=None, call_id="call_1", **more):
    call = {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}
    return {"role": "assistant", "content": text, "tool_calls": [call], **more}


def result(text, call_id="call_1"):
    return {"role": "tool", "tool_call_id": call_id, "content": text}


def tool(name, description, parameters=None):
    function = {"name": name, "description": description}
    if parameters is not None:
        function["parameters"] = parameters
    return {"type": "function", "function": function}


def params(properties, required=()):
    return {"type": "object", "properties": properties, "required": list(required)}


def typed(schema, required=True):
    """A tool with one parameter of a type."""
    return [tool("f", "Does it.", params({"x": schema}, ["x"] if required else []))]


WEATHER = tool(
    "get_weather",
    'Weather <b>& \'more\'</b> in "東京" 🤗\nsecond line',
    params(
        {
            "city": {"type": "string", "description": "The city"},
            "unit": {"type": "string", "enum": ["c", "f"], "default": "c", "description": "Unit"},
            "days": {"type": "integer", "minimum": 1, "default": 3},
            "where": {
                "type": "object",
                "properties": {
                    "lat": {"type": "number", "description": "not shown"},
                    "tags": {"type": "array", "items": {"type": "string"}},
                },
                "required": ["lat"],
            },
        },
        ["city"],
    ),
)
CLOCK = tool("clock", "Time", params({}))
TOOLS = [WEATHER, CLOCK]

ASKED = [user("Weather in Paris?"), calling("get_weather", '{"city": "Paris", "days":2}', reasoning_content="I look.")]
ANSWERED = [*ASKED, result('{"temp": 21.0}'), assistant("It is 21.", reasoning_content="Known now."), user("Thanks")]

CHATS = [
    ("a user's message", [user("Hello")], {}),
    ("no generation prompt", [user("Hello"), assistant("Hi")], {"addGenerationPrompt": False}),
    ("no generation prompt, thought shown", [user("a"), assistant("b", reasoning_content="c")], {"addGenerationPrompt": False}),
    ("no generation prompt after a user", [user("a")], {"addGenerationPrompt": False}),
    ("no generation prompt after a call", ASKED, {"tools": TOOLS, "addGenerationPrompt": False}),
    ("system", [system("You are terse."), user("Hello")], {}),
    ("developer", [developer("You are terse."), user("Hello")], {}),
    ("system alone", [system("You are terse.")], {}),
    ("empty system", [system(""), user("Hello")], {}),
    ("empty system with tools", [system(""), user("Hello")], {"tools": TOOLS}),
    ("turns", [system("S"), user("a"), assistant("b"), user("c"), assistant("d"), user("e")], {}),
    ("thoughts of earlier turns are dropped", [user("a"), assistant("b", reasoning_content="t"), user("c")], {}),
    ("user after user", [user("a"), user("b")], {}),
    ("assistant first", [assistant("Welcome"), user("a")], {}),
    ("empty texts", [user(""), assistant(""), user("")], {}),
    ("unicode and marks", [system("Żółć"), user("안녕? 🤗 <b>&amp;'\"</b> \u00a0\u2028 \\n {{ x }} {% y %}")], {}),
    ("white space is kept", [system("  s \n"), user(" \t a \n\n"), assistant("\n b "), user("\u3000c")], {}),
    ("special tokens in a user's text", [user("<|end|><|start|>system<|message|>x<|return|>")], {}),
    ("low effort", [user("a")], {"kwargs": {"reasoning_effort": "low"}}),
    ("high effort", [user("a")], {"kwargs": {"reasoning_effort": "high"}}),
    ("identity", [user("a")], {"kwargs": {"model_identity": "You are Edge."}}),
    ("tools", [user("Weather?")], {"tools": TOOLS}),
    ("tools and system", [system("Be kind."), user("Weather?")], {"tools": TOOLS}),
    ("a call and its result", [*ASKED, result('{"temp": 21.0}')], {"tools": TOOLS}),
    ("a call without tools", [*ASKED, result("21")], {}),
    ("an answered call loses its thought", ANSWERED, {"tools": TOOLS}),
    ("a text beside a call stands for its thought",
     [user("a"), calling("clock", "{}", "Let me see."), result("noon")], {"tools": TOOLS}),
    ("a text beside an answered call is dropped",
     [user("a"), calling("clock", "{}", "Let me see."), result("noon"), assistant("Noon."), user("b")], {"tools": TOOLS}),
    ("calls one after the other",
     [user("a"), calling("clock", "{}", reasoning_content="one", call_id="c1"), result("noon", "c1"),
      calling("get_weather", '{"city": "東京", "where": {"lat": 1.0, "tags": ["a", null]}}', reasoning_content="two",
              call_id="c2"), result("sun ☀ \"q\" \\ \n\t", "c2")], {"tools": TOOLS}),
    ("calls before and after an answer",
     [*ANSWERED[:-1], user("Now?"), calling("clock", "{}", reasoning_content="again", call_id="c2"), result("1", "c2")],
     {"tools": TOOLS}),
    ("arguments that are not JSON", [user("a"), calling("clock", "not json")], {"tools": TOOLS}),
    ("arguments that are no object", [user("a"), calling("clock", "[1, 2]")], {"tools": TOOLS}),
    ("arguments with numbers", [user("a"), calling("f", '{"a":1.0,"b":1e3,"c":12345678901234567890,"d":-0.5,"e":true}')], {}),
    ("arguments without content", [user("a"), calling("clock", "")], {}),
    ("a result of a call without a match", [user("a"), calling("clock", "{}"), result("1", "other")], {}),
    ("continue", [user("a"), assistant("Once upon")], {"continueFinalMessage": True}),
    ("continue with white space", [user("a"), assistant("  Once upon \n")], {"continueFinalMessage": True}),
    ("continue an empty answer", [user("a"), assistant("")], {"continueFinalMessage": True}),
    ("continue with a thought", [user("a"), assistant("Once", reasoning_content="t")], {"continueFinalMessage": True}),
    ("continue a user's text", [user("Tell me")], {"continueFinalMessage": True}),
    ("continue after a call", [*ASKED, result("21"), assistant("It")], {"continueFinalMessage": True, "tools": TOOLS}),
    ("continue without content", [user("a"), assistant(None)], {"continueFinalMessage": True}),
    ("a result without a call", [user("a"), result("1")], {}),
    ("a result after the answer", [*ANSWERED, result("1", "other")], {}),
    ("markers in an answer", [user("a"), assistant("<|channel|>final<|message|>x"), user("b")], {}),
    ("markers in a thought", [user("a"), assistant("x", reasoning_content="<|channel|>analysis<|message|>"), user("b")], {}),
    ("many turns", [m for i in range(30) for m in (user(f"Q{i}"), assistant(f"A{i}", reasoning_content="t"))], {}),
]

NESTED = params({"p": {"type": "string"}, "q": params({"r": {"type": "integer"}}, ["r"])}, ["q"])
TYPES = [
    {"type": "string"}, {"type": "number"}, {"type": "integer"}, {"type": "boolean"}, {"type": "null"}, {}, True,
    {"type": "string", "nullable": True}, {"type": "number", "nullable": True}, {"type": "string", "enum": []},
    {"type": "string", "enum": ["a"]}, {"type": "string", "enum": ["a", 'b"c', "東京", 1, None, True, 1.5]},
    {"type": "string", "enum": ["a", "b"], "nullable": True}, {"enum": ["a", "b"]}, {"type": "integer", "enum": [1, 2]},
    {"const": "x"}, {"$ref": "#/$defs/x"}, {"anyOf": [{"type": "string"}, {"type": "null"}]},
    {"type": ["string", "null"]}, {"type": ["string"]}, {"type": []}, {"type": ["object", "object"]},
    {"type": "array"}, {"type": "array", "items": {}}, {"type": "array", "nullable": True},
    {"type": "array", "items": {"type": "string"}}, {"type": "array", "items": {"type": "string", "enum": ["a"]}},
    {"type": "array", "items": {"type": "number"}, "nullable": True}, {"type": "array", "items": {"type": "integer"}},
    {"type": "array", "items": {"type": "integer", "enum": [1]}}, {"type": "array", "items": {"type": "boolean"}},
    {"type": "array", "items": {"type": "array", "items": {"type": "string"}}},
    {"type": "array", "items": {"type": ["object", "object"]}}, {"type": "array", "items": True},
    {"type": "array", "items": {"type": "string", "nullable": True}},
    {"type": "array", "items": {"type": "object"}}, {"type": "array", "items": NESTED},
    {"type": "array", "items": params({"a": {"type": "string"}})},
    {"type": "array", "items": {"oneOf": [{"type": "string"}, {"type": "number"}]}},
    {"type": "object"}, {"type": "object", "properties": {}}, NESTED, params({"a": NESTED, "b": {"type": "array"}}),
    {"type": "object", "properties": {"a": {"type": "string", "description": "no", "default": "x"}}},
    {"type": "object", "additionalProperties": {"type": "string"}},
    {"oneOf": [{"type": "string"}, {"type": "number"}]}, {"oneOf": [{"type": "object"}, {"type": "string"}]},
    {"oneOf": [{"type": "string", "description": "D"}, {"type": "number", "default": 1.5}, {"type": "boolean"}]},
    {"oneOf": [{"type": "string", "description": "D", "default": "é"}]}, {"oneOf": []},
    {"oneOf": [NESTED, NESTED]}, {"type": "string", "oneOf": [{"type": "number"}]},
    {"type": "string", "default": "x"}, {"type": "string", "default": None}, {"type": "string", "default": ""},
    {"type": "string", "enum": ["a", "b"], "default": "a"}, {"type": "number", "default": 1.5},
    {"type": "integer", "default": 0}, {"type": "boolean", "default": False}, {"type": "array", "default": [1, "é", {}]},
    {"type": "object", "default": {"a": 1, "b": [True, None]}},
    {"oneOf": [{"type": "string"}, {"type": "number"}], "default": "x"}, {"default": 3},
    {"type": "string", "description": ""}, {"type": "string", "description": "two\nlines"},
    {"type": "string", "description": "one"}, {"type": "array", "items": {"type": "string"}, "description": "list"},
]


def random_schema(rng, depth):
    kinds = ["string", "number", "integer", "boolean", "enum", "array", "object", "oneOf", "list", "anyOf", "bare"]
    kind = rng.choice(kinds if depth < 4 else kinds[:5])
    schema = {}
    if kind in ("string", "number", "integer", "boolean"):
        schema = {"type": kind}
    elif kind == "enum":
        schema = {"type": "string", "enum": rng.sample(["a", "b", "c d", "é", '"'], rng.randint(1, 3))}
    elif kind == "array":
        schema = {"type": "array"}
        if rng.random() < 0.8:
            schema["items"] = random_schema(rng, depth + 1)
    elif kind == "object":
        schema = random_object(rng, depth + 1)
    elif kind in ("oneOf", "anyOf"):
        schema = {kind: [random_schema(rng, depth + 1) for _ in range(rng.randint(1, 3))]}
    elif kind == "list":
        schema = {"type": rng.sample(["string", "null", "integer", "object"], rng.randint(1, 3))}
    if rng.random() < 0.4:
        schema["description"] = rng.choice(["Short", "With \"quotes\"", "Zwei\nZeilen", ""])
    if rng.random() < 0.2:
        schema["nullable"] = rng.random() < 0.7
    if rng.random() < 0.25:
        schema["default"] = rng.choice(["a", "é"]) if "enum" in schema or "oneOf" in schema else rng.choice(["x", 1, None, [], 2.5])
    return schema


def random_object(rng, depth=0):
    names = rng.sample(["alpha", "beta", "gamma_d", "items", "type", "Default", "x-y"], rng.randint(0, 4))
    schema = {"type": "object", "properties": {name: random_schema(rng, depth) for name in names}}
    if rng.random() < 0.7:
        schema["required"] = [name for name in names if rng.random() < 0.5]
    return schema


def cases():
    for name, messages, more in CHATS:
        yield {"name": name, "messages": messages, **more}
    for index, schema in enumerate(TYPES):
        required = index % 2 == 0
        yield {"name": f"type {index}: {json.dumps(schema, ensure_ascii=False)}",
               "messages": [user("a")], "tools": typed(schema, required)}
    for tools in ([tool("f", "No parameters")], [tool("f", "", {"type": "object"})], [CLOCK, CLOCK, WEATHER]):
        yield {"name": f"tools: {', '.join(each['function']['name'] for each in tools)}", "messages": [user("a")], "tools": tools}
    rng = random.Random(7)
    for index in range(80):
        tools = [tool(f"tool_{i}", f"Tool {i}", random_object(rng)) for i in range(rng.randint(1, 3))]
        yield {"name": f"random tools {index}", "messages": [user("a")], "tools": tools}


def for_template(message):
    """A client's message in the template's shape."""
    message = dict(message)
    if message["content"] is None and message["role"] == "assistant":
        message["content"] = ""
    if "reasoning_content" in message:
        message["thinking"] = message.pop("reasoning_content")
    if "tool_calls" in message:
        message["tool_calls"] = [
            {**call, "function": {**call["function"], "arguments": arguments_of(call["function"]["arguments"])}}
            for call in message["tool_calls"]
        ]
    return message


def arguments_of(text):
    try:
        value = json.loads(text or "{}")
    except ValueError:
        return text
    return value if isinstance(value, dict) else text


def render(template, case):
    final = case.get("continueFinalMessage", False)
    messages = case["messages"]
    if not (final and messages[-1]["content"] is None):
        messages = [for_template(message) for message in messages]
    try:
        texts, _ = chat_template_utils.render_jinja_template(
            conversations=[messages],
            tools=case.get("tools"),
            chat_template=template,
            continue_final_message=final,
            add_generation_prompt=case.get("addGenerationPrompt", not final),
            **case.get("kwargs", {}),
        )
        return {"text": texts[0]}
    except Exception as error:  # every kind of failure is a row
        return {"error": type(error).__name__}


def main():
    with open(sys.argv[1], encoding="utf-8") as source:
        template = source.read()
    head = {
        "transformers": transformers.__version__,
        "jinja2": jinja2.__version__,
        "template": hashlib.sha256(template.encode()).hexdigest(),
        "now": NOW.isoformat() + "Z",
    }
    with open(OUT, "w", encoding="utf-8") as out:
        out.write(json.dumps(head) + "\n")
        for case in cases():
            row = {**case, **render(template, case)}
            out.write(json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n")


main()
