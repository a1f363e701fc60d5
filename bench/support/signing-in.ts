/**
 * People who sign in at once, in a process of its own: they stand for other machines, so that they leave the cores
 * to whoever is measured. Arguments: address of the token service, client, user name, password, how many people.
 * Prints how often somebody was sent to wait.
 */
import { setPriority } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'

const [url = '', clientId = '', username = '', password = '', people = ''] = process.argv.slice(2)
const body = JSON.stringify({ grant_type: 'password', client_id: clientId, username, password })
setPriority(10)

/** Everybody tries until let in, waiting about as long as they are told. */
let waits = 0
async function person(): Promise<void> {
  for (;;) {
    const reply = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
    await reply.arrayBuffer()
    if (reply.status === 200) return
    if (reply.status !== 503) throw new Error(`a sign-in was answered ${reply.status}`)
    waits++
    await sleep(Number(reply.headers.get('retry-after')) * 1000 * (0.5 + Math.random()))
  }
}

await Promise.all(Array.from({ length: Number(people) }, person))
console.log(waits)
