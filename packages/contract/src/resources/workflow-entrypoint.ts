import { type Static, Type } from 'typebox'
import { integer, named, nameText, oneOf } from './formats.ts'

export const channelTypes = ['email', 'web', 'landing', 'mobile', 'rcs', 'whatsapp'] as const
export type ChannelType = (typeof channelTypes)[number]

/** Formats that each channel has, and the kinds of output that a format can deliver. */
export const channelFormats = {
  email: ['embed-image'],
  web: ['embed-image', 'embed-html', 'json'],
  landing: ['page'],
  mobile: ['push-image', 'popup-image', 'inbox-image', 'json'],
  rcs: ['card-image'],
  whatsapp: ['header-image'],
} as const satisfies Record<ChannelType, readonly string[]>

export const entrypointFormats = [
  'embed-image',
  'embed-html',
  'json',
  'page',
  'push-image',
  'popup-image',
  'inbox-image',
  'card-image',
  'header-image',
] as const
export type EntrypointFormat = (typeof entrypointFormats)[number]

export const outputKinds = ['json', 'html', 'image', 'redirect', 'empty'] as const
export type OutputKind = (typeof outputKinds)[number]

/** Kinds of output that may end a branch of an entrypoint of this format; `empty` and `json` may end any. */
export const formatOutputs = {
  'embed-image': ['image', 'json', 'empty'],
  'embed-html': ['html', 'image', 'json', 'empty'],
  json: ['json', 'empty'],
  page: ['html', 'redirect', 'json', 'empty'],
  'push-image': ['image', 'json', 'empty'],
  'popup-image': ['image', 'json', 'empty'],
  'inbox-image': ['image', 'json', 'empty'],
  'card-image': ['image', 'json', 'empty'],
  'header-image': ['image', 'json', 'empty'],
} as const satisfies Record<EntrypointFormat, readonly OutputKind[]>

export const Entrypoint = named('WorkflowEntrypoint', {
  type: oneOf(channelTypes, 'Channel'),
  format: oneOf(entrypointFormats, 'What the channel embeds'),
  name: Type.Optional(nameText('Name of the zone', 200)),
  /** Zones are numbered from 0 in the order of `zoneOrder`. */
  position: Type.Optional(integer(0, 1_000, 'Place among the zones; the last when absent')),
})
export type Entrypoint = Static<typeof Entrypoint>

/** The entrypoints in the order in which their zones are numbered: by position, those without one last, then by id. */
export function zoneOrder(entrypoints: Readonly<Record<string, Entrypoint>>): string[] {
  const positionOf = (id: string) => entrypoints[id]?.position ?? Number.MAX_SAFE_INTEGER
  return Object.keys(entrypoints).sort((a, b) => positionOf(a) - positionOf(b) || (a < b ? -1 : 1))
}
