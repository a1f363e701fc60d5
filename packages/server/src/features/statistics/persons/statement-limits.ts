const mebibyte = 1024 * 1024

/** Seconds that a statement about persons may take: no run of a workflow waits longer. */
export const personSeconds = 2

/** A small share of the engine: one thread, on the lanes for short statements where the others are taken. */
export const settingsOfPersons = {
  max_execution_time: personSeconds,
  max_threads: 1,
  max_memory_usage: 512 * mebibyte,
  max_result_bytes: 32 * mebibyte,
} as const
