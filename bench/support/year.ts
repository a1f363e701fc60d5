import type { Columnar } from '../../packages/server/src/platform/stores/columnar.ts'

export const days = 365
const eventsPerSession = 10
const dayMs = 86_400_000

/**
 * Writes events of the year up to now into the store directly, a day at a time as loading leaves them: sessions of ten
 * events, devices that come back four times, a person known by name in one session of fifteen, an order in one of thirty.
 * The service must not collect events afterwards: their sequence numbers are not those of its log.
 */
export async function generateYear(columnar: Columnar, company: string, datasource: string, events: number) {
  const sessions = Math.ceil(events / days / eventsPerSession)
  const today = Math.floor(Date.now() / dayMs) * dayMs
  for (let day = 0; day < days; day++) {
    const params = {
      ...{ company, datasource, sessions, devices: Math.ceil((sessions * days) / 4) },
      ...{ first: day * sessions * eventsPerSession, start: today - (days - day) * dayMs },
    }
    const settings = { optimize_on_insert: 0, max_threads: 2, max_insert_threads: 1, max_execution_time: 600 }
    const sessionOf = `intDiv({first:UInt64} + number, ${eventsPerSession}) AS session`
    // Sessions begin at any time of the day, and end within it.
    const time = `fromUnixTimestamp64Milli(toInt64({start:UInt64} + intHash64(session) % ${dayMs - 600_000}
      + number % ${eventsPerSession} * (10000 + intHash32(session) % 50000)), 'UTC') AS happened`
    const person = `concat('ckmqzsn8yjdztwpg8zvq', toString(intHash64(session * 3) % {devices:UInt64})) AS device_text,
      if(session % 15 = 0, concat('cust-', device_text), '') AS client_text`
    await columnar.command({
      sql: `INSERT INTO events (company, datasource, time, received, seq, event_uuid, name, url, tmp_id, client_id, device,
              client, ids, labels, device_type, os, browser, referrer_host, country)
            WITH ${sessionOf}, ${time}, ${person}, intHash32(number * 7 + session) AS dice
            SELECT {company:String}, {datasource:String}, happened, happened, {first:UInt64} + number + 1,
              generateUUIDv4(), ['page_view', 'page_view', 'product_page', 'product_page', 'add_cart'][number % 5 + 1],
              concat('https://www.shop.example/p/product-name-', toString(dice % 5000),
                if(number % ${eventsPerSession} = 0, concat('?utm_source=s', toString(session % 8)), '')),
              device_text, client_text, sipHash64(device_text), if(client_text = '', 0, sipHash64(client_text)),
              [concat('SKU', toString(dice % 5000))], map('store', concat('store', toString(dice % 20))),
              ['mobile', 'desktop', 'tablet'][session % 3 + 1], ['iOS', 'Android', 'Windows'][session % 3 + 1],
              ['Safari', 'Chrome', 'Firefox', 'Edge'][session % 4 + 1],
              if(number % ${eventsPerSession} = 0, ['www.google.com', '', 't.co', 'news.example'][session % 4 + 1], ''),
              ['DE', 'FR', 'US', 'GB', 'ES'][session % 5 + 1]
            FROM numbers({sessions:UInt64} * ${eventsPerSession})`,
      params,
      settings,
    })
    await columnar.command({
      sql: `INSERT INTO orders (company, time, purchase, version, datasource, trans_id, client, client_id, device, tmp_id,
              ids, value, labels, device_type, os)
            WITH ${sessionOf}, ${time}, ${person}
            SELECT {company:String}, happened, reinterpretAsUInt128(sipHash128(session)), 1, {datasource:String},
              toString(session), if(client_text = '', 0, sipHash64(client_text)), client_text, sipHash64(device_text),
              device_text, [concat('SKU', toString(session % 5000))], toDecimal64(session % 200, 2), map(), 'mobile', 'iOS'
            FROM numbers({sessions:UInt64} * ${eventsPerSession}) WHERE session % 30 = 0 AND number % ${eventsPerSession} = 9`,
      params,
      settings,
    })
  }
  await columnar.command({
    sql: `INSERT INTO identities (company, datasource, device, tmp_id, time, client, client_id)
          SELECT company, datasource, device, any(tmp_id), max(events.time), any(client), client_id
          FROM events WHERE client != 0 AND device % 2 = 0 GROUP BY company, datasource, device, client_id`,
    settings: { max_threads: 2, max_execution_time: 600 },
  })
}
