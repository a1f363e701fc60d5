/**
 * What a browser may refuse, as it does with storage that is blocked.
 * @returns undefined where it throws
 */
export const attempt = <Result>(
  run: () => Result,
  onError?: (error: unknown) => void,
): Result | undefined => {
  try {
    return run()
  } catch (error) {
    onError?.(error)
  }
  return undefined
}
