/** The parts of the package that the tests use; it brings no types. */
declare module 'samlp' {
  interface Reply {
    set(name: string, value: string): void
    send(body: string | number, text?: string): void
  }

  interface Request {
    readonly method: string
    readonly query: Readonly<Record<string, string>>
    readonly headers: Readonly<Record<string, string | string[] | undefined>>
    readonly originalUrl: string
    readonly protocol: string
    readonly user: unknown
  }

  type Handler = (request: Request, reply: Reply, next: (error: Error) => void) => void

  interface Claims {
    getClaims(): Record<string, unknown>
    getNameIdentifier(): { nameIdentifier: string; nameIdentifierFormat?: string }
  }

  interface Options {
    readonly issuer: string
    readonly cert: string
    readonly key: string
    readonly [option: string]: unknown
  }

  const samlp: {
    auth(
      options: Options & {
        getPostURL(
          audience: string,
          request: unknown,
          req: unknown,
          done: (error: Error | null, url?: string) => void,
        ): void
      },
    ): Handler
    metadata(options: Omit<Options, 'key'> & { redirectEndpointPath: string }): Handler
    getSamlResponse(
      options: Options & { profileMapper(user: unknown): Claims },
      user: unknown,
      done: (error: Error | null, response?: string) => void,
    ): void
  }
  export default samlp
}
