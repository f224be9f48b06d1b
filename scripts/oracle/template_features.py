"""Templates of one feature each, with their variables; template_cases.py renders them with Jinja."""

MESSAGES = [
    {"role": "system", "content": "S"},
    {"role": "user", "content": "hello"},
    {"role": "assistant", "content": "hi", "tool_calls": [{"function": {"name": "f", "arguments": {"a": 1}}}]},
]
DATA = {
    "messages": MESSAGES,
    "s": "  Hello, wörld! 🤗  ",
    "xs": [3, 1, 2],
    "names": ["b", "A", "c"],
    "d": {"b": 1, "a": "x", "C": None, "n": {"k": [1, 2.5, True, None, "é<&'\""]}},
    "people": [{"name": "Bo", "age": 3}, {"name": "al", "age": 1}, {"name": "Cy"}],
    "n": 7,
    "f": 0.5,
    "t": True,
    "none_value": None,
    "items_dict": {"items": [1], "keys": 2, "x": 3},
    "pairs": [["a", 1], ["b", 2]],
    "empty": [],
}

EXPRESSIONS = """
1 + 1
7 / 2
8 / 2
7 // 2
-7 // 2
7 % 3
-7 % 3
7 % -3
2 ** 3 ** 2
2 ** -1
-2 ** 2
1.0
1e3
1e16
1e-5
123456789.123
0.1 + 0.2
1.5e300 * 1e10
10 ** 20
12345678901234567890 + 1
12345678901234567890 * 12345678901234567890
9007199254740993
0x1F + 0b11 + 0o17 + 1_000
3 * 'ab'
'ab' * 3
[1] * 2 + [3]
true
none
None is none
not none
true + true
true == 1
1 == 1.0
'1' == 1
[1, 2] == [1, 2]
{'a': [1]} == {'a': [1]}
(1, 2) == [1, 2]
none == none
missing == missing2
missing == none
1 < 2 < 3
1 < 3 < 2
3 > 2 > 1
'a' < 'b'
[1, 2] < [1, 3]
'a' < 1
none < 1
'a' in 'abc'
1 in xs
'b' in d
'z' not in d
none in [none]
1 in none_value
'x' in missing
1 in 'abc'
'a' ~ 1 ~ none ~ true ~ 1.5 ~ missing
1 + 2 ~ 3
1 ~ 2 + 3
'a' + 1
1 + 'a'
none + 1
missing + 1
'%s and %d and %5.2f|%-5s|%05d|%x|%%' % ('a', 3, 2.5, 'x', 42, 255)
'%s' % 'one'
'%s' % none
'%(a)s-%(b)r' % {'a': 1, 'b': 'x'}
'%d' % 'a'
'%s %s' % 'a'
'%r' % ('it''s',)
'{} {1} {name} {0!r:>6} {{}}'.format('a', 'b', name='c')
'{:>8}|{:<8}|{:^8}|{:08.3f}|{:+d}|{:,}|{:x}|{:%}'.format('a', 'b', 'c', 3.14159, 5, 1234567, 255, 0.25)
'{0.name} {0[name]}'.format(people[0])
'{:.3}'.format('abcdef')
'{} {}'.format('a')
'%.2f %.0f %.0f %g %g %e' % (2.675, 0.5, 1.5, 1e10, 0.00001, 12345.678)
s
s | trim
s.strip()
s.strip(' !')
s.lstrip() ~ '|'
s.rstrip('🤗 ') ~ '|'
'xxhixx'.strip('x')
'a,b,c'.split(',')
'a,b,c'.split(',', 1)
'a,b,c'.rsplit(',', 1)
'  a  b c '.split()
'  a  b c '.split(none, 1)
' a  b c '.rsplit(none, 1)
''.split()
''.split(',')
'a' .split('')
'a</think>b</think>c'.split('</think>')[-1]
'a\\nb\\r\\nc\\n'.splitlines()
'a\\nb'.splitlines(true)
'hello'.startswith('he')
'hello'.startswith(('x', 'he'))
'hello'.startswith('l', 2)
'hello'.endswith('lo')
'hello'.replace('l', 'L')
'hello'.replace('l', 'L', 1)
'abc'.replace('', '-')
'hello world foo'.title()
"it's o'neil's 3rd".title()
"it's o'neil's (3rd) x-y" | title
'hELLO wORLD'.capitalize()
'hELLO' | capitalize
'Straße'.upper()
'ÀÉ'.lower()
'aBc'.swapcase()
'hello'.find('l')
'hello'.rfind('l')
'hello'.find('z')
'hello'.index('z')
'hello'.count('l')
'-'.join(['a', 'b'])
'-'.join([1])
'abc'.isdigit()
'12'.isdigit()
'a1'.isalnum()
'Ab'.isupper()
' '.isspace()
'7'.zfill(3) ~ '-7'.zfill(4)
'a'.ljust(3) ~ '|' ~ 'a'.rjust(3) ~ '|' ~ 'ab'.center(5, '*') ~ 'a'.center(4, '*')
'a=b=c'.partition('=')
'a=b=c'.rpartition('=')
'abc'.removeprefix('a') ~ 'abc'.removesuffix('c')
'hello'.nothing
'hello'.nothing()
'🤗é'[0]
'🤗é' | length
'🤗é'[::-1]
'hello'[1:3]
'hello'[-3:]
'hello'[:-1]
'hello'[::-1]
'hello'[10]
'hello'[::2]
xs[::-1]
xs[-1]
xs[1:]
xs[:1]
xs[5]
xs[-5:2]
xs[0:10:2]
xs[::0]
(1, 2, 3)[1:]
messages[0]['role']
messages[0].role
messages[-1].tool_calls[0].function.name
messages[-1]['tool_calls'][0]['function']['arguments'] | tojson
messages[1:][0].content
messages[0].nothing
messages[0].nothing.more
missing.more
missing['more']
missing()
none_value.x
none_value.x.y
d
d.b
d['a']
d.items() | list
d | items | list
d.keys() | list
d.values() | list
d.get('b')
d.get('zz')
d.get('zz', 'fallback')
d.items()
d | length
d | list
items_dict.items is defined
items_dict['items']
items_dict.x
d.pop('b')
d.update({})
d | dictsort
d | dictsort(true)
people[0] | dictsort(by='key', reverse=true)
{'a': 2, 'b': 1} | dictsort(false, 'value')
d.n | tojson
d | tojson
d | tojson(indent=2)
d | tojson(indent=0)
d | tojson(indent='--')
d | tojson(sort_keys=true)
{'b': 1, 'a': {'d': 1, 'c': 2}} | tojson(sort_keys=true, indent=4)
d | tojson(ensure_ascii=true)
d | tojson(ensure_ascii=false)
d | tojson(separators=(',', ':'))
d | tojson(true)
xs | tojson(separators=[',', ':'], indent=1)
[] | tojson(indent=2) ~ ({} | tojson(indent=2)) ~ ([[]] | tojson(indent=2))
{1: 2, none: 3, true: 4, 1.5: 5} | tojson
(1, 'a') | tojson
"é\\u2028<>&'\\x7f\\x00\\t\\\\" | tojson
"é😀\\x7f" | tojson(ensure_ascii=true)
1.0 | tojson
[1e100, 1e-7, 1.5, 100000000000000000000, 3.0e16] | tojson
missing | tojson
d.items() | tojson
d.items() | list | tojson
range(3) | list
range(3)
range(1, 10, 3) | list
range(5, 0, -2) | list
range(3)[-1]
range(200000) | list
xs | sort
names | sort
names | sort(case_sensitive=true)
names | sort(reverse=true)
people[:2] | sort(attribute='age')
people | sort(attribute='age')
[1, 'a'] | sort
names | join(', ')
[1, none, true, 1.5] | join('|')
people | join(', ', attribute='name')
people | map(attribute='name') | list
people | map(attribute='age', default=0) | list
names | map('upper') | join
names | map('replace', 'b', 'B') | list
people | selectattr('age') | list
people | selectattr('age', 'defined') | map(attribute='name') | list
people | selectattr('name', 'equalto', 'Bo') | list
people | selectattr('age', 'gt', 2) | list
people | rejectattr('age', 'undefined') | list
messages | selectattr('role', 'in', ['user', 'system']) | map(attribute='role') | list
messages | rejectattr('role', '==', 'user') | list | length
messages | selectattr('tool_calls') | list | length
[0, 1, '', 'a', none] | select | list
[0, 1, '', 'a', none] | reject | list
xs | select('odd') | list
xs | select('divisibleby', 2) | list
xs | map('string') | list
xs | first
xs | last
empty | first
empty | last
'abc' | first
'abc' | last
xs | select('odd') | first
xs | select('odd') | length
xs | reverse | list
'abc' | reverse
xs | sum
people[:2] | sum(attribute='age')
xs | min ~ (xs | max) ~ (names | min)
[1, 1, 2, 'A', 'a'] | unique | list
xs | length
none_value | length
5 | length
missing | length
xs | batch(2) | list
xs | batch(2, 'x') | list
xs | slice(2) | list
people | groupby('name') | list
xs | string
true | string
none | string
'5' | int + 1
'5.7' | int
'x' | int
'x' | int(9)
'ff' | int(0, 16)
'0x1f' | int(base=16)
5.9 | int
none | int
missing | int
'1.5' | float
'x' | float
3 | float
true | int
-3 | abs
-3.5 | abs
2.5 | round
3.5 | round
2.675 | round(2)
2.4 | round(method='ceil')
2.46 | round(1, 'floor')
7 | round
missing | default('x')
none_value | default('x')
none_value | default('x', true)
'' | default('x', boolean=true)
missing | d
missing.a | default('x')
'a\\nb\\n\\nc' | indent
'a\\nb\\n\\nc' | indent(2, true)
'a\\nb\\n\\nc' | indent(2, blank=true)
'a\\nb' | indent('> ')
'a\\nb' | indent(width=2, first=true)
'hello world' | truncate(8)
'hello world foo' | truncate(9, true)
'hello world foo' | truncate(9, false, '..', 0)
'hello' | replace('l', 'x', 1)
'hello' | upper | lower
"<b>&'\\"" | escape
"<b>" | e
"<b>" | safe
'a b/c?é' | urlencode
'hello world' | wordcount
'x' | center(5)
'%s-%s' | format('a', 1)
'hello' | list
xs | attr('nothing')
'a' | nosuchfilter
n is odd
n is even
n is divisibleby 7
n is divisibleby(2)
n is number
f is float
n is integer
t is integer
t is number
t is boolean
f is number
s is string
xs is string
xs is iterable
s is iterable
n is iterable
d is mapping
xs is mapping
xs is sequence
d is sequence
s is sequence
n is sequence
missing is defined
missing is undefined
missing is not defined
none_value is defined
none_value is none
none_value is not none
messages[0].nothing is defined
messages[0].role is defined
d.C is defined
'a' is in ['a', 'b']
'a' is eq 'a'
n is gt 5
n is ge(7)
n is lt 5
n is ne 5
true is true
1 is true
false is false
0 is false
none is sameas none
'abc' is lower
'ABC' is upper
range is callable
n is callable
n is nosuchtest
'upper' is filter
'x' if t else 'y'
'x' if missing else 'y'
'x' if missing
('x' if false) is defined
t and 'a' or 'b'
'' or 'b'
'' and 'b'
none or 0 or [] or {}
not t
not missing
not not 1
[1, [2, 'a'], (3,), {'k': none}, 1.0, 'it''s', "it's", 'q"', true]
()
(1,)
(1, 2)
{}
{'a': 1, 'b': [true, none]}
{1: 'a'}[1]
{true: 'a'}[1]
{'a': 1}.b
{[1]: 2}
'a' 'b'
'\\x41\\u00e9\\n\\t\\\\\\'\\q'
"\\"'"
[1, 2,]
{'a': 1,}
dict(a=1, b=2)
dict({'a': 1}, b=2)
namespace(a=1)
namespace(a=1).a
namespace(a=1).b is defined
namespace({'a': 2}).a
xs.append(4)
xs.index(1) ~ xs.count(2)
d.copy()
xs.copy()
(f).is_integer()
n()
'a'()
-n
+n
-'a'
- f
1 // 0
1 / 0
1 % 0
1.5 // 0.4
-1.5 % 1
2 ** 0.5
9 ** 0.5
100000000000000000000 * 1.0
1e400
-1e400
1.0 * 3
3 - 1.0
4 // 2.0
1 if 0
raise_exception('Only user and assistant roles are supported!')
raise_exception("é <b> " ~ n)
raise_exception()
strftime_now('%Y-%m-%d %H:%M:%S')
strftime_now('%d %b %Y')
strftime_now('%A, %B %-d, %Y, %j %U %W %V %G %u %w')
strftime_now('%a %e|%-m|%_d|%I:%M %p|%y|%C|%x|%X|%c|%D|%F|%T|%R|%%|%f|%z|%Z')
strftime_now('%^a %^b %h %k %l %g')
'%c' | format('x')
'a' | tojson | tojson
loop
d['n']['k'][1]
d.n.k[3] is none
'abc'['upper']()
xs[true]
xs['0']
xs[1.0]
d[1]
d[[1]]
messages[n]
messages['x']
messages.x
'true' | string is string
xs | join | length
(xs | length) > 2 and (n * 2) == 14
not n == 7
n == 7 is defined
-n | abs
n ** 2 | string
1 + xs | length
none is defined and none is none
'x' not in d and 'b' in d
missing is defined and missing.a
(missing | default({})).a
[none, true] | tojson
-0.0
0.0 == -0.0
1e22
123456789012345680.0
0.0001
0.00001
1.7976931348623157e308
5e-324
'a\\
b'
"tab\\there"
cycler('a', 'b').next()
n[1:]
d[:2]
none_value[1:]
missing[1:]
range(4)[1:-1]
range(4)[::-1] | list
range(4).index(1)
xs | truncate(15)
'a' % xs
'a' % d
1 % -0.5
n % f
pairs | urlencode
people[0] | urlencode
n in n
none_value | abs
n * none_value
'a' * f
""".strip("\n").split("\n")

STATEMENTS = [
    "{% for x in xs %}{{ loop.index }}{{ loop.index0 }}{{ loop.revindex }}{{ loop.revindex0 }}{{ loop.first }}"
    "{{ loop.last }}{{ loop.length }}{{ loop.depth }};{% endfor %}",
    "{% for x in xs %}{{ loop.previtem }}<{{ x }}>{{ loop.nextitem }};{% endfor %}",
    "{% for x in xs %}{{ loop.previtem is defined }}{{ loop.nextitem is undefined }}{% endfor %}",
    "{% for x in xs %}{{ loop.cycle('a', 'b') }}{{ loop.changed(x > 1) }}{% endfor %}",
    "{% for x in xs %}{{ loop.nothing }}{{ loop['index'] }}{% endfor %}",
    "{% for x in empty %}x{% else %}none{% endfor %}",
    "{% for x in missing %}x{% else %}none{% endfor %}",
    "{% for x in none_value %}x{% endfor %}",
    "{% for x in n %}x{% endfor %}",
    "{% for x in 'ab🤗' %}[{{ x }}]{% endfor %}",
    "{% for k in d %}{{ k }}{% endfor %}",
    "{% for k, v in d.items() %}{{ k }}={{ v }};{% endfor %}",
    "{% for k, v in d | items %}{{ k }}={{ v }}{{ loop.last }};{% endfor %}",
    "{% for k, v in d | dictsort %}{{ k }};{% endfor %}",
    "{% for a, b in pairs %}{{ a }}{{ b }}{% endfor %}",
    "{% for (a, b) in pairs %}{{ a }}{{ b }}{% endfor %}",
    "{% for a, b in xs %}{{ a }}{% endfor %}",
    "{% for a in pairs %}{% for b in a %}{{ b }}{{ loop.index }}{% endfor %}{{ loop.index }}{% endfor %}",
    "{% for x in xs if x > 1 %}{{ x }}{{ loop.length }}{% endfor %}",
    "{% for x in xs if x > 5 %}{{ x }}{% else %}no{% endfor %}",
    "{% for x in xs[::-1] %}{{ x }}{% endfor %}",
    "{% for x in xs if loop.index > 1 %}{{ x }}{% endfor %}",
    "{% for m in messages if m.role != 'system' %}{{ m.content }}{% endfor %}",
    "{% for x in xs %}{% if x == 1 %}{% continue %}{% endif %}{{ x }}{% endfor %}",
    "{% for x in xs %}{% if x == 1 %}{% break %}{% endif %}{{ x }}{% endfor %}",
    "{% for x in xs %}{% for y in xs %}{% if y == 1 %}{% break %}{% endif %}{{ x }}{{ y }} {% endfor %}{% endfor %}",
    "{% set x = 1 %}{% for y in xs %}{% set x = y %}{{ x }}{% endfor %}{{ x }}",
    "{% for y in xs %}{{ z }}{% set z = y %}{% endfor %}{{ z }}",
    "{% for y in xs %}{% set z = y %}{% endfor %}{{ z is defined }}",
    "{% set ns = namespace(found=false) %}{% for y in xs %}{% set ns.found = y %}{% endfor %}{{ ns.found }}",
    "{% set d.x = 1 %}",
    "{% set missing.x = 1 %}",
    "{% if true %}{% set inner = 5 %}{% endif %}{{ inner }}",
    "{% if n > 5 %}a{% elif n > 3 %}b{% else %}c{% endif %}",
    "{% if n > 9 %}a{% elif n > 3 %}b{% else %}c{% endif %}",
    "{% if missing %}a{% else %}b{% endif %}",
    "{% if false %}a{% endif %}|",
    "{% set a, b = pairs[0] %}{{ a }}{{ b }}",
    "{% set a = 1, 2 %}{{ a }}",
    "{% set a, b = 1 %}{{ a }}",
    "{% set a, b = [1, 2, 3] %}{{ a }}",
    "{% set a %} x {{ n }} {% endset %}[{{ a }}]",
    "{% set a | upper | trim %} x {{ n }} {% endset %}[{{ a }}]",
    "{% set a %}{% set b = 1 %}{% endset %}{{ b is defined }}",
    "{% set x = x %}{{ x is defined }}",
    "{% set n = n + 1 %}{{ n }}",
    "{% macro m(a, b=2) %}{{ a }}-{{ b }}{% endmacro %}{{ m(1) }}{{ m(1, b=3) }}{{ m(b=1, a=0) }}{{ m() }}",
    "{% macro m(a, b=a) %}{{ a }}{{ b }}{% endmacro %}{{ m(1) }}",
    "{% macro m(a) %}{{ a }}{% endmacro %}{{ m(1, 2) }}",
    "{% macro m(a) %}{{ a }}{% endmacro %}{{ m(c=2) }}",
    "{% macro m(a) %}{{ varargs }}{{ kwargs }}{% endmacro %}{{ m(1, 2, 3, x=4) }}",
    "{% macro m(a) %}{{ a is defined }}{% endmacro %}{{ m() }}",
    "{% macro m() %}{{ n }}{{ later }}{% endmacro %}{% set later = 5 %}{{ m() }}",
    "{% macro m() %}{{ x }}{% endmacro %}{% for x in xs %}{{ m() }}{% endfor %}",
    "{% for x in xs %}{% macro m() %}{{ x }}{% endmacro %}{{ m() }}{% endfor %}",
    "{% macro m() %}{% set n = 1 %}{{ n }}{% endmacro %}{{ m() }}{{ n }}",
    "{% macro f(k) %}{% if k > 0 %}{{ k }}{{ f(k - 1) }}{% endif %}{% endmacro %}{{ f(3) }}",
    "{% macro m() %}  x  {% endmacro %}[{{ m() | trim }}]{{ m() is string }}",
    "{% macro m(p) %}{{ caller() }}{{ p }}{% endmacro %}{% call m(1) %}body{{ n }}{% endcall %}",
    "{% macro m() %}{{ caller(1, 2) }}{% endmacro %}{% call(a, b) m() %}{{ a }}{{ b }}{% endcall %}",
    "{% macro m() %}{{ caller is defined }}{% endmacro %}{{ m() }}",
    "{% macro m(x) %}x{% endmacro %}{{ m.name }}",
    "{% filter upper %}a{{ n }}b{% endfilter %}",
    "{% filter trim | upper %} a {% endfilter %}",
    "{% with a = 1, b = n %}{{ a }}{{ b }}{% endwith %}{{ a }}",
    "{% generation %}a{{ n }}{% set g = 1 %}{% endgeneration %}{{ g is defined }}",
    "{% for x in xs %}{%- generation -%} {{ x }}{{ loop.index }} {%- endgeneration -%} ; {% endfor %}",
    "{% raw %}{{ x }}{% y %}{% endraw %}",
    "a\n  {%- raw -%}  x  {%- endraw %}  b",
    "{# comment #}a{#- c -#} b",
    "a {#- x -#} b",
    "a\n{# c #}\nb",
    "a\n   {# c #}   \nb",
    "  {% if true %}\n  a\n  {% endif %}\nb\n",
    "  {%+ if true %}\n  a\n  {%+ endif +%}\nb\n",
    "  {%- if true -%}\n  a\n  {%- endif -%}\nb\n",
    "x  {% if true %}  y  {% endif %}  z",
    "{% if true %}\n\n a{% endif %}",
    "a\n  {{ n }}\n  b\n\n",
    "a\n  {{- n -}}\n  b",
    "{{ n }}\n{{ n }}\n",
    "{{ '{%' }} {{ '}}' }} {{ \"{#\" }}",
    "{{ {'a': {'b': 1}}['a']['b'] }}",
    "{{ {'a': {}} }}",
    "{{- '  x' }}\n  {%- for x in xs %}\n {{ x }}\n{%- endfor %}",
    "\u00a0 {%- if true %}\u3000x{% endif %}",
    "\ufeff {%- if true %}x{% endif -%}\ufeff y",
    "line\r\n{% if true %}\r\nx\r\n{% endif %}\r\ny",
    "{% for x in xs %}\n  {{ x }}\n{% endfor %}\nend",
    "\t{% set a = 1 %}\t{{ a }}",
    "{% print n, 1 %}",
    "{% block b %}x{{ n }}{% endblock %}",
    "{% for item in pairs recursive %}{{ loop.depth }}{{ item[0] }}{% if item is sequence and item is not string %}"
    "{{ loop([['z']]) if loop.depth < 2 }}{% endif %}{% endfor %}",
    "{% set j = joiner('|') %}{% for x in xs %}{{ j() }}{{ x }}{% endfor %}",
    "{% set c = cycler('a', 'b') %}{% for x in xs %}{{ c.next() }}{{ c.current }}{% endfor %}",
    "{{ n",
    "{% if true %}",
    "{% endif %}",
    "{% nosuchtag %}",
    "{{ 'abc }}",
    "{{ (1 }}",
    "{{ a b }}",
    "{{ 1 + }}",
    "{{ foo.1.2 }}",
    "{{ pairs.0.1 }}",
    "{{ }}",
    "{% set 1 = 2 %}",
    "{% set true = 2 %}",
    "{% for x in %}{% endfor %}",
    "{{ f(a=1, 2) }}",
    "{{ x is string is string }}",
    "{% do xs %}",
    "{% include 'x' %}",
    "{%- for message in messages -%}\n    {{- '<|im_start|>' + message.role + '\\n' }}\n    {{- message.content | trim "
    "}}\n    {{- '<|im_end|>\\n' }}\n{%- endfor -%}\n{%- if true %}\n{{- 'x' -}}\n{%- endif %}\n",
    "{% set loop_messages = messages %}{% for message in loop_messages %}{% set content = message['content'] %}"
    "{% if loop.index0 == 0 %}{% set content = 'B' + content %}{% endif %}{{ content }}{% endfor %}",
    "{%- set ns = namespace(i=0, list=[]) %}{% for x in xs %}{% set ns.i = ns.i + x %}"
    "{% set ns.list = ns.list + [x] %}{% endfor %}{{ ns.i }}{{ ns.list }}",
    "{% for m in messages %}{% if (m['role'] == 'user') != (loop.index0 % 2 == 1) %}{{ raise_exception('no') }}"
    "{% endif %}{% endfor %}ok",
    "{% for i in range(messages | length - 1, -1, -1) %}{{ messages[i].role }}{% endfor %}",
    "{% for i in range(0, 5, 0) %}{% endfor %}",
    "{% set x = {'a': 1} %}{% set y = x.copy() %}{{ y }}{{ x is mapping }}",
    "{{ messages | map(attribute='content') | map('length') | sum }}",
    "{{ messages | map(attribute='tool_calls.0.function.name') | list }}",
    "{{ (messages | selectattr('role', 'equalto', 'user') | list)[-1].content }}",
    "{{ messages | selectattr('tool_calls', 'defined') | map(attribute='tool_calls') | first | tojson }}",
    "{{ m(*xs) }}",
    "{% macro m(a, b, c) %}{{ a }}{{ b }}{{ c }}{% endmacro %}{{ m(*xs) }}{{ m(**{'a': 1, 'b': 2, 'c': 3}) }}",
    "{% macro m(a=[], b={}) %}{{ a }}{{ b }}{% endmacro %}{{ m() }}",
    "{{ loop_messages is not defined }}",
    "{% if messages[0]['role'] == 'system' and messages|length > 1 or false %}y{% endif %}",
    "{% if not messages or messages[0].role not in ['user'] %}y{% endif %}",
    "{%- if tools is not none and tools is defined %}t{% else %}f{% endif %}",
    "{{ 'a' if 1 else 'b' if 0 else 'c' }}{{ 'x' if 0 else 'y' if 0 else 'z' }}",
    "{{ xs | sort | reverse | list | join(',') | replace(',', ';') | upper }}",
    "{{ 'a'\n  'b' }}",
    "{{ messages[0].content.split('S')[0] | length }}",
    "{{ (xs + [4])[1:3] | tojson }}",
    "{{ d.n.k | map('string') | join(' ') }}",
    "{{ ['a', 'b'] | map('tojson') | join(',') }}",
    "{{ people | map(attribute='nothing') | list }}",
    "{{ people | map(attribute='nothing') | join(',') }}",
]

FEATURES = ["{{ " + expression + " }}" for expression in EXPRESSIONS] + STATEMENTS
