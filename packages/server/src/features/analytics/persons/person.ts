/** How a person is named: by a client, else by a device, which an `identify` may have bound to a client. */
export interface PersonKey {
  readonly client?: string | undefined
  readonly device?: string | undefined
}

/** The one name of a person that counts; undefined where neither is given. */
export function nameOf({ client, device }: PersonKey): PersonName | undefined {
  if (client) return { client, device: '' }
  return device ? { client: '', device } : undefined
}

/** Exactly one of them is not empty. */
export interface PersonName {
  readonly client: string
  readonly device: string
}

export const keyOfName = ({ client, device }: PersonName): string =>
  client === '' ? `device ${device}` : `client ${client}`

/** What a person has done. */
export interface PersonEvent {
  /** As statistics show it: the alias of an event that was renamed. */
  readonly name: string
  readonly time: Date
  readonly datasourceId: string
  readonly url: string
  readonly ids: readonly string[]
  readonly value?: number | undefined
  readonly labels: Readonly<Record<string, string>>
}
