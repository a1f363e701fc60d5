const everyMs = 500

/**
 * Aborts once the process that started this one has ended, however it ended: the kernel gives orphans another parent.
 * Keeps no process alive.
 */
export function watchParent(): AbortSignal {
  const gone = new AbortController()
  const parent = process.ppid
  const timer = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(timer)
    gone.abort()
  }, everyMs)
  timer.unref()
  return gone.signal
}
