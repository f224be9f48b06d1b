const DAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
const MONTHS = [
  "January",
  "February",
  "March",
  "April",
  "May",
  "June",
  "July",
  "August",
  "September",
  "October",
  "November",
  "December",
];

const DAY_MS = 86_400_000;

interface Field {
  readonly value: number;
  readonly width: number;
  readonly fill: "0" | " ";
}

function zero(value: number, width: number): Field {
  return { value, width, fill: "0" };
}

function blank(value: number, width: number): Field {
  return { value, width, fill: " " };
}

function dayOfYear(date: Date): number {
  const day = Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate());
  return Math.round((day - Date.UTC(date.getUTCFullYear(), 0, 1)) / DAY_MS) + 1;
}

/** Week of the year when weeks start on the given day; days before the first such day are week 0. */
function weekOfYear(date: Date, firstDay: number): number {
  const weekday = (date.getUTCDay() - firstDay + 7) % 7;
  return Math.floor((dayOfYear(date) + 6 - weekday) / 7);
}

/** ISO 8601 week and its year. */
function isoWeek(date: Date): { readonly year: number; readonly week: number } {
  const weekday = (date.getUTCDay() + 6) % 7;
  const thursday = new Date(date.getTime() + (3 - weekday) * DAY_MS);
  return { year: thursday.getUTCFullYear(), week: Math.ceil(dayOfYear(thursday) / 7) };
}

function hour12(date: Date): number {
  return date.getUTCHours() % 12 === 0 ? 12 : date.getUTCHours() % 12;
}

function meridiem(date: Date): string {
  return date.getUTCHours() < 12 ? "AM" : "PM";
}

type Directive = (date: Date) => string | Field;

const DIRECTIVES: Readonly<Record<string, Directive>> = {
  a: (date) => (DAYS[date.getUTCDay()] ?? "").slice(0, 3),
  A: (date) => DAYS[date.getUTCDay()] ?? "",
  b: (date) => (MONTHS[date.getUTCMonth()] ?? "").slice(0, 3),
  h: (date) => (MONTHS[date.getUTCMonth()] ?? "").slice(0, 3),
  B: (date) => MONTHS[date.getUTCMonth()] ?? "",
  c: (date) => formatTime(date, "%a %b %e %H:%M:%S %Y"),
  C: (date) => zero(Math.floor(date.getUTCFullYear() / 100), 2),
  d: (date) => zero(date.getUTCDate(), 2),
  D: (date) => formatTime(date, "%m/%d/%y"),
  e: (date) => blank(date.getUTCDate(), 2),
  f: (date) => zero(date.getUTCMilliseconds() * 1000, 6),
  F: (date) => formatTime(date, "%Y-%m-%d"),
  g: (date) => zero(isoWeek(date).year % 100, 2),
  G: (date) => zero(isoWeek(date).year, 1),
  H: (date) => zero(date.getUTCHours(), 2),
  I: (date) => zero(hour12(date), 2),
  j: (date) => zero(dayOfYear(date), 3),
  k: (date) => blank(date.getUTCHours(), 2),
  l: (date) => blank(hour12(date), 2),
  m: (date) => zero(date.getUTCMonth() + 1, 2),
  M: (date) => zero(date.getUTCMinutes(), 2),
  n: () => "\n",
  p: meridiem,
  P: (date) => meridiem(date).toLowerCase(),
  r: (date) => formatTime(date, "%I:%M:%S %p"),
  R: (date) => formatTime(date, "%H:%M"),
  s: (date) => String(Math.floor(date.getTime() / 1000)),
  S: (date) => zero(date.getUTCSeconds(), 2),
  t: () => "\t",
  T: (date) => formatTime(date, "%H:%M:%S"),
  u: (date) => zero(date.getUTCDay() === 0 ? 7 : date.getUTCDay(), 1),
  U: (date) => zero(weekOfYear(date, 0), 2),
  V: (date) => zero(isoWeek(date).week, 2),
  w: (date) => zero(date.getUTCDay(), 1),
  W: (date) => zero(weekOfYear(date, 1), 2),
  x: (date) => formatTime(date, "%m/%d/%y"),
  X: (date) => formatTime(date, "%H:%M:%S"),
  y: (date) => zero(date.getUTCFullYear() % 100, 2),
  Y: (date) => zero(date.getUTCFullYear(), 1),
  z: () => "",
  Z: () => "",
  "%": () => "%",
};

/**
 * Python's `datetime.strftime` of a naive time on Linux, in the C locale; the date's UTC fields are its local time.
 * glibc's flags `-` (no padding), `_` (blanks), `0` and `^` (upper case) work; an unknown directive stays as it is.
 */
export function formatTime(date: Date, format: string): string {
  return format.replaceAll(/%([-_0^]?)([A-Za-z%])/g, (whole, flag: string, letter: string) => {
    const directive = Object.hasOwn(DIRECTIVES, letter) ? DIRECTIVES[letter] : undefined;
    if (directive === undefined) return whole;
    const field = directive(date);
    const text = typeof field === "string" ? field : pad(field, flag);
    return flag === "^" ? text.toUpperCase() : text;
  });
}

function pad({ value, width, fill }: Field, flag: string): string {
  if (flag === "-") return String(value);
  return String(value).padStart(width, flag === "_" ? " " : flag === "0" ? "0" : fill);
}
