import {
  close,
  constants,
  fstat,
  fsync,
  mkdir,
  open,
  read,
  readdir,
  rename,
  statfs,
  unlink,
  write,
} from 'node:fs'

/**
 * What the segment log needs of a file system. Every method rejects with the system's error (`code` set), so that a
 * test can stand in a disk that fails, tears and forgets.
 */
export interface SegmentFiles {
  makeDirectory(path: string): Promise<void>
  list(directory: string): Promise<string[]>
  /** Creates a file that must not exist, for writing, readable by its owner alone. */
  create(path: string): Promise<number>
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
  /** Bytes that an ordinary user may still write to the directory's file system. */
  freeBytes(directory: string): Promise<number>
}

type Callback<T> = (error: NodeJS.ErrnoException | null, value: T) => void

const promised = <T>(call: (done: Callback<T>) => void): Promise<T> =>
  new Promise((resolve, reject) => call((error, value) => (error ? reject(error) : resolve(value))))

const done = (call: (callback: (error: NodeJS.ErrnoException | null) => void) => void): Promise<void> =>
  new Promise((resolve, reject) => call((error) => (error ? reject(error) : resolve())))

/** The file system through `node:fs` with callbacks: file handles of `fs/promises` cost more on the hot path. */
export const nodeFiles: SegmentFiles = {
  makeDirectory: (path) => done((callback) => mkdir(path, { recursive: true, mode: 0o700 }, callback)),
  list: (directory) => promised((callback) => readdir(directory, callback)),
  create: (path) =>
    promised((callback) =>
      open(
        path,
        constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_DSYNC,
        0o600,
        callback,
      ),
    ),
  openForReading: (path) => promised((callback) => open(path, constants.O_RDONLY, callback)),
  write: (fd, buffer, offset, length, position) =>
    promised((callback) => write(fd, buffer, offset, length, position, callback)),
  read: (fd, buffer, offset, length, position) =>
    promised((callback) => read(fd, buffer, offset, length, position, callback)),
  size: async (fd) => (await promised<{ size: number }>((callback) => fstat(fd, callback))).size,
  // What create() opens is written with O_DSYNC: each write is on disk when it returns, with one way to the thread
  // pool and back instead of two, and every group of events waits for that way.
  datasync: async () => {},
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
  close: (fd) => done((callback) => close(fd, callback)),
  freeBytes: async (directory) => {
    const { bavail, bsize } = await promised<{ bavail: number; bsize: number }>((callback) =>
      statfs(directory, callback),
    )
    return bavail * bsize
  },
}
