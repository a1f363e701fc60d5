import type { Logger } from '../../../platform/logger.ts'
import { createOutgoingClient } from '../../../platform/outgoing/outgoing-client.ts'
import { rangesOf } from '../../../platform/outgoing/public-addresses.ts'
import { createLanguageModel, type LanguageModel, type LanguageModelSettings } from './language-model.ts'

/** Wherever the operator says that the model is: the address is no user's. */
const everywhere = rangesOf(['0.0.0.0/0', '::/0'])

/** The model that the configuration names, over a client that asks its port alone; undefined without one. */
export function openConfiguredModel(
  settings: LanguageModelSettings | undefined,
  log: Logger,
): LanguageModel | undefined {
  if (!settings) return undefined
  const { port, protocol } = new URL(settings.url)
  const ports = [Number(port || (protocol === 'https:' ? 443 : 80))]
  return createLanguageModel({ settings, outgoing: createOutgoingClient({ allow: everywhere, ports }), log })
}
