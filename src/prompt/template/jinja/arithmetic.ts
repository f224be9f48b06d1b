import type { BinaryOperator } from "./ast.ts";
import { failIfUndefined } from "./comparison.ts";
import { failure } from "./failure.ts";
import { checkItems, checkSize } from "./limits.ts";
import { formatPercent } from "./string-format.ts";
import {
  PyFloat,
  PyTuple,
  asNumber,
  isInt,
  isList,
  normalizeInt,
  toInt,
  typeNameOf,
} from "./values.ts";
import type { Int, Value } from "./values.ts";

/** Python's arithmetic, string and list operators included. */
export function applyBinary(operator: BinaryOperator, left: Value, right: Value): Value {
  failIfUndefined(left, right);
  if (isInt(left) && isInt(right)) return intOperation(operator, toInt(left), toInt(right));
  const leftNumber = asNumber(left);
  const rightNumber = asNumber(right);
  if (leftNumber !== undefined && rightNumber !== undefined) {
    return floatOperation(operator, leftNumber, rightNumber);
  }
  const result = sequenceOperation(operator, left, right);
  if (result !== undefined) return result;
  throw failure(typeError(operator, left, right));
}

function typeError(operator: BinaryOperator, left: Value, right: Value): string {
  if (operator === "+" && (typeof left === "string" || isList(left) || left instanceof PyTuple)) {
    const type = typeNameOf(left);
    return `can only concatenate ${type} (not "${typeNameOf(right)}") to ${type}`;
  }
  const factor = operator === "*" ? otherThanSequence(left, right) : undefined;
  if (factor !== undefined) {
    return `can't multiply sequence by non-int of type '${typeNameOf(factor)}'`;
  }
  const name = operator === "**" ? "** or pow()" : operator;
  return `unsupported operand type(s) for ${name}: '${typeNameOf(left)}' and '${typeNameOf(right)}'`;
}

/** Of two operands the one beside a sequence. */
function otherThanSequence(left: Value, right: Value): Value | undefined {
  const isSequence = (value: Value): boolean =>
    typeof value === "string" || isList(value) || value instanceof PyTuple;
  if (isSequence(left)) return right;
  return isSequence(right) ? left : undefined;
}

function sequenceOperation(operator: BinaryOperator, left: Value, right: Value): Value | undefined {
  if (operator === "%" && typeof left === "string") return formatPercent(left, right);
  if (operator === "*") {
    if (isInt(right)) return repeat(left, Number(right));
    return isInt(left) ? repeat(right, Number(left)) : undefined;
  }
  if (operator !== "+") return undefined;
  if (typeof left === "string" && typeof right === "string") {
    checkSize(left.length + right.length);
    return left + right;
  }
  if (isList(left) && isList(right)) {
    checkItems(left.length + right.length);
    return [...left, ...right];
  }
  if (left instanceof PyTuple && right instanceof PyTuple) {
    return new PyTuple([...left.items, ...right.items]);
  }
  return undefined;
}

function repeat(value: Value, count: number): Value | undefined {
  const times = Math.max(0, count);
  if (typeof value === "string") {
    checkSize(value.length * times);
    return value.repeat(times);
  }
  const items = value instanceof PyTuple ? value.items : value;
  if (!isList(items)) return undefined;
  checkItems(items.length * times);
  const repeated = items.length === 0 ? [] : Array.from({ length: times }, () => items).flat();
  return value instanceof PyTuple ? new PyTuple(repeated) : repeated;
}

function intOperation(operator: BinaryOperator, left: Int, right: Int): Value {
  const exact = typeof left === "number" && typeof right === "number";
  switch (operator) {
    case "+":
      return exact && Number.isSafeInteger(left + right)
        ? left + right
        : normalizeInt(BigInt(left) + BigInt(right));
    case "-":
      return exact && Number.isSafeInteger(left - right)
        ? left - right
        : normalizeInt(BigInt(left) - BigInt(right));
    case "*":
      return exact && Number.isSafeInteger(left * right)
        ? left * right + 0
        : normalizeInt(BigInt(left) * BigInt(right));
    case "/":
      return divide(Number(left), Number(right));
    case "//":
    case "%":
      return floorDivision(operator, left, right);
    case "**":
      return power(left, right);
  }
}

function divide(left: number, right: number): PyFloat {
  if (right === 0) throw failure("division by zero");
  return new PyFloat(left / right);
}

function floorDivision(operator: "//" | "%", left: Int, right: Int): Int {
  if (Number(right) === 0)
    throw failure(
      operator === "%" ? "integer modulo by zero" : "integer division or modulo by zero",
    );
  const dividend = BigInt(left);
  const divisor = BigInt(right);
  let quotient = dividend / divisor;
  let remainder = dividend % divisor;
  if (remainder !== 0n && remainder < 0n !== divisor < 0n) {
    quotient -= 1n;
    remainder += divisor;
  }
  return normalizeInt(operator === "//" ? quotient : remainder);
}

/** Most bits of a power of integers. */
const MAX_POWER_BITS = 65_536;

function power(left: Int, right: Int): Value {
  if (Number(right) < 0) return floatOperation("**", Number(left), Number(right));
  const bits = BigInt(left).toString(2).length * Number(right);
  if (Math.abs(Number(left)) > 1 && bits > MAX_POWER_BITS) throw failure("the power is too large");
  const exponent = Math.abs(Number(left)) > 1 ? BigInt(right) : BigInt(Number(right) % 2 || 2);
  return Number(right) === 0 ? 1 : normalizeInt(BigInt(left) ** exponent);
}

function floatOperation(operator: BinaryOperator, left: number, right: number): PyFloat {
  switch (operator) {
    case "+":
      return new PyFloat(left + right);
    case "-":
      return new PyFloat(left - right);
    case "*":
      return new PyFloat(left * right);
    case "/":
      if (right === 0) throw failure("float division by zero");
      return new PyFloat(left / right);
    case "//":
    case "%":
      return floatFloorDivision(operator, left, right);
    case "**":
      if (left === 0 && right < 0) throw failure("0.0 cannot be raised to a negative power");
      return floatPower(left, right);
  }
}

function floatPower(left: number, right: number): PyFloat {
  const result = left ** right;
  if (Number.isNaN(result) && !Number.isNaN(left) && !Number.isNaN(right)) {
    throw failure("complex numbers are not supported");
  }
  if (!Number.isFinite(result) && Number.isFinite(left) && Number.isFinite(right)) {
    throw failure("(34, 'Numerical result out of range')");
  }
  return new PyFloat(result);
}

function floatFloorDivision(operator: "//" | "%", left: number, right: number): PyFloat {
  if (right === 0) {
    throw failure(operator === "%" ? "float modulo" : "float floor division by zero");
  }
  let remainder = left % right;
  if (remainder === 0) remainder = right < 0 ? -0 : 0;
  else if (remainder < 0 !== right < 0) remainder += right;
  return new PyFloat(operator === "%" ? remainder : Math.round((left - remainder) / right));
}

/** Unary `-` and `+`. */
export function applySign(operator: "+" | "-", operand: Value): Value {
  failIfUndefined(operand);
  if (operand instanceof PyFloat) {
    return operator === "-" ? new PyFloat(-operand.value) : operand;
  }
  if (!isInt(operand)) {
    throw failure(`bad operand type for unary ${operator}: '${typeNameOf(operand)}'`);
  }
  const value = toInt(operand);
  if (operator === "+" || value === 0) return value;
  return typeof value === "number" ? -value : normalizeInt(-value);
}
