/** What an insert stores at once: beyond it, rows before a faulty one may have been stored (columnar.ts, insert). */
export const insertBlock = { rows: 1_048_576, bytes: 1024 * 1024 * 1024 } as const

/** For a stream of any number of rows: they come as they are read, and what does not fit into memory is sorted on disk. */
export const unboundedResult = {
  max_result_rows: 0,
  max_result_bytes: 0,
  max_bytes_before_external_sort: 256 * 1024 * 1024,
} as const

type Settings = Readonly<Record<string, string | number>>

/** The same answers from every home, whatever its configuration says. */
const dialect: Settings = {
  session_timezone: 'UTC',
  output_format_json_quote_64bit_integers: 0,
  output_format_json_quote_decimals: 0,
  output_format_json_quote_denormals: 0,
}

/** Settings of each kind of statement; a statement's own come on top. */
export const columnarSettings: Readonly<Record<'reading' | 'writing' | 'inserting', Settings>> = {
  reading: {
    ...dialect,
    max_execution_time: 30,
    max_memory_usage: 1024 * 1024 * 1024,
    max_result_rows: 1_000_000,
    result_overflow_mode: 'throw',
    timeout_before_checking_execution_speed: 0,
    cancel_http_readonly_queries_on_client_close: 1,
  },
  writing: { ...dialect, max_execution_time: 600, wait_end_of_query: 1 },
  inserting: {
    ...dialect,
    max_execution_time: 600,
    wait_end_of_query: 1,
    async_insert: 0,
    // Rows come once: collapsing them at insert costs half of the speed (ARCHITECTURE.md).
    optimize_on_insert: 0,
    min_insert_block_size_rows: insertBlock.rows,
    min_insert_block_size_bytes: insertBlock.bytes,
  },
}
