import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'

/** What is measured, in Prometheus' names and units; labels have few values and never hold text of a sender. */
export type Metrics = ReturnType<typeof createMetrics>

const seconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

export function createMetrics() {
  const registry = new Registry()
  // The delay of the event loop is measured by a timer: every 10 ms by default, most of what an idle service did.
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: 200 })
  const registers = [registry]
  return {
    registry,
    /** Seconds of interface calls by method, route template and status. */
    httpSeconds: new Histogram({
      name: 'millrace_http_request_duration_seconds',
      help: 'Duration of interface calls by route template',
      labelNames: ['method', 'route', 'status'],
      buckets: seconds,
      registers,
    }),
    /** Seconds of statistics queries by outcome: ok, refused, timeout, cancelled, failed. */
    querySeconds: new Histogram({
      name: 'millrace_query_duration_seconds',
      help: 'Duration of statistics queries by outcome',
      labelNames: ['outcome'],
      buckets: seconds,
      registers,
    }),
    /** Events by what became of them at load: stored, duplicate, dropped, bot, quarantined. */
    loadedEvents: new Counter({
      name: 'millrace_loaded_events_total',
      help: 'Events taken from the log by what became of them',
      labelNames: ['outcome'],
      registers,
    }),
    /** Seconds of one load of a batch. */
    loadSeconds: new Histogram({
      name: 'millrace_load_duration_seconds',
      help: 'Duration of loading one batch into the columnar store',
      buckets: seconds,
      registers,
    }),
    /** Sign-ins through identity providers by what became of them: accepted, or the reason of the refusal. */
    singleSignOns: new Counter({
      name: 'millrace_sso_sign_ins_total',
      help: 'Sign-ins through identity providers by what became of them',
      labelNames: ['outcome'],
      registers,
    }),
    /** Seconds of runs of workflows, without what keeping their events takes. */
    runnerSeconds: new Histogram({
      name: 'millrace_runner_duration_seconds',
      help: 'Duration of runs of workflows, displays and clicks',
      labelNames: ['mode'],
      buckets: seconds,
      registers,
    }),
    /** A gauge whose value is asked for when the page of metrics is read. */
    gauge(name: string, help: string, read: () => number | Promise<number>): void {
      new Gauge({
        name,
        help,
        registers,
        async collect() {
          this.set(await read())
        },
      })
    },
    /** A counter kept elsewhere as a plain number, so that a hot path pays one addition. */
    counter(name: string, help: string, read: () => number): void {
      new Counter({
        name,
        help,
        registers,
        collect() {
          this.reset()
          this.inc(read())
        },
      })
    },
  }
}
