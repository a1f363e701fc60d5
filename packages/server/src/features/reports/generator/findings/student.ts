/**
 * The probability that a value of Student's distribution lies further from 0 than `t`, on either side.
 * With df degrees of freedom it is the regularized incomplete beta function at df / (df + t²), of df / 2 and 1 / 2
 * (Abramowitz and Stegun 26.7.1); its continued fraction is 26.5.8, computed by the method of Lentz.
 */
export function twoSided(t: number, degrees: number): number {
  if (Number.isNaN(t) || !(degrees > 0)) return 1
  if (!Number.isFinite(t)) return 0
  return incompleteBeta(degrees / (degrees + t * t), degrees / 2, 0.5)
}

function incompleteBeta(x: number, a: number, b: number): number {
  if (x <= 0) return 0
  if (x >= 1) return 1
  const front = Math.exp(logGamma(a + b) - logGamma(a) - logGamma(b) + a * Math.log(x) + b * Math.log1p(-x))
  if (x < (a + 1) / (a + b + 2)) return (front * fraction(x, a, b)) / a
  return 1 - (front * fraction(1 - x, b, a)) / b
}

const tiny = 1e-300

function fraction(x: number, a: number, b: number): number {
  let c = 1
  let d = 1 / away(1 - ((a + b) * x) / (a + 1))
  let result = d
  for (let m = 1; m <= 500; m++) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m))
    d = 1 / away(1 + even * d)
    c = away(1 + even / c)
    result *= d * c
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1))
    d = 1 / away(1 + odd * d)
    c = away(1 + odd / c)
    const step = d * c
    result *= step
    if (Math.abs(step - 1) < 1e-14) return result
  }
  return result
}

/** Away from 0, by which it is divided. */
function away(value: number): number {
  return Math.abs(value) < tiny ? tiny : value
}

/** Lanczos's approximation with g = 7 and nine terms; the arguments here are positive. */
const lanczos = [
  0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059,
  12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7,
]

function logGamma(x: number): number {
  if (x < 0.5) return Math.log(Math.PI / Math.sin(Math.PI * x)) - logGamma(1 - x)
  const z = x - 1
  const base = z + 7.5
  const series = lanczos.reduce((sum, term, i) => (i === 0 ? term : sum + term / (z + i)), 0)
  return 0.5 * Math.log(2 * Math.PI) + (z + 0.5) * Math.log(base) - base + Math.log(series)
}
