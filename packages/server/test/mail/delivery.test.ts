import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { createServer, type Server, type Socket } from 'node:net'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { createMailService, type MailServiceDependencies } from '../../src/features/mail/mail-service.ts'
import { createMailQueue, createMailStore } from '../../src/features/mail/mail-store.ts'
import { createSecretBox } from '../../src/platform/crypto/secret-box.ts'
import { silentLogger } from '../../src/platform/logger.ts'
import type { Outbox } from '../../src/platform/mail/outbox.ts'
import { createSmtpOutbox } from '../../src/platform/mail/smtp-outbox.ts'
import { createBackground } from '../../src/platform/work/background.ts'
import type { MailWorkerTask } from '../support/mail-worker.ts'
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts'
import { startSmtp, type TestSmtp } from '../support/smtp.ts'

let database: TestDatabase
const key = randomBytes(32)
const box = createSecretBox([key])
const closers: (() => unknown)[] = []

beforeAll(async () => {
  database = await createTestDatabase()
  // Stands still: what is due is so by `makeDue` alone.
  database.follow()
})

afterEach(async () => {
  for (const close of closers.splice(0)) await close()
  await database.pool.query('delete from outgoing_mails')
})

afterAll(() => database.close())

const from = 'Millrace <noreply@shop.example>'
/** No server that answers is cut off, however busy the machine is. */
const patient = { connect: 600_000, greeting: 600_000, silence: 600_000, total: 600_000 }

async function smtp(options: Parameters<typeof startSmtp>[0] = {}): Promise<TestSmtp> {
  const server = await startSmtp(options)
  closers.push(server.close)
  return server
}

function outboxOf(url: string, timeouts = patient): Outbox {
  const outbox = createSmtpOutbox({ url, from, timeouts })
  closers.push(outbox.close)
  return outbox
}

function worker(url: string, more: Partial<MailServiceDependencies> = {}) {
  const store = createMailStore(database.db, box)
  return createMailService({ store, outbox: outboxOf(url), log: silentLogger, ...more })
}

/** A process that sends what is queued for a server, until it is stopped. */
function runningWorker(url: string, outbox?: Outbox, stopWithinMs?: number) {
  const background = createBackground({
    relational: database,
    log: silentLogger,
    ...(stopWithinMs && { stopWithinMs }),
  })
  background.start(worker(url, outbox && { outbox }).works)
  return background
}

const enqueue = (to = 'ada@example.com', subject = 'Your link') =>
  createMailQueue(box)(database.db, undefined, {
    to,
    subject,
    text: 'https://stats.example/reset#secret-link',
  })

interface MailRow {
  attempts: number
  sent: boolean
  failed: boolean
  sealed: boolean
  last_error: string | null
  wait: number
}

const rows = async (): Promise<MailRow[]> =>
  (
    await database.pool.query<MailRow>(
      `select attempts, sent_at is not null as sent, failed_at is not null as failed, sealed_content is not null as sealed,
         last_error, round(extract(epoch from due_at - now()))::int as wait
       from outgoing_mails order by created_at, id`,
    )
  ).rows

/** The time of the next attempt has come, or the lease of a process that died is over. */
const makeDue = () => database.pool.query('update outgoing_mails set due_at = now() where sent_at is null')

const refusal = (code: number): Error =>
  Object.assign(new Error(`refused with ${code}`), { responseCode: code })

describe('delivery', () => {
  test('a queued mail is handed over once, to the address in the queue, and its text is gone then', async () => {
    const server = await smtp()
    await enqueue()
    await worker(server.url).work()
    await worker(server.url).work()
    expect(server.mails).toMatchObject([{ from: 'noreply@shop.example', to: ['ada@example.com'] }])
    expect(server.mails[0]?.message).toMatch(/^From: Millrace <noreply@shop.example>\r?$/m)
    expect(server.mails[0]?.message).toMatch(/^Auto-Submitted: auto-generated\r?$/m)
    expect(await rows()).toMatchObject([
      { attempts: 1, sent: true, failed: false, sealed: false, last_error: null },
    ])
  })

  test('what waits is sealed: nothing of it can be read in the database', async () => {
    await enqueue()
    const { rows: found } = await database.pool.query(
      'select sealed_content, outgoing_mails::text as text from outgoing_mails',
    )
    expect(found[0].text + found[0].sealed_content.toString('latin1')).not.toContain('secret-link')
  })

  test('what a mail carries is read when it is sent, and what has been deleted is no failure', async () => {
    const server = await smtp()
    const kept = new Map([['run/0', Buffer.from('events.name\r\n"é"\r\n')]])
    for (const source of ['run/0', 'run/1']) {
      const attachments = [{ filename: 'Ventes é.csv', contentType: 'text/csv; charset=utf-8', source }]
      await createMailQueue(box)(database.db, undefined, {
        to: 'ada@example.com',
        subject: source,
        text: 'x',
        attachments,
      })
    }
    await worker(server.url, { readAttachment: async (source) => kept.get(source) }).work()
    expect(server.mails).toHaveLength(1)
    const { message } = server.mails[0] ?? { message: '' }
    expect(message).toMatch(/^Content-Type: text\/csv; charset=utf-8;\s+name\*?/m)
    expect(message).toMatch(/^Content-Disposition: attachment;\s+filename\*0\*=utf-8''Ventes%20%C3%A9\.csv/m)
    const [, content = ''] =
      /base64\r?\n(?:[\w-]+:.*\r?\n(?: .*\r?\n)*)*\r?\n([\w+/=\r\n]+)\r?\n--/.exec(message) ?? []
    expect(Buffer.from(content, 'base64').toString()).toBe('events.name\r\n"é"\r\n')
    expect(await rows()).toMatchObject([{ sent: true }])
  })

  test('a mail that a user waits for passes any number of others whose attempts take long', async () => {
    const hold = Promise.withResolvers<void>()
    const server = await smtp({
      onMail: ({ message }) => (message.includes('Subject: Result') ? hold.promise : undefined),
    })
    for (let i = 0; i < 20; i++) await enqueue('ada@example.com', 'Result')
    const processes = [runningWorker(server.url), runningWorker(server.url)]
    const held = () => server.mails.filter(({ message }) => message.includes('Subject: Result')).length
    await expect.poll(held).toBe(4)
    await createMailQueue(box)(database.db, undefined, {
      to: 'eve@example.com',
      subject: 'Reset',
      text: 'x',
      isAwaited: true,
    })
    await expect.poll(async () => (await rows()).filter(({ sent }) => sent).length).toBe(1)
    expect([held(), server.mails.at(-1)?.to]).toEqual([4, ['eve@example.com']])
    hold.resolve()
    for (const each of processes) await each.stop()
  })

  test('a mail that is never committed is never sent', async () => {
    const server = await smtp()
    const broken = database.transaction(async (tx) => {
      await createMailQueue(box)(tx, undefined, { to: 'ada@example.com', subject: 'x', text: 'y' })
      throw new Error('undone')
    })
    await expect(broken).rejects.toThrow('undone')
    await worker(server.url).work()
    expect(server.mails).toHaveLength(0)
  })

  test('the loop takes what is queued while it runs', async () => {
    const server = await smtp()
    const process = runningWorker(server.url)
    await enqueue()
    await expect.poll(() => server.mails.length).toBe(1)
    await process.stop()
    await enqueue()
    expect((await rows())[1]).toMatchObject({ attempts: 0 })
    expect(server.mails).toHaveLength(1)
  })
})

describe('P08: a server that is not as it should be', () => {
  test('is down at first: the mail waits and arrives later', async () => {
    const server = await startSmtp()
    const { port, url } = server
    await server.close()
    await enqueue()
    await worker(url).work()
    expect(await rows()).toMatchObject([{ attempts: 1, sent: false, failed: false, sealed: true, wait: 5 }])
    const again = await smtp({ port })
    await worker(url).work()
    expect(again.mails).toHaveLength(0)
    await makeDue()
    await worker(url).work()
    expect(again.mails).toHaveLength(1)
    expect(await rows()).toMatchObject([{ attempts: 2, sent: true }])
  })

  test('says “later” (4xx) eleven times, and “never” only by itself: given up after twelve attempts', async () => {
    const server = await smtp({
      onMail() {
        throw refusal(451)
      },
    })
    await enqueue()
    const waits: number[] = []
    for (let attempt = 1; attempt <= 12; attempt++) {
      await worker(server.url).work()
      const [row] = await rows()
      if (!row?.failed) waits.push(row?.wait ?? 0)
      await makeDue()
    }
    expect(waits).toEqual([5, 10, 20, 40, 80, 160, 320, 640, 1280, 2560, 3600])
    expect(await rows()).toMatchObject([{ attempts: 12, sent: false, failed: true, sealed: false }])
    await worker(server.url).work()
    expect(server.mails).toHaveLength(12)
    expect(new Set(server.mails.map(({ messageId }) => messageId)).size).toBe(1)
    expect(await createMailStore(database.db, box).count('failed')).toBe(1)
    expect(await createMailStore(database.db, box).count('waiting')).toBe(0)
  })

  test('knows no such recipient (550): given up at once', async () => {
    const server = await smtp({ onRcptTo: (_address, _session, callback) => callback(refusal(550)) })
    await enqueue()
    await worker(server.url).work()
    expect(await rows()).toMatchObject([{ attempts: 1, failed: true, sealed: false }])
    expect((await rows())[0]?.last_error).toBe('RCPT TO was answered with 550')
  })

  test('refuses the sender or the message (5xx): tried again, for a person may put it right', async () => {
    const server = await smtp({ onMailFrom: (_address, _session, callback) => callback(refusal(553)) })
    await enqueue()
    await worker(server.url).work()
    expect(await rows()).toMatchObject([{ attempts: 1, failed: false, sealed: true }])
  })

  const listen = async (onSocket: (socket: Socket) => void): Promise<string> => {
    const server: Server = createServer((socket) => {
      socket.on('error', () => {})
      onSocket(socket)
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const sockets = new Set<Socket>()
    server.on('connection', (socket) => sockets.add(socket))
    closers.push(() => {
      for (const socket of sockets) socket.destroy()
      server.close()
    })
    return `smtp://127.0.0.1:${(server.address() as { port: number }).port}`
  }

  test.each<[string, (socket: Socket) => void]>([
    ['never greets', () => {}],
    ['greets and says nothing more', (socket) => socket.write('220 slow ESMTP\r\n')],
    [
      'sends a byte at a time for ever',
      (socket) => {
        const timer = setInterval(() => socket.write('2'), 50)
        socket.on('close', () => clearInterval(timer))
      },
    ],
  ])('%s: the attempt ends in time and nobody waits for it', async (_what, onSocket) => {
    const url = await listen(onSocket)
    await enqueue()
    expect(await rows()).toMatchObject([{ attempts: 0 }])
    const quick = { connect: 500, greeting: 300, silence: 300, total: 1_000 }
    await worker(url, { outbox: outboxOf(url, quick) }).work()
    expect(await rows()).toMatchObject([{ attempts: 1, sent: false, failed: false }])
  })

  test('a stop waits for the mail in flight, but not for ever', async () => {
    const sent = Promise.withResolvers<void>()
    const server = await smtp({ onMail: () => sent.promise })
    await enqueue()
    const waiting = runningWorker(server.url)
    await expect.poll(() => server.mails.length).toBe(1)
    const stopped = waiting.stop()
    sent.resolve()
    await stopped
    expect(await rows()).toMatchObject([{ sent: true }])

    const held: Socket[] = []
    const url = await listen((socket) => void held.push(socket))
    const endless = { connect: 60_000, greeting: 60_000, silence: 60_000, total: 60_000 }
    await enqueue()
    const hurried = runningWorker(url, outboxOf(url, endless), 50)
    await expect.poll(async () => (await rows())[1]?.attempts).toBe(1)
    await expect.poll(() => held.length).toBe(1)
    await hurried.stop()
    expect((await rows())[1]).toMatchObject({ sent: false, last_error: null })
    for (const socket of held) socket.destroy()
    await expect.poll(async () => (await rows())[1]?.last_error).not.toBeNull()
  })
})

describe('P08: one mail, whatever happens', () => {
  test('two workers never send one mail twice', async () => {
    const server = await smtp()
    for (let i = 0; i < 40; i++) await enqueue(`user${i}@example.com`)
    await Promise.all(Array.from({ length: 4 }, () => worker(server.url).work()))
    expect(server.mails).toHaveLength(40)
    expect(new Set(server.mails.map(({ messageId }) => messageId)).size).toBe(40)
    expect((await rows()).every(({ sent, attempts }) => sent && attempts === 1)).toBe(true)
  })

  test('a mail that a process holds is no other’s until the lease is over', async () => {
    const server = await smtp()
    await enqueue()
    const store = createMailStore(database.db, box)
    expect(await store.takeDue(300)).toMatchObject({ attempt: 1 })
    await worker(server.url).work()
    expect(server.mails).toHaveLength(0)
    await makeDue()
    await worker(server.url).work()
    expect(server.mails).toHaveLength(1)
  })

  test('a process killed between the hand-over and the mark leaves one mail by its Message-ID', async () => {
    let child: ReturnType<typeof spawn> | undefined
    const holder = await database.pool.connect()
    let killed = false
    const server = await smtp({
      // The row is held from before the server says yes, so that the mark can never be made.
      async onMail() {
        if (killed) return
        await holder.query('begin')
        await holder.query('select 1 from outgoing_mails for update')
      },
    })
    await enqueue()
    const task: MailWorkerTask = {
      address: database.application,
      key: key.toString('base64'),
      smtpUrl: server.url,
    }
    const script = new URL('../support/mail-worker.ts', import.meta.url).pathname
    child = spawn(process.execPath, [script, JSON.stringify(task)], { stdio: 'ignore' })
    const exited = new Promise((resolve) => child?.once('exit', resolve))
    await expect
      .poll(
        async () =>
          (
            await database.pool.query(
              `select 1 from pg_stat_activity where wait_event_type = 'Lock' and query like '%outgoing_mails%'`,
            )
          ).rowCount,
      )
      .toBe(1)
    child.kill('SIGKILL')
    await exited
    killed = true
    // What the dead process had asked for must not come true after it.
    await database.pool.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where wait_event_type = 'Lock' and query like '%outgoing_mails%'`,
    )
    await holder.query('rollback')
    holder.release()
    expect(await rows()).toMatchObject([{ attempts: 1, sent: false, sealed: true }])
    await makeDue()
    await worker(server.url).work()
    expect(server.mails).toHaveLength(2)
    expect(new Set(server.mails.map(({ messageId }) => messageId)).size).toBe(1)
    expect(server.mails[0]?.messageId).toMatch(/^<[0-9a-f]{24}@millrace>$/)
    expect(await rows()).toMatchObject([{ attempts: 2, sent: true }])
  })

  test('a mail during which the process ends every time is given up too', async () => {
    const server = await smtp()
    await enqueue()
    await database.pool.query('update outgoing_mails set attempts = 12')
    await worker(server.url).work()
    expect(server.mails).toHaveLength(0)
    expect(await rows()).toMatchObject([{ attempts: 13, failed: true }])
  })

  test('a mail whose text was changed is given up and holds nobody up', async () => {
    const server = await smtp()
    await enqueue()
    await database.pool.query(
      `update outgoing_mails set sealed_content = set_byte(sealed_content, 40, 255 - get_byte(sealed_content, 40))`,
    )
    await enqueue()
    await worker(server.url).work()
    expect(server.mails).toMatchObject([{ to: ['ada@example.com'] }])
    expect(await rows()).toMatchObject([{ failed: true }, { sent: true }])
  })

  test('a mail under a key that this process was not given waits for one that was, and not for ever', async () => {
    const server = await smtp()
    const otherBox = createSecretBox([randomBytes(32)])
    await createMailQueue(otherBox)(database.db, undefined, { to: 'x@example.com', subject: 'x', text: 'y' })
    await enqueue()
    await worker(server.url).work()
    expect(server.mails).toMatchObject([{ to: ['ada@example.com'] }])
    expect(await rows()).toMatchObject([{ attempts: 1, sent: false, failed: false }, { sent: true }])
    await makeDue()
    const elsewhere = createMailStore(database.db, otherBox)
    expect((await elsewhere.takeDue(0))?.read()).toMatchObject({ to: 'x@example.com', text: 'y' })
    await database.pool.query('update outgoing_mails set attempts = 11 where sent_at is null')
    await makeDue()
    await worker(server.url).work()
    expect(await rows()).toMatchObject([{ attempts: 12, failed: true }, { sent: true }])
  })

  test('what was sent or given up is swept after thirty days, what waits never', async () => {
    const store = createMailStore(database.db, box)
    for (let i = 0; i < 4; i++) await enqueue()
    await database.pool.query(`
      with numbered as (select id, row_number() over (order by id) as n from outgoing_mails)
      update outgoing_mails set created_at = now() - interval '31 days',
        sent_at = case when n = 1 then now() end, failed_at = case when n = 2 then now() end
      from numbered where numbered.id = outgoing_mails.id and n < 4`)
    await store.sweep(30)
    expect(await rows()).toHaveLength(2)
    expect(await store.count('waiting')).toBe(2)
  })
})

describe('P03: recipients and headers', () => {
  test.each([
    '"x@evil.example y"@corp.example',
    'ada@example.com, eve@evil.example',
    'ada@example.com\r\nBcc: eve@evil.example',
    'Ada <ada@example.com>',
    'ada@example.com>, <eve@evil.example',
    'group: eve@evil.example;',
    'ada@example.com (eve@evil.example)',
    '(((((((((('.repeat(500),
    '',
  ])('%j as a stored address is given up and goes to nobody', async (to) => {
    const server = await smtp()
    await enqueue(to)
    await worker(server.url).work()
    expect(server.mails).toHaveLength(0)
    expect(await rows()).toMatchObject([
      { attempts: 1, failed: true, last_error: 'the recipient is no e-mail address' },
    ])
  })

  test('a subject with line breaks adds no header and no recipient', async () => {
    const server = await smtp()
    await enqueue('ada@example.com', 'Hi\r\nBcc: eve@evil.example\r\n\r\nbody')
    await worker(server.url).work()
    expect(server.mails).toMatchObject([{ to: ['ada@example.com'] }])
    expect(server.mails[0]?.message).not.toMatch(/^Bcc:/im)
  })
})

describe('TLS', () => {
  test('an offer of STARTTLS with a certificate that is not valid ends the attempt', async () => {
    const server = await smtp({ disabledCommands: [] })
    await enqueue()
    await worker(server.url).work()
    expect(server.mails).toHaveLength(0)
    expect((await rows())[0]?.last_error).toMatch(/certificate/)
  })

  test('a password is told to another machine over TLS only', async () => {
    let asked = 0
    const server = await smtp({
      authOptional: false,
      allowInsecureAuth: true,
      onAuth(_auth, _session, callback) {
        asked++
        callback(null, { user: 'u' })
      },
    })
    await enqueue()
    // Connects to this machine, and is no name of it.
    await worker(`smtp://user:password@0.0.0.0:${server.port}`).work()
    expect(asked).toBe(0)
    expect((await rows())[0]?.last_error).toMatch(/STARTTLS/)
    await makeDue()
    await worker(`smtp://user:password@127.0.0.1:${server.port}`).work()
    expect([asked, server.mails.length]).toEqual([1, 1])
  })
})
