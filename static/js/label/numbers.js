// Writes the calculator's exact values. Pure.

const MOST_SHOWN = 40;
const DECIMALS = 10n;

/** { text, exact, decimal }: the value itself, and where it is a fraction its decimals ("" if whole). */
export function written(value) {
  const whole = value.d === 1n;
  const text = whole ? value.n.toString() : `${value.n}/${value.d}`;
  if (text.length <= MOST_SHOWN) return { text, decimal: whole ? "" : decimals(value) };
  return { text: `${text.slice(0, 12)}…${text.slice(-6)}`, decimal: "" };
}

/** Finite decimals in full ("0.125"), others cut with a mark ("0.3333333333…"). */
export function decimals({ n, d }) {
  const sign = n < 0n ? "-" : "";
  const size = n < 0n ? -n : n;
  const scaled = (size * 10n ** DECIMALS) / d;
  const isCut = scaled * d !== size * 10n ** DECIMALS;
  const digits = scaled.toString().padStart(Number(DECIMALS) + 1, "0");
  const part = digits.slice(-Number(DECIMALS));
  const head = `${sign}${digits.slice(0, -Number(DECIMALS))}.`;
  return isCut ? `${head}${part}…` : `${head}${part}`.replace(/\.?0+$/, "");
}
