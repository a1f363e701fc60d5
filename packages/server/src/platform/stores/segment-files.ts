import {
  close,
  constants,
  fdatasync,
  fstat,
  fsync,
  mkdir,
  open,
  read,
  readdir,
  rename,
  unlink,
  write,
} from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

/**
 * What the segment log needs of a file system. Every method rejects with the system's error (`code` set), so that a
 * test can stand in a disk that fails, tears and forgets.
 */
export interface SegmentFiles {
  makeDirectory(path: string): Promise<void>
  list(directory: string): Promise<string[]>
  /** Creates a file that must not exist, for writing, readable by its owner alone. */
  create(path: string): Promise<number>
  /**
   * Creates a file of `bytes` zeros that must not exist; it is on disk when this resolves. Leaves most of the disk's
   * time to others. Rejects when it is `cancelled` meanwhile.
   */
  prepare(path: string, bytes: number, cancelled: () => boolean): Promise<void>
  /** Opens a prepared file as `create` opens a new one. */
  openForWriting(path: string): Promise<number>
  openForReading(path: string): Promise<number>
  /** Writes `length` bytes of `buffer` at `position`; may write fewer. */
  write(fd: number, buffer: Buffer, offset: number, length: number, position: number): Promise<number>
  /** Reads up to `length` bytes; 0 at the end of the file. */
  read(fd: number, buffer: Buffer, offset: number, length: number, position: number): Promise<number>
  size(fd: number): Promise<number>
  datasync(fd: number): Promise<void>
  syncDirectory(path: string): Promise<void>
  rename(from: string, to: string): Promise<void>
  unlink(path: string): Promise<void>
  close(fd: number): Promise<void>
}

type Callback<T> = (error: NodeJS.ErrnoException | null, value: T) => void

const promised = <T>(call: (done: Callback<T>) => void): Promise<T> =>
  new Promise((resolve, reject) => call((error, value) => (error ? reject(error) : resolve(value))))

const done = (call: (callback: (error: NodeJS.ErrnoException | null) => void) => void): Promise<void> =>
  new Promise((resolve, reject) => call((error) => (error ? reject(error) : resolve())))

const PREPARED_AT_ONCE = 512 * 1024
/** Between two writes of zeros, as a multiple of the time that the last one took. */
const PREPARING_PAUSE = 4

/**
 * Files that are written with O_DSYNC: each write is on disk when it returns, with one way to the thread pool and back
 * instead of two, and every group of events waits for that way. Elsewhere than on Linux the flag may stop at the
 * disk's own memory.
 */
const writtenThrough = new Set<number>()

const openThrough = async (path: string, flags: number): Promise<number> => {
  const through = process.platform === 'linux' ? constants.O_DSYNC : 0
  const fd = await promised<number>((callback) =>
    open(path, constants.O_WRONLY | through | flags, 0o600, callback),
  )
  if (through !== 0) writtenThrough.add(fd)
  return fd
}

const create = (path: string): Promise<number> => openThrough(path, constants.O_CREAT | constants.O_EXCL)

/** The file system through `node:fs` with callbacks: file handles of `fs/promises` cost more on the hot path. */
export const nodeFiles: SegmentFiles = {
  makeDirectory: (path) => done((callback) => mkdir(path, { recursive: true, mode: 0o700 }, callback)),
  list: (directory) => promised((callback) => readdir(directory, callback)),
  create,
  async prepare(path, bytes, cancelled) {
    const fd = await create(path)
    try {
      const zeros = Buffer.alloc(Math.min(PREPARED_AT_ONCE, bytes))
      for (let position = 0; position < bytes; ) {
        if (cancelled()) throw new Error('the segment is no longer needed')
        const began = performance.now()
        const length = Math.min(zeros.length, bytes - position)
        position += await promised<number>((callback) => write(fd, zeros, 0, length, position, callback))
        await sleep(PREPARING_PAUSE * (performance.now() - began))
      }
    } finally {
      await nodeFiles.datasync(fd)
      await nodeFiles.close(fd)
    }
  },
  openForWriting: (path) => openThrough(path, 0),
  openForReading: (path) => promised((callback) => open(path, constants.O_RDONLY, callback)),
  write: (fd, buffer, offset, length, position) =>
    promised((callback) => write(fd, buffer, offset, length, position, callback)),
  read: (fd, buffer, offset, length, position) =>
    promised((callback) => read(fd, buffer, offset, length, position, callback)),
  size: async (fd) => (await promised<{ size: number }>((callback) => fstat(fd, callback))).size,
  datasync: (fd) =>
    writtenThrough.has(fd) ? Promise.resolve() : done((callback) => fdatasync(fd, callback)),
  syncDirectory: async (path) => {
    const fd = await promised<number>((callback) => open(path, constants.O_RDONLY, callback))
    try {
      await done((callback) => fsync(fd, callback))
    } finally {
      await done((callback) => close(fd, callback))
    }
  },
  rename: (from, to) => done((callback) => rename(from, to, callback)),
  unlink: (path) => done((callback) => unlink(path, callback)),
  close(fd) {
    writtenThrough.delete(fd)
    return done((callback) => close(fd, callback))
  },
}
