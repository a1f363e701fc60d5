/**
 * Where a decreasing function meets 0, between `low` and `high`, to the last digits: the method of Ridders (1979, A
 * new algorithm for computing a single root of a real continuous function, doi:10.1109/TCS.1979.1084580), whose
 * bracket at least halves in each step.
 * @returns the nearer end where the function does not change its sign between them; NaN where the function is that
 */
export function solveDecreasing(
  valueAt: (x: number) => number,
  { low, high }: { readonly low: number; readonly high: number },
): number {
  let [left, right] = [low, high]
  let [above, below] = [valueAt(left), valueAt(right)]
  if (above <= 0) return left
  if (below >= 0) return right
  if (Number.isNaN(above + below)) return Number.NaN
  const narrow = (x: number): number => {
    const value = valueAt(x)
    if (value > 0 && x > left) [left, above] = [x, value]
    if (value <= 0 && x < right) [right, below] = [x, value]
    return value
  }
  for (;;) {
    const middle = left + (right - left) / 2
    if (middle <= left || middle >= right) return middle
    const reach = middle - left
    const [start, end] = [above, below]
    const value = narrow(middle)
    if (value === 0) return middle
    if (Number.isNaN(value)) return Number.NaN
    const guess = middle + (reach * value) / Math.sqrt(value * value - start * end)
    if (guess > left && guess < right && narrow(guess) === 0) return guess
  }
}
