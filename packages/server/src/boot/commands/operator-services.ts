import { recordAudit } from '../../features/audit/audit-store.ts'
import { insertDatasource } from '../../features/datasources/datasource-service.ts'
import { createKeyRegister } from '../../features/encryption/key-register.ts'
import { createKeyRotationService } from '../../features/encryption/key-rotation-service.ts'
import { createOperatorAccountService } from '../../features/identity/people/installation/operator-account-service.ts'
import { createPeopleStore } from '../../features/identity/people/people-store.ts'
import { createClientService } from '../../features/identity/sessions/clients/client-service.ts'
import { createClientStore } from '../../features/identity/sessions/clients/client-store.ts'
import { createRequirementService } from '../../features/identity/single-sign-on/config/requirement-service.ts'
import {
  createDomainService,
  resolveTxtRecords,
} from '../../features/identity/single-sign-on/domains/domain-service.ts'
import { createPasswords, type Passwords } from '../../platform/crypto/passwords.ts'
import type { SecretBox } from '../../platform/crypto/secret-box.ts'
import type { Relational } from '../../platform/stores/relational.ts'

/** What operator commands need of the service; all of it stands on the relational store alone. */
export type OperatorServices = ReturnType<typeof createOperatorServices>

export interface OperatorServicesDependencies {
  readonly relational: Relational
  /** Reads the keys, for the commands that need them. @throws StartRefused when there are none */
  readonly openBox: () => SecretBox
  readonly passwords?: Passwords
}

/**
 * Services for operator commands. The store may be that of a running service: what the commands change, it
 * sees at once.
 */
export function createOperatorServices({
  relational,
  openBox,
  passwords = createPasswords(),
}: OperatorServicesDependencies) {
  return {
    accounts: createOperatorAccountService({ relational, passwords, recordAudit }),
    clients: createClientService(createClientStore(relational.db)),
    domains: createDomainService({
      relational,
      recordAudit,
      // Mails are sealed in the queue, and this command has no key; the audit log records the change.
      notifyAdministrators: async () => {},
      resolveTxt: resolveTxtRecords,
      // No command shows an address of the service.
      publicUrl: () => '',
    }),
    singleSignOn: createRequirementService({ relational, recordAudit }),
    createDatasource: (datasource: { companyId: string; name: string }): Promise<{ id: string }> =>
      relational.transaction(async (tx) => {
        const teamIds = [await createPeopleStore(tx).getDefaultTeam(datasource.companyId)]
        return insertDatasource(tx, { ...datasource, teamIds })
      }),
    keys: {
      forgetIdle: createKeyRegister({ relational }).forgetIdle,
      rotate: () => createKeyRotationService({ relational }).rotate(openBox()),
    },
  }
}
