import { basename } from 'node:path'
import type { SegmentFiles } from '../../src/platform/stores/segment-files.ts'

export type DiskCall = keyof SegmentFiles | 'freeBytes'

interface Write {
  readonly position: number
  readonly bytes: Buffer
}

/** A file as the running system sees it (`content`), and what of it would survive a loss of power. */
interface Inode {
  content: Buffer
  durable: Buffer
  /** Writes since the last sync; after a failed sync they are forgotten, and no later sync brings them back. */
  unsynced: Write[]
}

const applied = (content: Buffer, { position, bytes }: Write): Buffer => {
  const result = Buffer.alloc(Math.max(content.length, position + bytes.length))
  content.copy(result)
  bytes.copy(result, position)
  return result
}

const failure = (code: string, call: string): NodeJS.ErrnoException =>
  Object.assign(new Error(`${code}: simulated, ${call}`), { code })

/**
 * A disk with one directory, for the event log's tests: it fails where it is told to, and on loss of power it forgets
 * what was not synced, as hostile as a real one may be: writes are lost, torn or kept in any combination, file names
 * come and go, and a sync that failed once confirms later what it lost.
 */
export class SimulatedDisk {
  /** Asked before each call; an error code makes the call fail, after a part of a write when `partial` is given. */
  fault: (call: DiskCall, name: string) => { code: string; partial?: number } | undefined = () => undefined
  free = Number.POSITIVE_INFINITY
  syncs = 0
  #names = new Map<string, Inode>()
  #durableNames = new Map<string, Inode>()
  #open = new Map<number, { inode: Inode; name: string }>()
  #nextFd = 3

  readonly files: SegmentFiles = {
    makeDirectory: async () => undefined,
    list: async () => {
      this.#check('list', '.')
      return [...this.#names.keys()]
    },
    create: async (path) => {
      const name = basename(path)
      this.#check('create', name)
      if (this.#names.has(name)) throw failure('EEXIST', name)
      const inode: Inode = { content: Buffer.alloc(0), durable: Buffer.alloc(0), unsynced: [] }
      this.#names.set(name, inode)
      return this.#handle(inode, name)
    },
    prepare: async (path, bytes, cancelled) => {
      const name = basename(path)
      this.#check('prepare', name)
      if (this.#names.has(name)) throw failure('EEXIST', name)
      const inode: Inode = { content: Buffer.alloc(0), durable: Buffer.alloc(0), unsynced: [] }
      this.#names.set(name, inode)
      // A real one takes time: groups are written and the power is cut meanwhile.
      for (let half = 1; half <= 2; half++) {
        await new Promise((resolve) => setImmediate(resolve))
        if (cancelled()) throw failure('ECANCELED', name)
        this.#check('prepare', name)
        inode.content = Buffer.alloc((bytes * half) / 2)
        inode.durable = Buffer.alloc((bytes * half) / 2)
      }
    },
    openForWriting: async (path) => this.#opened(path, 'openForWriting'),
    openForReading: async (path) => this.#opened(path, 'openForReading'),
    write: async (fd, buffer, offset, length, position) => {
      const { inode, name } = this.#file(fd)
      const fault = this.fault('write', name)
      const write = {
        position,
        bytes: Buffer.from(buffer.subarray(offset, offset + (fault?.partial ?? length))),
      }
      // A real write takes time: appends gather meanwhile.
      await new Promise((resolve) => setImmediate(resolve))
      if (fault && fault.partial === undefined) throw failure(fault.code, `write ${name}`)
      inode.content = applied(inode.content, write)
      inode.unsynced.push(write)
      if (fault && write.bytes.length === 0) throw failure(fault.code, `write ${name}`)
      return write.bytes.length
    },
    read: async (fd, buffer, offset, length, position) => {
      const { inode, name } = this.#file(fd)
      this.#check('read', name)
      return inode.content.copy(buffer, offset, position, position + length)
    },
    size: async (fd) => this.#file(fd).inode.content.length,
    datasync: async (fd) => {
      const { inode, name } = this.#file(fd)
      const fault = this.fault('datasync', name)
      if (fault) {
        inode.unsynced = []
        throw failure(fault.code, `fdatasync ${name}`)
      }
      for (const write of inode.unsynced) inode.durable = applied(inode.durable, write)
      inode.unsynced = []
      this.syncs += 1
    },
    syncDirectory: async () => {
      this.#check('syncDirectory', '.')
      this.#durableNames = new Map(this.#names)
    },
    rename: async (from, to) => {
      this.#check('rename', basename(from))
      const inode = this.#names.get(basename(from))
      if (!inode) throw failure('ENOENT', from)
      this.#names.delete(basename(from))
      this.#names.set(basename(to), inode)
    },
    unlink: async (path) => {
      this.#check('unlink', basename(path))
      if (!this.#names.delete(basename(path))) throw failure('ENOENT', path)
    },
    close: async (fd) => {
      this.#open.delete(fd)
    },
  }

  readonly freeBytes = async (): Promise<number> => {
    this.#check('freeBytes', '.')
    return this.free
  }

  get names(): string[] {
    return [...this.#names.keys()].sort()
  }

  /** Turns one bit of a stored file; `at` in [0, 1) picks the file and the place. */
  flipBit(at: number): void {
    const inodes = [...this.#names.values()].filter(({ content }) => content.length > 0)
    const total = inodes.reduce((sum, { content }) => sum + content.length, 0)
    let bit = Math.floor(at * total * 8)
    for (const inode of inodes) {
      if (bit < inode.content.length * 8) {
        for (const bytes of [inode.content, inode.durable]) {
          if (bit >> 3 < bytes.length)
            bytes.writeUInt8(bytes.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3)
        }
        return
      }
      bit -= inode.content.length * 8
    }
  }

  /**
   * Ends every process and cuts the power: of names and writes that were not synced, `chance` keeps some.
   * @param chance numbers in [0, 1)
   */
  losePower(chance: () => number): void {
    this.#open.clear()
    const names = new Map<string, Inode>()
    for (const name of new Set([...this.#names.keys(), ...this.#durableNames.keys()])) {
      const now = this.#names.get(name)
      const durable = this.#durableNames.get(name)
      const inode = now === durable || chance() < 0.5 ? now : durable
      if (inode) names.set(name, inode)
    }
    for (const inode of new Set(names.values())) {
      let content = inode.durable
      for (const write of inode.unsynced) {
        const fate = chance()
        if (fate < 0.35) content = applied(content, write)
        else if (fate < 0.65) {
          const torn = Math.floor(chance() * write.bytes.length)
          content = applied(content, { position: write.position, bytes: write.bytes.subarray(0, torn) })
        } else if (fate < 0.8) {
          content = applied(content, { position: write.position, bytes: Buffer.alloc(write.bytes.length) })
        }
      }
      inode.content = content
      inode.durable = Buffer.from(content)
      inode.unsynced = []
    }
    this.#names = names
    this.#durableNames = new Map(names)
  }

  #check(call: DiskCall, name: string): void {
    const fault = this.fault(call, name)
    if (fault) throw failure(fault.code, `${call} ${name}`)
  }

  #handle(inode: Inode, name: string): number {
    const fd = this.#nextFd++
    this.#open.set(fd, { inode, name })
    return fd
  }

  #opened(path: string, call: DiskCall): number {
    const name = basename(path)
    this.#check(call, name)
    const inode = this.#names.get(name)
    if (!inode) throw failure('ENOENT', name)
    return this.#handle(inode, name)
  }

  #file(fd: number): { inode: Inode; name: string } {
    const file = this.#open.get(fd)
    if (!file) throw failure('EBADF', String(fd))
    return file
  }
}
