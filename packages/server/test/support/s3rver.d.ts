declare module 's3rver' {
  import type { AddressInfo } from 'node:net'

  /** What tests use of it; the package has no types. */
  export default class S3rver {
    constructor(options: {
      port: number
      address: string
      silent: boolean
      directory: string
      configureBuckets: readonly { name: string }[]
    })
    run(): Promise<AddressInfo>
    close(): Promise<void>
  }
}
