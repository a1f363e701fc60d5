import { upperGamma } from './incomplete-gamma.ts'

/** P(Z > z) of the standard normal distribution, precise in the far tail too; P(Z <= z) is that of -z. */
export function normalSurvival(z: number): number {
  const tail = 0.5 * upperGamma(0.5, (z * z) / 2)
  return z >= 0 ? tail : 1 - tail
}

/**
 * The z that a standard normal variable exceeds with this probability. A start from Abramowitz and Stegun 26.2.23 is
 * brought to full precision by Halley's method.
 */
export function normalUpperQuantile(probability: number): number {
  if (!(probability >= 0 && probability <= 1)) return Number.NaN
  if (probability === 0) return Number.POSITIVE_INFINITY
  // Exact, because it is at least one half.
  if (probability > 0.5) return -normalUpperQuantile(1 - probability)
  const t = Math.sqrt(-2 * Math.log(probability))
  let z =
    t -
    (2.515517 + 0.802853 * t + 0.010328 * t * t) / (1 + 1.432788 * t + 0.189269 * t * t + 0.001308 * t ** 3)
  for (let step = 0; step < 4; step++) {
    const density = Math.exp((-z * z) / 2) / Math.sqrt(2 * Math.PI)
    const newton = (normalSurvival(z) - probability) / density
    z += newton / (1 - (newton * z) / 2)
  }
  return z
}
