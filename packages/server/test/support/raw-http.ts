import { connect, type Socket } from 'node:net'

export interface RawReply {
  /** Everything that came, head and body. */
  readonly text: string
  /** 0 when nothing came. */
  readonly status: number
  /** Whether the other side ended the connection; otherwise it was still open when the waiting ended. */
  readonly closed: boolean
}

/** Sends exactly these bytes on a connection of their own and reads until it is closed, or `wait` ms are over. */
export function sendRaw(port: number, bytes: string | Buffer, wait = 1500): Promise<RawReply> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes))
    let text = ''
    const finish = (closed: boolean) => {
      clearTimeout(timer)
      socket.destroy()
      resolve({ text, status: Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1] ?? 0), closed })
    }
    const timer = setTimeout(() => finish(false), wait)
    socket.setEncoding('latin1').on('data', (chunk: string) => {
      text += chunk
    })
    socket.on('error', () => {}).on('close', () => finish(true))
  })
}

/** Opens connections and leaves them as they are. */
export async function openSockets(port: number, count: number, bytes = ''): Promise<Socket[]> {
  return Promise.all(
    Array.from(
      { length: count },
      () =>
        new Promise<Socket>((resolve, reject) => {
          const socket = connect(port, '127.0.0.1', () => {
            if (bytes !== '') socket.write(bytes)
            socket.off('error', reject).on('error', () => {})
            resolve(socket)
          }).once('error', reject)
        }),
    ),
  )
}

/** The JSON body of a raw reply. */
export function jsonOf({ text }: RawReply): Record<string, unknown> {
  return JSON.parse(text.slice(text.indexOf('\r\n\r\n') + 4)) as Record<string, unknown>
}
